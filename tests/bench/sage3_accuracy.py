#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relative L1 error of libsage3.so on a CUDA GPU against attention in double, over all rows: N(0, 1), and with a bias of 8 on a tenth of
K's channels and a fiftieth of V's ten times as large; full and causal; bf16. In brackets its share of that of SageAttention2's formula
(kernels/sage3_hopper/sage2_reference.hpp) on the same inputs.

    WARPWRIGHT_SAGE3_LIBRARY=build/portable/libsage3.so PYTHONPATH=python tests/bench/sage3_accuracy.py

Exit code 77 without torch or a GPU."""
import sys

from torch_gpu import torch

from warpwright import sage3

SHAPES = [(2, 8, 2048), (1, 8, 4096), (1, 4, 8192)]  # B, H, L


def logits(q, k, causal):
    s = q @ k.T / q.shape[-1] ** 0.5
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(), -float("inf")) if causal else s


def exact(q, k, v, causal):
    return logits(q, k, causal).softmax(-1) @ v


def to_int8(x, rows):
    """To the nearest of 255 steps, whose size `rows` rows share."""
    groups = x.reshape(-1, rows * x.shape[-1])
    scale = groups.abs().amax(1, keepdim=True) / 127
    return ((groups / scale).round() * scale).reshape(x.shape)


def to_e4m3(x):
    return x.to(torch.float8_e4m3fn).double()


def sage2(q, k, v, causal):
    """SageAttention2's formula of one head: INT8 for 16 queries and 128 keys less their mean, e4m3 for P under the row's
    maximum so far and for V's channels. L: a multiple of 128."""
    scale = v.abs().amax(0) / 448
    v = to_e4m3(v / scale) * scale
    s = logits(to_int8(q, 16), to_int8(k - k.mean(0), 128), causal)
    most = torch.full((len(q), 1), -float("inf"), dtype=torch.float64, device=q.device)
    total, o = torch.zeros_like(most), torch.zeros_like(q)
    for first in range(0, len(k), 128):
        tile = slice(first, first + 128)
        before, most = most, torch.maximum(most, s[:, tile].amax(1, keepdim=True))
        weights, rescale = 448 * (s[:, tile] - most).exp(), (before - most).exp()
        total = total * rescale + weights.sum(1, keepdim=True)
        o = o * rescale + to_e4m3(weights) @ v[tile]
    return o / total


def errors(batch, heads, length, depth, biased, causal):
    """Of the library; and as a share of the formula's."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    q, k, v = (torch.randn(batch, heads, length, depth, device="cuda", generator=generator) for _ in range(3))
    if biased:
        k[..., torch.randperm(depth, device="cuda", generator=generator)[:depth // 10]] += 8
        v[..., torch.randperm(depth, device="cuda", generator=generator)[:max(1, depth // 50)]] *= 10
    q, k, v = (x.to(torch.bfloat16) for x in (q, k, v))
    o = sage3.attention(q, k, v, causal, causal_alignment="top_left").double()
    off = of_formula = of_all = 0.0
    for b in range(batch):
        for h in range(heads):
            head = [x[b, h].double() for x in (q, k, v)]
            due = exact(*head, causal)
            off += (o[b, h] - due).abs().sum().item()
            of_formula += (sage2(*head, causal) - due).abs().sum().item()
            of_all += due.abs().sum().item()
    return off / of_all, off / of_formula


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    print("| B, H, L, D | N(0, 1) | causal | biased | biased, causal |\n|---|---|---|---|---|")
    for shape in SHAPES:
        for depth in (128, 64):
            cells = ["{:.4f} ({:.3f})".format(*errors(*shape, depth, biased, causal)) for biased in (False, True) for causal in (False, True)]
            print(f"| {', '.join(map(str, (*shape, depth)))} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
