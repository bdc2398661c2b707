#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relative L1 error of libsage3.so on a CUDA GPU against attention in double, over all rows: N(0, 1), and with a bias of 8 on a tenth of
K's channels and a fiftieth of V's ten times as large; full and causal; bf16.

    WARPWRIGHT_SAGE3_LIBRARY=build/portable/libsage3.so PYTHONPATH=python tests/bench/sage3_accuracy.py

Exit code 77 without torch or a GPU."""
import sys

from torch_gpu import torch

from warpwright import sage3

SHAPES = [(2, 8, 2048), (1, 8, 4096), (1, 4, 8192)]  # B, H, L


def exact(q, k, v, causal):
    s = q.double() @ k.double().T / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), -float("inf"))
    return s.softmax(-1) @ v.double()


def error(batch, heads, length, depth, biased, causal):
    generator = torch.Generator(device="cuda").manual_seed(1)
    q, k, v = (torch.randn(batch, heads, length, depth, device="cuda", generator=generator) for _ in range(3))
    if biased:
        k[..., torch.randperm(depth, device="cuda", generator=generator)[:depth // 10]] += 8
        v[..., torch.randperm(depth, device="cuda", generator=generator)[:max(1, depth // 50)]] *= 10
    q, k, v = (x.to(torch.bfloat16) for x in (q, k, v))
    o = sage3.attention(q, k, v, causal, causal_alignment="top_left").double()
    off = of_all = 0.0
    for b in range(batch):
        for h in range(heads):
            due = exact(q[b, h], k[b, h], v[b, h], causal)
            off += (o[b, h] - due).abs().sum().item()
            of_all += due.abs().sum().item()
    return off / of_all


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    print("| B, H, L, D | N(0, 1) | causal | biased | biased, causal |\n|---|---|---|---|---|")
    for shape in SHAPES:
        for depth in (128, 64):
            cells = [f"{error(*shape, depth, biased, causal):.4f}" for biased in (False, True) for causal in (False, True)]
            print(f"| {', '.join(map(str, (*shape, depth)))} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
