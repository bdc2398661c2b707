# SPDX-License-Identifier: Apache-2.0
"""The attention kernel of kernels/sage3_hopper on a CUDA GPU of sm_90, given random codes and scales. Imported it ends the program
with exit code 77 where there is no torch or no such GPU."""
import ctypes
import math
import sys

from hopper_nvrtc import done
from torch_gpu import torch

if torch.cuda.get_device_capability() != (9, 0):
    print("torch sees no CUDA GPU of sm_90")
    sys.exit(77)
torch.zeros(1, device="cuda")  # makes torch's context the thread's, which the driver's calls below need

THREADS, STAGES, TILE = 384, 3, 128
driver = ctypes.CDLL("libcuda.so.1")


def shared_bytes(depth):
    """As in sage3_plan.cpp."""
    return (2 * TILE * depth + STAGES * (2 * TILE * depth + 8 * TILE) + 8 * 16 * 128 + 2 * (TILE * 4 + depth * 4 + 16) +
            16 * (2 * STAGES + 2))


class Kernel:
    def __init__(self, cubin, depth):
        self.shared_bytes = shared_bytes(depth)
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        done(driver.cuModuleLoadData(ctypes.byref(self.module), cubin), "load")
        done(driver.cuModuleGetFunction(ctypes.byref(self.function), self.module, b"hopper_attention"), "find hopper_attention")
        done(driver.cuFuncSetAttribute(self.function, 8, self.shared_bytes), "ask for shared memory")

    def launch(self, problem):
        pointers = (ctypes.c_void_p * len(problem.arguments))(
            *[ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in problem.arguments])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        blocks = torch.cuda.get_device_properties(0).multi_processor_count
        done(driver.cuLaunchKernel(self.function, blocks, 1, 1, THREADS, 1, 1, self.shared_bytes, stream, pointers, None), "launch")

    def words(self, name):
        """What a variable of the module holds, as numbers of 32 bits, when all launches are done."""
        at, size = ctypes.c_uint64(), ctypes.c_size_t()
        done(driver.cuModuleGetGlobal_v2(ctypes.byref(at), ctypes.byref(size), self.module, name.encode()), f"find {name}")
        out = (ctypes.c_uint32 * (size.value // 4))()
        done(driver.cuMemcpyDtoH_v2(out, at, size), f"read {name}")
        return list(out)


def stored(rows):
    """Rows of 64 or 128 bytes as code_offset of sage3_common.cuh stores them."""
    count, chunks = rows.shape[-2], rows.shape[-1] // 16
    row = torch.arange(count, device="cuda")[:, None]
    source = torch.arange(chunks, device="cuda")[None, :] ^ row // (8 // chunks) % chunks
    pieces = rows.view(*rows.shape[:-1], chunks, 16)
    index = source.view(*[1] * (rows.dim() - 2), count, chunks, 1).expand(pieces.shape)
    return torch.gather(pieces, -2, index.contiguous()).reshape(rows.shape).contiguous()


def arguments(operands, o, strides, side, heads, batch_heads, causal, depth):
    """Of the kernel. operands: from q_codes to taken. strides: of o, of a batch, head and token. side: as the kernel has queries, and keys
    alike: its starts or None, sequences, tokens, the longest, stored rows of a head."""
    i32, i64, u32, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
    starts, *numbers = side
    sides = 2 * [pointer(0 if starts is None else starts.data_ptr()), *map(i32, numbers)]
    everything = i32(1 << 29)
    return [*[pointer(each.data_ptr()) for each in operands], pointer(0), pointer(o.data_ptr()), pointer(0), *map(i64, strides), *sides, i32(heads),
            i32(heads), i32(depth), i32(batch_heads), i32(numbers[-1]), everything, i32(0) if causal else everything, u32(1), u32(causal),
            ctypes.c_float(1 / math.sqrt(depth)), pointer(0), i64(0), i64(0), i64(0), pointer(0)]


class Problem:
    """Random codes and scales, L a multiple of 128."""

    def __init__(self, batch, heads, length, causal, depth):
        torch.manual_seed(0)
        self.causal, self.depth = causal, depth
        self.flops = 4 * batch * heads * length * length * depth / (2 if causal else 1)
        shape = (batch * heads, length, depth)
        self.q, self.k = ((torch.randn(shape, device="cuda") * 32).round().clamp(-127, 127) for _ in range(2))
        self.v = (torch.randn(batch * heads, depth, length, device="cuda") * 100).clamp(-448, 448).to(torch.float8_e4m3fn)
        at = torch.arange(16, device="cuda")
        tokens = (torch.arange(length, device="cuda") // 16 * 16).view(-1, 16) + ((at & 1) | (at & 2) << 2 | (at & 12) >> 1)
        values = self.v.view(torch.uint8)[:, :, tokens.flatten()].view(batch * heads, depth, length // TILE, TILE)
        self.keep = [stored(self.q.to(torch.int8).view(torch.uint8)), torch.full((batch * heads * length,), 1 / 32, device="cuda"),
                     stored(self.k.to(torch.int8).view(torch.uint8)),
                     torch.full((batch * heads * length // TILE,), 1 / 32, device="cuda"),
                     stored(values.permute(0, 2, 1, 3).contiguous().view(batch * heads, -1, TILE)),
                     torch.full((batch * heads * depth,), 448.0, device="cuda"),
                     torch.zeros(1, dtype=torch.int32, device="cuda")]
        self.o = torch.empty(shape, dtype=torch.bfloat16, device="cuda")
        self.arguments = arguments(self.keep, self.o, (heads * length * depth, length * depth, depth), (None, batch, length, length, length),
                                   heads, batch * heads, causal, depth)

    def error(self, head=0):
        s = (self.q[head] / 32) @ (self.k[head] / 32).T / math.sqrt(self.depth)
        if self.causal:
            s = s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), -math.inf)
        due = s.softmax(-1) @ self.v[head].float().T
        return ((self.o[head].float() - due).abs().sum() / due.abs().sum()).item()


def cudnn(batch, heads, length, causal, depth):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, v = (torch.randn(batch, heads, length, depth, dtype=torch.bfloat16, device="cuda") for _ in range(3))

    def run():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run
