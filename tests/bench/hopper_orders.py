#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same attention kernel of kernels/sage3_hopper in many orders of the same work, which ptxas schedules differently: all of
them timed in turns in one run on a CUDA GPU of sm_90, each as a share of the kernel as it is. What they compute is compared, bit by bit.

    python3 tests/bench/hopper_orders.py [--orders N] [--seed N] [--rounds N] [--shape B,H,L] [--depth 64 or 128] [--causal]
    python3 tests/bench/hopper_orders.py --check        that every order can be made of hopper_attention.cuh; needs no GPU

--orders: so many of all, at random (100). Exit code 77 without torch and such a GPU."""
import argparse
import itertools
import multiprocessing
import random
import statistics
import sys

from hopper_nvrtc import compiled
from hopper_texts import BEGIN_P_V, KERNEL, VALUES_BACK, edited, texts

LOAD_SCALE = "    const float k_scale = rows.k_scales[tile];\n"
KEYS_BACK = "    if (turns.signals) ptx::mbarrier_arrive(M::empty(keys));\n"
SUMS_OF_P_V = "    float o[kWidth / 2 + 4];\n"
BEFORE_SOFTMAX = "    const Scaling scaling{{ptx::mul_rn_f32(rows.scale[0]"
STEPS, PARTS = "for (int step = 0; step < kKeys / 32; ++step)\n#pragma unroll\n", "for (int i = 0; i < 4; ++i) {  // row half"
ADD_O = """#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) rows.o[i / 4][i % 4] = ptx::fma_rn_f32(rows.o[i / 4][i % 4], rescale[i % 4 / 2], o[i]);
"""
ADD_O_BY_ROWS = """#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) {
        const int j = i % (kWidth / 4) / 2, c = i / (kWidth / 4) * 2 + i % 2;
        rows.o[j][c] = ptx::fma_rn_f32(rows.o[j][c], rescale[c / 2], o[j * 4 + c]);
    }
"""
ADD_SUMS = """#pragma unroll
    for (int half = 0; half < 2; ++half) rows.sum[half] = ptx::fma_rn_f32(rows.sum[half], rescale[half], o[kWidth / 2 + half * 2]);
"""
RESCALE = "        rescale[half] = ptx::ex2_approx_ftz_f32(ptx::sub_rn_f32(before, subtrahend));\n"
# choice: {alternative: [what stands in hopper_attention.cuh and what takes its place]}
CHOICES = {
    "chains of maxima": {str(n): [("kDepth == 64 ? 1 : 2>(p,", f"{n}>(p,")] for n in (1, 2, 4)},
    "keys given back": {
        "before P V": [],
        "before the softmax": [(KEYS_BACK, ""), (BEFORE_SOFTMAX, KEYS_BACK + BEFORE_SOFTMAX)],
        "behind P V": [(KEYS_BACK, ""), (BEGIN_P_V, BEGIN_P_V + KEYS_BACK)],
        "with the values": [(KEYS_BACK, ""), (VALUES_BACK, KEYS_BACK + VALUES_BACK)],
    },
    "exponentials": {
        "by keys": [],
        "by rows": [("    " + STEPS + "        " + PARTS,
                     "    for (int i = 0; i < 4; ++i)\n#pragma unroll\n        " + STEPS.split("\n", 1)[0] + " {  // row half")],
    },
    "who signals": {"asked once": [], "asked in each tile": [(LOAD_SCALE, "    turns.signals = threadIdx.x % 128 == 0;\n" + LOAD_SCALE)]},
    "older sums' factor": {
        "with the maximum": [],
        "before P V": [(RESCALE, "        rescale[half] = ptx::sub_rn_f32(before, subtrahend);\n"),
                       (SUMS_OF_P_V, "    for (float& each : rescale) each = ptx::ex2_approx_ftz_f32(each);\n" + SUMS_OF_P_V)],
    },
    "O is added": {"by channels": [], "by rows": [(ADD_O, ADD_O_BY_ROWS)]},
    "sums are added": {"behind O": [], "before O": [(ADD_SUMS, ""), (VALUES_BACK, ADD_SUMS + VALUES_BACK)]},
}


def orders(headers):
    """By the names of their choices, headers of the kernel."""
    out = {}
    for names in itertools.product(*CHOICES.values()):
        made = headers
        for choice, name in zip(CHOICES, names):
            made = edited(made, f"{choice}: {name}", [(KERNEL, *edit) for edit in CHOICES[choice][name]])
        out[names] = made
    return out


def compiled_order(item):
    name, headers, depth = item
    return name, compiled(headers, depth)


def measure(options, kernels_by_name):
    from hopper_problem import Kernel, Problem
    from torch_gpu import milliseconds, torch
    work = [(name, headers, options.depth) for name, headers in kernels_by_name.items()]
    with multiprocessing.get_context("spawn").Pool() as pool:
        cubins = dict(pool.imap_unordered(compiled_order, work))
    batch, heads, length = map(int, options.shape.split(","))
    problem = Problem(batch, heads, length, options.causal, options.depth)
    kernels = {name: Kernel(cubins[name], options.depth) for name in kernels_by_name}
    outputs = {}
    for name, kernel in kernels.items():
        problem.o.fill_(float("nan"))
        kernel.launch(problem)
        torch.cuda.synchronize()
        outputs[name] = problem.o.clone() if not outputs else torch.equal(problem.o, next(iter(outputs.values())))
    times = {name: [] for name in kernels}
    for _ in range(options.rounds):
        for name, kernel in kernels.items():
            times[name].append(milliseconds(lambda each=kernel: each.launch(problem), 3))
    as_it_is = times["as it is"]
    ratios = {name: statistics.median(a / b for a, b in zip(as_it_is, each)) for name, each in times.items()}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; B, H, L = {options.shape}{' causal' if options.causal else ''}, "
          f"D = {options.depth}; {len(kernels) - 1} orders, median of {options.rounds} rounds\n")
    print("| " + " | ".join(CHOICES) + " | TFLOP/s | times as fast |\n|" + "---|" * (len(CHOICES) + 2))
    for name in sorted(ratios, key=ratios.get, reverse=True):
        cells = name if name != "as it is" else ("as it is", *[""] * (len(CHOICES) - 1))
        print(f"| {' | '.join(cells)} | {problem.flops / statistics.median(times[name]) / 1e9:.0f} | {ratios[name]:.3f} |")
    different = [name for name, same in list(outputs.items())[1:] if not same]
    if different:
        sys.exit(f"other bits than the kernel as it is: {different}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shape", default="1,16,16384", metavar="B,H,L")
    parser.add_argument("--depth", type=int, default=128, choices=(64, 128))
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = orders(texts())
    if options.check:
        print(f"{len(made)} orders, {len({each[KERNEL] for each in made.values()})} different texts")
    else:
        chosen = random.Random(options.seed).sample(sorted(made), min(options.orders, len(made)))
        measure(options, {"as it is": texts(), **{name: made[name] for name in chosen}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
