# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with Triton, without a GPU, and leaves their PTX in a folder.

    triton_kernels.py FOLDER      writes FOLDER/<kernel>.<target>.ptx
"""
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = {"sm_80": 80, "sm_90a": 90, "sm_100a": 100, "sm_120a": 120}


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + at, (powers / tl.sum(powers, axis=0)).to(tl.bfloat16), mask=inside)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        rows = tl.load(a + m[:, None] * K + (start + k)[None, :],
                       mask=(m < M)[:, None] & (start + k < K)[None, :], other=0.0)
        columns = tl.load(b + (start + k)[:, None] * N + n[None, :],
                          mask=(start + k < K)[:, None] & (n < N)[None, :], other=0.0)
        sums = tl.dot(rows, columns, sums)
    tl.store(c + m[:, None] * N + n[None, :], sums.to(tl.float16),
             mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def matmul_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same product through tensor maps made on the device, where the target has them."""
    a_map = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_map = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    c_map = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        sums = tl.dot(a_map.load([m, start]), b_map.load([n, start]).T, sums)
    c_map.store([m, n], sums.to(tl.float16))


@triton.jit
def attention(q, k, v, o, scale, L, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention of one head, with a running maximum and sum."""
    head = tl.program_id(1) * L * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :], mask=(rows < L)[:, None],
                      other=0.0)
    highest = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    out = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        columns = start + tl.arange(0, BN)
        inside = (columns < L)[:, None]
        keys = tl.load(k + head + columns[:, None] * D + d[None, :], mask=inside, other=0.0)
        scores = tl.dot(queries, keys.T) * scale
        scores = tl.where(columns[None, :] <= rows[:, None], scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        values = tl.load(v + head + columns[:, None] * D + d[None, :], mask=inside, other=0.0)
        out = tl.dot(powers.to(tl.float16), values, out * shrink[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        highest = higher
    tl.store(o + head + rows[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16),
             mask=(rows < L)[:, None])


@triton.jit
def matmul_scaled(a, a_scale, b, b_scale, c, K, BM: tl.constexpr, BN: tl.constexpr,
                  BK: tl.constexpr):
    """One tile of a product of 4-bit floats with a scale for every 32 of them."""
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    k, groups = tl.arange(0, BK // 2), tl.arange(0, BK // 32)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        rows = tl.load(a + m[:, None] * (K // 2) + (start // 2 + k)[None, :])
        columns = tl.load(b + n[:, None] * (K // 2) + (start // 2 + k)[None, :])
        scales = start // 32 + groups
        row_scales = tl.load(a_scale + m[:, None] * (K // 32) + scales[None, :])
        column_scales = tl.load(b_scale + n[:, None] * (K // 32) + scales[None, :])
        sums = tl.dot_scaled(rows, row_scales, "e2m1", columns.T, column_scales, "e2m1", sums)
    tl.store(c + m[:, None] * BN + n[None, :], sums)


MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
TILE = {"BM": 128, "BN": 128, "BK": 64}
# Kernel, types of its arguments, its constants.
KERNELS = [
    (softmax, {"x": "*bf16", "y": "*bf16", "columns": "i32", "stride": "i32"}, {"BLOCK": 2048}),
    (matmul, MATRICES, TILE),
    (matmul_descriptors, MATRICES, TILE),
    (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "scale": "fp32",
                 "L": "i32"}, {"D": 64, "BM": 64, "BN": 64}),
    (matmul_scaled, {"a": "*u8", "a_scale": "*u8", "b": "*u8", "b_scale": "*u8", "c": "*fp32",
                     "K": "i32"}, {"BM": 128, "BN": 128, "BK": 128}),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    for kernel, types, constants in KERNELS:
        signature = {**types, **{name: "constexpr" for name in constants}}
        # Pointers and sizes are multiples of 16: what makes Triton use its wide loads.
        hints = {(i,): [["tt.divisibility", 16]] for i, each in enumerate(types.values())
                 if each != "fp32"}
        for target, number in TARGETS.items():
            source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=hints)
            compiled = triton.compile(source, target=GPUTarget("cuda", number, 32),
                                      options={"num_warps": 4, "num_stages": 3})
            (folder / f"{kernel.__name__}.{target}.ptx").write_text(compiled.asm["ptx"])


if __name__ == "__main__":
    main()
