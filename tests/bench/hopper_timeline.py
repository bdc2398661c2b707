#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When the warpgroups of the attention kernel of kernels/sage3_hopper do what, on a CUDA GPU of sm_90: one thread of each reads the
clock four times in each tile of keys, in one block. Medians over the tiles of the block's last item of work, for both warpgroups
and for one alone. The stamps change how ptxas orders the tile (TFLOP/s with them are printed beside those without), and it may
move arithmetic over them.

    python3 tests/bench/hopper_timeline.py [--with NAME=FOLDER ...]
    python3 tests/bench/hopper_timeline.py --check      that the stamps still fit into hopper_attention.cuh; needs no GPU

--with: a folder with other versions of headers hopper_*.cuh. Exit code 77 without torch and such a GPU."""
import argparse
import statistics
import sys

from hopper_left_out import versions
from hopper_nvrtc import compiled
from hopper_texts import BEGIN_P_V, KERNEL, VALUES_BACK, edited, named, texts

LENGTH, SKIPPED = 16384, 4  # tokens; tiles at both ends of the item
TILES = LENGTH // 128
VERSIONS = ("as it is", "without the second warpgroup (half of the rows)")
STAMP = f"""__device__ unsigned g_stamps[2 * {TILES} * 4];  // by warpgroup, tile, moment
__device__ __forceinline__ void stamp(int tile, int moment) {{
    if (blockIdx.x != 0 || threadIdx.x % 128 != 0) return;
    unsigned clock;
    asm volatile("mov.u32 %0, %clock;" : "=r"(clock)::"memory");
    g_stamps[(threadIdx.x / 128 * {TILES} + tile) * 4 + moment] = clock;
}}

"""
MOMENTS = ("S is there", "P V begins", "P V is there", "O is added")
PLACES = ("    wait(values, parity);  // here", BEGIN_P_V, VALUES_BACK, "    if (part == 0) tap_sums(")


def stamped(headers):
    edits = [(KERNEL, "// What a warp keeps while it goes over the keys.\n", STAMP + "// What a warp keeps while it goes over the keys.\n")]
    edits += [(KERNEL, place, f"    stamp(tile, {moment});\n" + place) for moment, place in enumerate(PLACES)]
    return edited(headers, "stamp", edits)


def later(a, b):
    """Cycles from a to b by a clock of 32 bits."""
    return (b - a) % 2**32


def measure(kernels):
    from hopper_problem import Kernel, Problem
    from torch_gpu import milliseconds, torch
    problem = Problem(1, 16, LENGTH, False, 128)
    rate = {}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; 1, 16, {LENGTH}, D = 128; cycles since {MOMENTS[0]}\n")
    print(f"| | warpgroup | {' | '.join(MOMENTS[1:])} | the next S is there | S of the other | TFLOP/s | without stamps |\n|{'---|' * 9}")
    for name, headers in kernels.items():
        plain, kernel = (Kernel(compiled(each, 128), 128) for each in (headers, stamped(headers)))
        for each in (plain, kernel):
            each.launch(problem)
            rate[each] = problem.flops / statistics.median(milliseconds(lambda run=each: run.launch(problem), 3) for _ in range(5)) / 1e9
        words = kernel.words("_ZN5sage36hopper8g_stampsE")
        of_group = [[words[(group * TILES + tile) * 4:][:4] for tile in reversed(range(SKIPPED, TILES - SKIPPED))] for group in (0, 1)]
        for group, stamps in enumerate(of_group):
            if not any(stamps[0]):
                continue
            medians = [statistics.median(later(each[0], each[moment]) for each in stamps) for moment in (1, 2, 3)]
            medians.append(statistics.median(later(a[0], b[0]) for a, b in zip(stamps, stamps[1:])))
            apart = [min((later(each[0], other[0]) for other in of_group[1 - group]), default=0) for each in stamps[:-1]]
            other = f"{statistics.median(apart):.0f}" if any(of_group[1 - group][0]) else ""
            print(f"| {name} | {group} | {' | '.join(f'{each:.0f}' for each in medians)} | {other} | {rate[kernel]:.0f} | {rate[plain]:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", action="append", default=[], dest="others", metavar="NAME=FOLDER")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = versions(texts())
    kernels = {name: made[name] for name in VERSIONS} | named(options.others)
    if options.check:
        print(f"{len({each[KERNEL] for each in map(stamped, kernels.values())})} versions")
    else:
        measure(kernels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
