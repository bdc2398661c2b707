#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention of libsage3.so beside PyTorch's back ends on a CUDA GPU: milliseconds and TFLOP/s of the attention kernel alone
and of the whole call with its quantisers, interleaved in one run, and each one's error against float32.

    WARPWRIGHT_SAGE3_LIBRARY=build/portable/libsage3.so PYTHONPATH=python tests/bench/sage3_torch_bench.py [--rounds N] [--exact-fp4]

Prints a Markdown table and, with --json FILE, writes the numbers. Exit code 77 without torch or a GPU."""
import argparse
import json
import statistics
import sys

from torch_gpu import milliseconds, torch

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from warpwright import sage3

EXACT_FP4 = False  # --exact-fp4
SHAPES = [(8, 16, 2048), (4, 16, 4096), (2, 16, 8192), (1, 16, 16384)]


def backend(which):
    def run(q, k, v, causal):
        with sdpa_kernel(which):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run


PEERS = {"cuDNN bf16": backend(SDPBackend.CUDNN_ATTENTION), "FlashAttention-2 bf16": backend(SDPBackend.FLASH_ATTENTION)}


def ours(q, k, v, causal):
    return sage3.attention(q, k, v, causal, causal_alignment="top_left", exact_fp4=EXACT_FP4)


def kernels_of(function):
    """Milliseconds of each kernel of one call, by name."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(5):
            function()
        torch.cuda.synchronize()
    return {each.key: each.device_time_total / 5000 for each in profile.key_averages() if each.device_time_total > 0}


def relative_l1(got, due):
    return ((got.float() - due).abs().sum() / due.abs().sum()).item()


def measure(batch, heads, length, depth, causal, rounds):
    torch.manual_seed(1)
    q, k, v = (torch.randn(batch, heads, length, depth, dtype=torch.bfloat16, device="cuda") for _ in range(3))
    flops = 4 * batch * heads * length * length * depth / (2 if causal else 1)
    runs = {"sage3": ours, **PEERS}
    times = {name: [] for name in runs}
    for name in list(runs):
        try:
            runs[name](q, k, v, causal)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            del runs[name], times[name]
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(milliseconds(lambda run=run: run(q, k, v, causal), 5))
    kernels = kernels_of(lambda: ours(q, k, v, causal))
    attention = sum(time for name, time in kernels.items() if "attention" in name)
    small = slice(0, min(2, heads))
    due = scaled_dot_product_attention(*(x[:1, small].float() for x in (q, k, v)), is_causal=causal)
    row = {"shape": [batch, heads, length, depth], "causal": causal, "kernels_ms": kernels,
           "attention_tflops": flops / attention / 1e9,
           "tflops": {name: flops / statistics.median(each) / 1e9 for name, each in times.items()},
           "relative_l1": {name: relative_l1(run(q, k, v, causal)[:1, small], due) for name, run in runs.items()}}
    return row


def main():
    global EXACT_FP4
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--depth", type=int, default=128)
    parser.add_argument("--shape", action="append", default=[], metavar="B,H,L", help="instead of all")
    parser.add_argument("--exact-fp4", action="store_true", help="on Hopper: the numbers of FP4")
    parser.add_argument("--json")
    options = parser.parse_args()
    EXACT_FP4 = options.exact_fp4
    shapes = [tuple(map(int, each.split(","))) for each in options.shape] or SHAPES
    rows = [measure(*shape, options.depth, causal, options.rounds) for causal in (False, True) for shape in shapes]
    names = list(rows[0]["tflops"])
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; TFLOP/s (median of {options.rounds}), relative L1 error in brackets\n")
    print("| B, H, L, D | sage3, attention kernel alone | " + " | ".join(f"{name}, whole call" for name in names) + " |")
    print("|---|---|" + "---|" * len(names))
    for row in rows:
        cells = [f"{row['tflops'][name]:.0f} ({row['relative_l1'][name]:.4f})" if name in row["tflops"] else "-" for name in names]
        print(f"| {', '.join(map(str, row['shape']))}{' causal' if row['causal'] else ''} | {row['attention_tflops']:.0f} | "
              + " | ".join(cells) + " |")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
