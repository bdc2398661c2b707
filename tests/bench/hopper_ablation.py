#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bounds the attention kernel of kernels/sage3_hopper on a CUDA GPU of sm_90: the kernel as it is, and with one part left
out at a time (the results are then wrong, the time of what remains is what is asked for), in turns in one run, beside
cuDNN's bf16 attention; then each alone for two seconds, with clock, power and energy.

    python3 tests/bench/hopper_ablation.py [--rounds N] [--shape B,H,L] [--depth 64 or 128] [--causal] [--with NAME=FOLDER ...]

--with: a folder with other versions of headers hopper_*.cuh, to be timed in the same run; the error beside exact attention on
the same codes is printed. Compiled by the NVRTC that torch brings, as libsage3.so does. Needs torch and the GPU; exit code 77 without."""
import argparse
import math
import statistics
import sys

from hopper_left_out import versions
from hopper_nvrtc import compiled
from hopper_problem import TILE, Kernel, Problem, cudnn
from hopper_texts import named, texts
from torch_gpu import milliseconds, sustained, torch


def energy(runs, problem, multiprocessors):
    print("\n| for two seconds | TFLOP/s | MHz | W | cycles for 128 queries and 128 keys | uJ for them |\n|---|---|---|---|---|---|")
    tiles = problem.flops / (4 * TILE * TILE * problem.depth)
    for name, run in runs.items():
        time, clock, power = sustained(run, 2)
        print(f"| {name} | {problem.flops / time / 1e9:.0f} | {clock:.0f} | {power:.0f} | {time * 1e3 * clock * multiprocessors / tiles:.0f} | "
              f"{power * time * 1e3 / tiles:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shape", default="1,16,16384", metavar="B,H,L")
    parser.add_argument("--depth", type=int, default=128, choices=(64, 128))
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--with", action="append", default=[], dest="others", metavar="NAME=FOLDER")
    options = parser.parse_args()
    batch, heads, length = map(int, options.shape.split(","))
    problem = Problem(batch, heads, length, options.causal, options.depth)
    kernels = versions(texts()) | named(options.others)
    runs = {}
    for name, each in kernels.items():
        runs[name] = lambda kernel=Kernel(compiled(each, options.depth), options.depth): kernel.launch(problem)
    errors = {}
    for name in kernels:
        problem.o.fill_(math.nan)
        runs[name]()
        errors[name] = problem.error()
    runs["cuDNN bf16"] = cudnn(batch, heads, length, options.causal, options.depth)
    runs["cuDNN bf16"]()
    times = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(milliseconds(run, 10))
    medians = {name: statistics.median(each) for name, each in times.items()}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; B, H, L = {options.shape}"
          f"{' causal' if options.causal else ''}, D = {options.depth}; median of {options.rounds} rounds\n")
    print("| | TFLOP/s | time beside as it is | error |\n|---|---|---|---|")
    for name, each in medians.items():
        error = f"{errors[name]:.4f}" if name in errors and not name.startswith("without") else ""
        print(f"| {name} | {problem.flops / each / 1e9:.0f} | {each / medians['as it is']:.3f} | {error} |")
    energy(runs, problem, torch.cuda.get_device_properties(0).multi_processor_count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
