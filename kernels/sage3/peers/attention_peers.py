#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention of others, timed for `warpwright bench`: cuDNN, PyTorch's scaled_dot_product_attention, Triton.

    attention_peers.py PEER        a process that speaks the protocol of docs/bench.md on stdin and stdout

PEER is one of cudnn, cudnn_fp8, sdpa_cudnn, sdpa_flash, sdpa_efficient, flex. `--list` prints them."""
import json
import os
import statistics
import struct
import sys
import time

# Libraries may print: what is left of stdout is the protocol's alone.
protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

why_unavailable = None
try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention
    if not torch.cuda.is_available():
        why_unavailable = "torch sees no CUDA GPU"
except ImportError as error:
    why_unavailable = f"torch is not installed: {error}"

FULL, BOTTOM_RIGHT, TOP_LEFT = 0, 1, 2
DTYPES = {"F16": "float16", "BF16": "bfloat16", "F32": "float32", "I32": "int32", "I64": "int64", "U8": "uint8"}


class Unavailable(Exception):
    """Not here, not for this case: why."""


def read_tensors(path, names):
    """Tensors of a safetensors file on the GPU."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin = file.tell()
        out = {}
        for name in names:
            entry = header[name]
            first, last = entry["data_offsets"]
            file.seek(begin + first)
            data = torch.frombuffer(bytearray(file.read(last - first)), dtype=getattr(torch, DTYPES[entry["dtype"]]))
            out[name] = data.reshape(entry["shape"]).cuda()
    return out


def write_tensor(path, name, tensor):
    tensor = tensor.contiguous().cpu()
    dtype = next(key for key, value in DTYPES.items() if getattr(torch, value) == tensor.dtype)
    data = tensor.view(torch.uint8).numpy().tobytes()
    header = json.dumps({name: {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)))
        file.write(header)
        file.write(data)


class Problem:
    """One case: q, k, v [B, H, L, D] and what the kernels need to know."""

    def __init__(self, request):
        values = request["values"]
        tensors = read_tensors(request["inputs"], ("q", "k", "v"))
        self.q, self.k, self.v = tensors["q"], tensors["k"], tensors["v"]
        self.causal = int(values["causal"])
        self.scale = float(values["sm_scale"])
        if self.causal == BOTTOM_RIGHT and self.q.shape[2] == self.k.shape[2]:
            self.causal = TOP_LEFT  # the same, and every library knows it
        if self.causal == BOTTOM_RIGHT:
            raise Unavailable("causal with more keys than queries is not asked of peers")

    def copy(self):
        other = object.__new__(Problem)
        other.__dict__ = {**self.__dict__, "q": self.q.clone(), "k": self.k.clone(), "v": self.v.clone()}
        return other


# Each makes of a problem a function that launches and one that gives the output.
def sdpa(backend):
    def prepare(problem):
        made = []

        def launch():
            with sdpa_kernel(backend):
                made[:] = [scaled_dot_product_attention(problem.q, problem.k, problem.v, is_causal=problem.causal != FULL,
                                                        scale=problem.scale, enable_gqa=problem.q.shape[1] != problem.k.shape[1])]
        return launch, lambda: made[0]
    return prepare


def flex(problem):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    # Each case compiles anew: beyond a number of shapes torch would run its eager form, a hundred times slower.
    import torch._dynamo
    torch._dynamo.reset()
    if hasattr(torch._dynamo.config, "fail_on_recompile_limit_hit"):
        torch._dynamo.config.fail_on_recompile_limit_hit = True
    compiled = torch.compile(flex_attention, dynamic=False)
    mask = None
    if problem.causal != FULL:
        mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, problem.q.shape[2], problem.k.shape[2], device="cuda")
    made = []

    def launch():
        made[:] = [compiled(problem.q, problem.k, problem.v, block_mask=mask, scale=problem.scale,
                            enable_gqa=problem.q.shape[1] != problem.k.shape[1])]
    return launch, lambda: made[0]


def load_cudnn():
    try:
        import cudnn
    except (ImportError, OSError, AssertionError) as error:
        raise Unavailable(f"cuDNN's frontend is not installed (pip install nvidia-cudnn-frontend): {error}") from error
    return cudnn


def built(cudnn, graph):
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    return torch.empty(max(graph.get_workspace_size(), 1), device="cuda", dtype=torch.uint8)


def declare(tensor, like, dtype):
    tensor.set_output(True).set_dim(list(like.shape)).set_stride(list(like.stride())).set_data_type(dtype)


handles = []


def handle_of(cudnn):
    if not handles:
        handles.append(cudnn.create_handle())
        cudnn.set_stream(handle=handles[0], stream=torch.cuda.current_stream().cuda_stream)
    return handles[0]


def cudnn_graph(cudnn, io):
    return cudnn.pygraph(io_data_type=io, intermediate_data_type=cudnn.data_type.FLOAT,
                         compute_data_type=cudnn.data_type.FLOAT, handle=handle_of(cudnn))


def cudnn_plain(problem):
    cudnn = load_cudnn()
    io = cudnn.data_type.BFLOAT16 if problem.q.dtype == torch.bfloat16 else cudnn.data_type.HALF
    graph = cudnn_graph(cudnn, io)
    q, k, v = (graph.tensor_like(each) for each in (problem.q, problem.k, problem.v))
    o, _ = graph.sdpa(q=q, k=k, v=v, is_inference=True, attn_scale=problem.scale, use_causal_mask=problem.causal != FULL)
    out = torch.full_like(problem.q, float("nan"))
    declare(o, out, io)
    workspace = built(cudnn, graph)
    tensors = {q: problem.q, k: problem.k, v: problem.v, o: out}
    return lambda: graph.execute(tensors, workspace, handle=handle_of(cudnn)), lambda: out


FP8_LARGEST = 448.0


def cudnn_fp8(problem):
    """Q, K and V in e4m3 under one scale for each tensor; O in the inputs' type where cuDNN takes it, else e4m3."""
    cudnn = load_cudnn()
    e4m3 = cudnn.data_type.FP8_E4M3

    def quantised(x):
        largest = x.abs().max().float().clamp(min=1e-12)
        return (x.float() * (FP8_LARGEST / largest)).to(torch.float8_e4m3fn), (largest / FP8_LARGEST).reshape(1, 1, 1, 1)

    codes, scales = zip(*(quantised(each) for each in (problem.q, problem.k, problem.v)))
    failures = []
    for dtype in (problem.q.dtype, torch.float8_e4m3fn):
        try:
            return cudnn_fp8_graph(cudnn, e4m3, problem, codes, scales, dtype)
        except Exception as error:  # noqa: BLE001  the frontend's own types, by version
            failures.append(f"{dtype}: {error}")
    raise Unavailable("; ".join(failures))


def cudnn_fp8_graph(cudnn, e4m3, problem, codes, scales, dtype):
    graph = cudnn_graph(cudnn, e4m3)
    handles_of = [graph.tensor(dim=list(each.shape), stride=list(each.stride()), data_type=e4m3) for each in codes]
    narrow = dtype == torch.float8_e4m3fn
    # O is a mean of rows of V: the largest of V bounds it.
    o_scale = 1.0 / scales[2] if narrow else torch.ones_like(scales[2])
    p_scale = torch.full_like(scales[2], FP8_LARGEST)
    numbers = {"descale_q": scales[0], "descale_k": scales[1], "descale_v": scales[2], "descale_s": 1.0 / p_scale,
               "scale_s": p_scale, "scale_o": o_scale}
    named = {name: graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT) for name in numbers}
    o, _, amax_s, amax_o = graph.sdpa_fp8(q=handles_of[0], k=handles_of[1], v=handles_of[2], is_inference=True,
                                          attn_scale=problem.scale, use_causal_mask=problem.causal != FULL, **named)
    out = torch.zeros(problem.q.shape, device="cuda", dtype=torch.bfloat16).fill_(float("nan")).to(dtype)
    amaxes = [torch.zeros(1, 1, 1, 1, device="cuda") for _ in range(2)]
    declare(o, out, e4m3 if narrow else cudnn.data_type.BFLOAT16 if dtype == torch.bfloat16 else cudnn.data_type.HALF)
    declare(amax_s, amaxes[0], cudnn.data_type.FLOAT)
    declare(amax_o, amaxes[1], cudnn.data_type.FLOAT)
    workspace = built(cudnn, graph)
    tensors = {**dict(zip(handles_of, codes)), **{named[name]: numbers[name] for name in named},
               o: out, amax_s: amaxes[0], amax_o: amaxes[1]}
    return (lambda: graph.execute(tensors, workspace, handle=handle_of(cudnn)),
            lambda: (out.float() / o_scale).to(problem.q.dtype) if narrow else out)


PEERS = {"cudnn": cudnn_plain, "cudnn_fp8": cudnn_fp8, "flex": flex}
if why_unavailable is None:
    PEERS.update({"sdpa_cudnn": sdpa(SDPBackend.CUDNN_ATTENTION), "sdpa_flash": sdpa(SDPBackend.FLASH_ATTENTION),
                  "sdpa_efficient": sdpa(SDPBackend.EFFICIENT_ATTENTION)})
NAMES = ("cudnn", "cudnn_fp8", "sdpa_cudnn", "sdpa_flash", "sdpa_efficient", "flex")


class Server:
    def __init__(self, peer):
        self.peer, self.output_name = peer, ""
        self.sets, self.turn, self.last = [], 0, None
        self.host, self.gpu = 0.0, 0.0  # seconds of a launch: to start it, and of its kernels

    def hello(self, request):
        if request.get("protocol") != 1:
            raise Unavailable(f"it speaks protocol 1, not {request.get('protocol')}")
        if why_unavailable is not None:
            raise Unavailable(why_unavailable)
        about = f"torch {torch.__version__}"
        if self.peer.startswith("cudnn"):
            cudnn = load_cudnn()
            about = f"cuDNN {cudnn.backend_version_string()}, frontend {cudnn.__version__}"
        elif self.peer == "sdpa_cudnn":
            about += f", cuDNN {torch.backends.cudnn.version()}"
        elif self.peer == "flex":
            import triton
            about += f", Triton {triton.__version__}"
        return {"about": about}

    def open(self, request):
        self.close(request)
        problem = Problem(request)
        self.output_name = request["output"]
        problems = [problem] + [problem.copy() for _ in range(request["sets"] - 1)]
        self.sets = [PEERS[self.peer](each) for each in problems]
        try:
            for _ in range(2):  # the second time nothing is compiled or planned any more
                begin = time.perf_counter()
                for _ in self.sets:
                    self.launch()
                self.host = (time.perf_counter() - begin) / len(self.sets)
                torch.cuda.synchronize()
        except RuntimeError as error:  # a back end that does not take the problem says so when it runs
            self.close(request)
            if "out of memory" in str(error):
                raise
            raise Unavailable(str(error)) from error
        return {}

    def launch(self):
        self.last = self.sets[self.turn % len(self.sets)]
        self.turn += 1
        self.last[0]()

    def time(self, request):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(request["launches"] + 1)]
        # Where starting a launch may take longer than the launch, the GPU waits until the queue holds them all.
        if self.host > 0.5 * self.gpu:
            hertz = 2e9  # or less: then it waits longer
            torch.cuda._sleep(int(hertz * 1.5 * self.host * (request["launches"] + request["untimed"])))
        for _ in range(request["untimed"]):
            self.launch()
        events[0].record()
        for event in events[1:]:
            self.launch()
            event.record()
        torch.cuda.synchronize()
        seconds = [a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:])]
        self.gpu = statistics.median(seconds)
        return {"seconds": seconds}

    def output(self, request):
        write_tensor(request["file"], self.output_name, self.last[1]())
        return {}

    def close(self, _):
        self.sets, self.turn, self.last, self.gpu = [], 0, None, 0.0
        torch.cuda.empty_cache()
        return {}

    def answer(self, request):
        if request.get("do") not in ("hello", "open", "time", "output", "close"):
            return {"error": f"unknown request {request.get('do')!r}"}
        try:
            with torch.no_grad() if why_unavailable is None else open(os.devnull, encoding="utf-8"):
                return {"ok": True, **getattr(self, request["do"])(request)}
        except Unavailable as error:
            return {"unavailable": short(error)}
        except Exception as error:  # noqa: BLE001  whatever a library raises is an answer
            return {"error": f"{type(error).__name__}: {short(error)}"}


def short(error):
    return " ".join(str(error).split())[:300] or type(error).__name__


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(NAMES), file=protocol)
        return 0
    if len(sys.argv) != 2 or sys.argv[1] not in NAMES:
        print(f"usage: attention_peers.py {'|'.join(NAMES)}", file=sys.stderr)
        return 2
    server = Server(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(server.answer(json.loads(line))), file=protocol, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
