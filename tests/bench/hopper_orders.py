#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same attention kernel of kernels/sage3_hopper in many orders of the same work, which ptxas schedules differently: all of
them timed in turns in one run on a CUDA GPU of sm_90, each as a share of the kernel as it is. What they compute is compared, bit by bit.

    python3 tests/bench/hopper_orders.py [--rounds N] [--shape B,H,L] [--depth 64 or 128] [--causal]
    python3 tests/bench/hopper_orders.py --check        that every order can be made of hopper_attention.cuh; needs no GPU

Exit code 77 without torch and such a GPU."""
import argparse
import itertools
import multiprocessing
import statistics
import sys

from hopper_left_out import SOURCE
from hopper_nvrtc import compiled

GIVEN_BACK = "    if (turns.signals) ptx::mbarrier_arrive(M::empty(keys));\n"
BEGIN_P_V = "    begin_p_v<kWidth>(codes, memory.values(stage), o);\n"
BEFORE_SOFTMAX = "    const Scaling scaling{{ptx::mul_rn_f32(rows.scale[0]"
VALUES_BACK = "    if (turns.signals) ptx::mbarrier_arrive(M::empty(values));\n"
STEPS, PARTS = "for (int step = 0; step < kKeys / 32; ++step)\n#pragma unroll\n", "for (int i = 0; i < 4; ++i) {  // row half"
# choice: {alternative: what stands in hopper_attention.cuh and what takes its place}
CHOICES = {
    "chains of maxima": {str(n): [("kDepth == 64 ? 1 : 2>(p,", f"{n}>(p,")] for n in (1, 2, 4)},
    "keys given back": {
        "before P V": [],
        "before the softmax": [(GIVEN_BACK, ""), (BEFORE_SOFTMAX, GIVEN_BACK + BEFORE_SOFTMAX)],
        "behind P V": [(GIVEN_BACK, ""), (BEGIN_P_V, BEGIN_P_V + GIVEN_BACK)],
        "with the values": [(GIVEN_BACK, ""), (VALUES_BACK, GIVEN_BACK + VALUES_BACK)],
    },
    "exponentials": {
        "by keys": [],
        "by rows": [("    " + STEPS + "        " + PARTS,
                     "    for (int i = 0; i < 4; ++i)\n#pragma unroll\n        " + STEPS.split("\n", 1)[0] + " {  // row half")],
    },
    "who signals": {
        "asked once": [],
        "asked in each tile": [("    const float k_scale = rows.k_scales[tile];\n",
                                "    turns.signals = threadIdx.x % 128 == 0;\n    const float k_scale = rows.k_scales[tile];\n")],
    },
}


def orders(text):
    """By the names of their choices, texts of the kernel."""
    out = {}
    for names in itertools.product(*CHOICES.values()):
        made = text
        for choice, name in zip(CHOICES, names):
            for old, new in CHOICES[choice][name]:
                if made.count(old) != 1:
                    sys.exit(f"{SOURCE.name} has {made.count(old)} times what '{choice}: {name}' moves, not once: {old!r}")
                made = made.replace(old, new)
        out[names] = made
    return out


def compiled_order(item):
    name, text, depth = item
    return name, compiled(text, depth)


def measure(options, texts):
    from hopper_problem import Kernel, Problem
    from torch_gpu import milliseconds, torch
    work = [(name, text, options.depth) for name, text in texts.items()]
    with multiprocessing.get_context("spawn").Pool() as pool:
        cubins = dict(pool.imap_unordered(compiled_order, work))
    batch, heads, length = map(int, options.shape.split(","))
    problem = Problem(batch, heads, length, options.causal, options.depth)
    kernels = {name: Kernel(cubins[name], options.depth) for name in texts}
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
          f"D = {options.depth}; {len(texts) - 1} orders, median of {options.rounds} rounds\n")
    print("| " + " | ".join(CHOICES) + " | TFLOP/s | times as fast |\n|" + "---|" * (len(CHOICES) + 2))
    for name in sorted(ratios, key=ratios.get, reverse=True):
        cells = name if name != "as it is" else ("as it is", *[""] * (len(CHOICES) - 1))
        print(f"| {' | '.join(cells)} | {problem.flops / statistics.median(times[name]) / 1e9:.0f} | {ratios[name]:.3f} |")
    different = [name for name, same in list(outputs.items())[1:] if not same]
    if different:
        sys.exit(f"other bits than the kernel as it is: {different}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shape", default="1,16,16384", metavar="B,H,L")
    parser.add_argument("--depth", type=int, default=128, choices=(64, 128))
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = SOURCE.read_text(encoding="utf-8")
    texts = {"as it is": text, **orders(text)}
    if options.check:
        print(f"{len(texts) - 1} orders, {len(set(texts.values()))} different texts")
    else:
        measure(options, texts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
