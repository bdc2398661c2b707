#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bounds the attention kernel of kernels/sage3_hopper on a CUDA GPU of sm_90: the kernel as it is, and with one part left
out at a time (the results are then wrong, the time of what remains is what is asked for), in turns in one run, beside
cuDNN's bf16 attention; then clock and power while the kernel as it is runs for seconds.

    python3 tests/bench/hopper_ablation.py [--rounds N] [--shape B,H,L] [--depth 64 or 128] [--causal] [--with NAME=FILE.cuh ...]

--with: a version of hopper_attention.cuh to be timed in the same run; its error beside exact attention on the same codes is
printed. Compiled by the NVRTC that torch brings, as libsage3.so does. Needs torch and the GPU; exit code 77 without."""
import argparse
import ctypes
import math
import pathlib
import statistics
import subprocess
import sys

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("torch sees no CUDA GPU of sm_90")
    sys.exit(77)
from hopper_left_out import SOURCE, versions  # noqa: E402

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
DEPTH, STAGES, TILE = 128, 3, 128  # --depth


def groups():
    """Warpgroups that compute."""
    return 2


def shared_bytes():
    return (2 * 64 * groups() * DEPTH + STAGES * (2 * TILE * DEPTH + 8 * TILE) + groups() * 4 * 16 * 128 +
            2 * (64 * groups() * 4 + DEPTH * 4 + 16) + 16 * (2 * STAGES + 2))


driver = ctypes.CDLL("libcuda.so.1")


def done(result, what):
    if result != 0:
        sys.exit(f"{what}: error {result}")


def nvrtc():
    for folder in map(pathlib.Path, sys.path):
        for each in sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*")):
            if "builtins" not in each.name and "alt" not in each.name:
                return ctypes.CDLL(str(each))
    return ctypes.CDLL("libnvrtc.so.13")


def compiled(text):
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    source = (KERNELS / "sage3/hopper_attention.cu").read_text(encoding="utf-8")
    name = b"hopper_attention.cuh"
    done(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"hopper_attention.cu", 1,
                                    (ctypes.c_char_p * 1)(text.encode()), (ctypes.c_char_p * 1)(name)), "nvrtcCreateProgram")
    options = [b"--std=c++20", b"--gpu-architecture=sm_90a", f"-DWW_HEAD_DIM={DEPTH}".encode(), b"-DWW_TYPE=Bf16",
               b"-DWW_MASK=none", b"-DWW_V_MEAN=0", f"-I{KERNELS / 'sage3'}".encode()]
    result = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if result != 0:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    done(library.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    return cubin.raw


class Kernel:
    def __init__(self, text):
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        done(driver.cuModuleLoadData(ctypes.byref(module), compiled(text)), "load")
        done(driver.cuModuleGetFunction(ctypes.byref(self.function), module, b"hopper_attention"), "find hopper_attention")
        done(driver.cuFuncSetAttribute(self.function, 8, shared_bytes()), "ask for shared memory")

    def launch(self, problem):
        pointers = (ctypes.c_void_p * len(problem.arguments))(
            *[ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in problem.arguments])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        blocks = torch.cuda.get_device_properties(0).multi_processor_count
        done(driver.cuLaunchKernel(self.function, blocks, 1, 1, 128 * (groups() + 1), 1, 1, shared_bytes(), stream, pointers, None), "launch")


def stored(rows):
    """Rows of 64 or 128 bytes as code_offset of sage3_common.cuh stores them."""
    count, chunks = rows.shape[-2], rows.shape[-1] // 16
    row = torch.arange(count, device="cuda")[:, None]
    source = torch.arange(chunks, device="cuda")[None, :] ^ row // (8 // chunks) % chunks
    pieces = rows.view(*rows.shape[:-1], chunks, 16)
    index = source.view(*[1] * (rows.dim() - 2), count, chunks, 1).expand(pieces.shape)
    return torch.gather(pieces, -2, index.contiguous()).reshape(rows.shape).contiguous()


class Problem:
    """Random codes and scales, L a multiple of 128."""

    def __init__(self, batch, heads, length, causal):
        torch.manual_seed(0)
        self.causal, self.heads_of_all = causal, batch * heads
        self.flops = 4 * batch * heads * length * length * DEPTH / (2 if causal else 1)
        shape = (batch * heads, length, DEPTH)
        self.q, self.k = ((torch.randn(shape, device="cuda") * 32).round().clamp(-127, 127) for _ in range(2))
        self.v = (torch.randn(batch * heads, DEPTH, length, device="cuda") * 100).clamp(-448, 448).to(torch.float8_e4m3fn)
        at = torch.arange(16, device="cuda")
        tokens = (torch.arange(length, device="cuda") // 16 * 16).view(-1, 16) + ((at & 1) | (at & 2) << 2 | (at & 12) >> 1)
        values = self.v.view(torch.uint8)[:, :, tokens.flatten()].view(batch * heads, DEPTH, length // TILE, TILE)
        self.keep = [stored(self.q.to(torch.int8).view(torch.uint8)), torch.full((batch * heads * length,), 1 / 32, device="cuda"),
                     stored(self.k.to(torch.int8).view(torch.uint8)),
                     torch.full((batch * heads * length // TILE,), 1 / 32, device="cuda"),
                     stored(values.permute(0, 2, 1, 3).contiguous().view(batch * heads, -1, TILE)),
                     torch.full((batch * heads * DEPTH,), 448.0, device="cuda")]
        self.o = torch.empty(shape, dtype=torch.bfloat16, device="cuda")
        i32, i64, u32, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
        side = [pointer(0), i32(batch), i32(length), i32(length), i32(length)]
        everything = i32(1 << 29)
        self.arguments = [*[pointer(each.data_ptr()) for each in self.keep], pointer(0), pointer(self.o.data_ptr()), pointer(0),
                          i64(heads * length * DEPTH), i64(length * DEPTH), i64(DEPTH), *side, *side, i32(heads), i32(heads),
                          i32(DEPTH), i32(batch * heads), i32(length), everything, i32(0) if causal else everything, u32(1),
                          u32(causal), ctypes.c_float(1 / math.sqrt(DEPTH)), pointer(0), i64(0), i64(0), i64(0), pointer(0)]

    def error(self, head=0):
        s = (self.q[head] / 32) @ (self.k[head] / 32).T / math.sqrt(DEPTH)
        if self.causal:
            s = s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), -math.inf)
        due = s.softmax(-1) @ self.v[head].float().T
        return ((self.o[head].float() - due).abs().sum() / due.abs().sum()).item()


def milliseconds(function, times):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times


def cudnn(batch, heads, length, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, v = (torch.randn(batch, heads, length, DEPTH, dtype=torch.bfloat16, device="cuda") for _ in range(3))

    def run():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shape", default="1,16,16384", metavar="B,H,L")
    parser.add_argument("--depth", type=int, default=128, choices=(64, 128))
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--with", action="append", default=[], dest="others", metavar="NAME=FILE")
    options = parser.parse_args()
    global DEPTH
    DEPTH = options.depth
    batch, heads, length = map(int, options.shape.split(","))
    problem = Problem(batch, heads, length, options.causal)
    texts = versions(SOURCE.read_text(encoding="utf-8"))
    for each in options.others:
        name, _, file = each.partition("=")
        texts[name] = pathlib.Path(file).read_text(encoding="utf-8")
    runs = {}
    for name, each in texts.items():
        runs[name] = lambda kernel=Kernel(each): kernel.launch(problem)
    errors = {}
    for name in texts:
        problem.o.fill_(math.nan)
        runs[name]()
        errors[name] = problem.error()
    runs["cuDNN bf16"] = cudnn(batch, heads, length, options.causal)
    runs["cuDNN bf16"]()
    times = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(milliseconds(run, 10))
    medians = {name: statistics.median(each) for name, each in times.items()}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; B, H, L = {options.shape}"
          f"{' causal' if options.causal else ''}, D = {DEPTH}; median of {options.rounds} rounds\n")
    print("| | TFLOP/s | time beside as it is | error |\n|---|---|---|---|")
    for name, each in medians.items():
        error = f"{errors[name]:.4f}" if name in errors and not name.startswith("without") else ""
        print(f"| {name} | {problem.flops / each / 1e9:.0f} | {each / medians['as it is']:.3f} | {error} |")
    for _ in range(int(3000 / medians["as it is"])):  # three seconds
        runs["as it is"]()
    asked = subprocess.Popen("sleep 1.5; nvidia-smi --query-gpu=clocks.sm,power.draw,power.limit --format=csv,noheader", shell=True,
                             stdout=subprocess.PIPE, text=True)
    torch.cuda.synchronize()
    print("\nafter 1.5 s of the kernel as it is:", asked.communicate()[0].strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
