#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it gains that blocks of the attention kernel of kernels/sage3_hopper take items of work from a counter, beside rounds there and back
over the blocks: counted for 132 blocks, and timed in turns in one run on a CUDA GPU of sm_90, whose outputs must have the same bits.

    python3 tests/bench/hopper_items.py [--rounds N] [--depth 64 or 128] [--count]

--count: only counts, without a GPU. Of a batch of sequences, lengths are uniform from 1 up, until there are 65,536 tokens. Otherwise needs
torch and the GPU; exit code 77 without."""
import argparse
import heapq
import itertools
import random
import statistics
import sys
import types

from hopper_texts import LOADER, edited, texts

TILE, HEADS, BLOCKS = 128, 16, 132
OVERHEAD = 2.0  # of an item, in tiles of keys
AHEAD = 3  # tiles that are still to be made when a block asks for its next item: stages of the ring
ROUNDS = [(LOADER, "for (int number = blockIdx.x; number < items; number = next_item(p.taken, items)) {\n",
           "Items made;\n    for (int number = blockIdx.x; number < items; made.next(), number = made.number) {\n")]


def workloads():
    """By name: lengths of the sequences of a batch, packed one behind the other; or batches and length."""
    out = {f"{batches}, {HEADS}, {length}": (batches, length) for batches, length in ((8, 2048), (4, 4096), (1, 16384))}
    for longest in (1024, 4096, 16384):
        lengths, choose = [], random.Random(longest)
        while sum(lengths) < 65536:
            lengths.append(choose.randint(1, longest))
        out[f"lengths up to {longest}"] = lengths
    return out


def starts_of(lengths):
    """The first token of each sequence, and how many there are."""
    return list(itertools.accumulate(lengths, initial=0))


def first_tiles(lengths):
    """Of packed sequences: the tile that each begins with among the stored ones, and how many are stored."""
    starts = starts_of(lengths)
    return [start // TILE + i for i, start in enumerate(starts[:-1])], starts[-1] // TILE + len(lengths)


def items(work, causal):
    """Tiles of keys of each item in the order of their numbers; None where a stored tile has no query."""
    if isinstance(work, tuple):
        batches, length = work
        tiles, rows = length // TILE, batches * HEADS
        keys = [tile + 1 if causal else tiles for tile in range(tiles)]
    else:
        first, tiles = first_tiles(work)
        rows, keys = HEADS, [None] * tiles
        for begin, length in zip(first, work):
            own = -(-length // TILE)
            keys[begin:begin + own] = [tile + 1 if causal else own for tile in range(own)]
    if causal:
        return [keys[tile] for tile in reversed(range(tiles)) for _ in range(rows)]
    return keys * rows


def in_rounds(numbers):
    """When the last block ends, in tiles."""
    made = [0.0] * BLOCKS
    for i, tiles in enumerate(numbers):
        turn, block = divmod(i, BLOCKS)
        if tiles is not None:
            made[block if turn % 2 == 0 else BLOCKS - 1 - block] += tiles + OVERHEAD
    return max(made)


def from_a_counter(numbers):
    asks, ends = [(0.0, block) for block in range(BLOCKS)], [0.0] * BLOCKS
    for tiles in filter(None, numbers):
        now, block = heapq.heappop(asks)
        ends[block] = max(now, ends[block]) + tiles + OVERHEAD
        heapq.heappush(asks, (max(now, ends[block] - min(AHEAD, tiles)), block))
    return max(ends)


def counted(work, causal):
    numbers = items(work, causal)
    return in_rounds(numbers) / from_a_counter(numbers)


def packed(lengths, causal, depth):
    from hopper_problem import arguments
    from torch_gpu import torch
    tokens, stored = sum(lengths), first_tiles(lengths)[1] * TILE
    starts = torch.tensor(starts_of(lengths), dtype=torch.int32, device="cuda")
    torch.manual_seed(0)
    codes = [(torch.randn(HEADS, stored, depth, device="cuda") * 32).round().clamp(-127, 127).to(torch.int8) for _ in range(2)]
    scales = [torch.full((HEADS, rows), 1 / 32, device="cuda") for rows in (stored, stored // TILE)]
    values = torch.randint(0, 0x7f, (HEADS, stored, depth), dtype=torch.uint8, device="cuda")  # e4m3, none is a NaN
    operands = [codes[0], scales[0], codes[1], scales[1], values, torch.full((len(lengths) * HEADS * depth,), 448.0, device="cuda"),
                torch.zeros(1, dtype=torch.int32, device="cuda")]
    o = torch.empty((HEADS, tokens, depth), dtype=torch.bfloat16, device="cuda")
    made = arguments(operands, o, (HEADS * tokens * depth, tokens * depth, depth),
                     (starts, len(lengths), tokens, max(lengths), stored), HEADS, HEADS, causal, depth)
    return types.SimpleNamespace(keep=(starts, operands), o=o, arguments=made)


def timed(work, causal, kernels, options):
    """How many times as fast the first of two kernels is."""
    from hopper_problem import Problem
    from torch_gpu import milliseconds, torch
    problem = (Problem(work[0], HEADS, work[1], causal, options.depth) if isinstance(work, tuple) else packed(work, causal, options.depth))
    outputs = []
    for kernel in kernels:
        problem.o.zero_()
        kernel.launch(problem)
        outputs.append(problem.o.clone())
    if not torch.equal(*outputs):
        sys.exit(f"other bits in rounds: {work}")
    ratios = []
    for _ in range(options.rounds):
        first, second = (milliseconds(lambda kernel=kernel: kernel.launch(problem), 10) for kernel in kernels)
        ratios.append(second / first)
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--depth", type=int, default=128, choices=(64, 128))
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    versions = [texts(), edited(texts(), "rounds", ROUNDS)]
    kernels = []
    if not options.count:
        from hopper_nvrtc import compiled
        from hopper_problem import Kernel
        kernels = [Kernel(compiled(each, options.depth), options.depth) for each in versions]
    print("| B, H, L, or 16 heads of | counted | causal |" + (" timed | causal |" if kernels else ""))
    print("|---|---|---|" + ("---|---|" if kernels else ""))
    for name, work in workloads().items():
        cells = [counted(work, causal) for causal in (False, True)]
        if kernels:
            cells += [timed(work, causal, kernels, options) for causal in (False, True)]
        print(f"| {name} | " + " | ".join(f"{each:.3f}" for each in cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
