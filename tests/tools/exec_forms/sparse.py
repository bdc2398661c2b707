# SPDX-License-Identifier: Apache-2.0
"""mma.sp: the matrix is made whole here, by the metadata, and multiplied; operands are so small that every
sum is exact. Where an element and its metadata are in the registers: the manual's figures."""
import random
from fractions import Fraction

from .exact import decode, encode, pick

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "e2m1": 8, "e2m3": 8, "e3m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}


def registers(codes, rows, bits):
    """Thread by thread, as mma_fragments: 16 bytes of a row are the four lanes of a quad."""
    out = []
    per = 32 // bits
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for quad in range(len(codes[0]) * bits // 128):
            for row in range(g, rows, 8):
                first = (4 * quad + t) * per
                out.append(sum(c << bits * i for i, c in enumerate(codes[row][first:first + per])))
    return out


def source(fmt, seed, integers):
    """Codes with their values; integers: sm_89 keeps 13 bits of a sum."""
    rng = random.Random(seed)
    if fmt[0] in "su":
        low, high = {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15)}[fmt]
        while True:
            value = rng.randint(low, high)
            yield value & ((1 << BITS[fmt]) - 1), value
    if fmt in ("f16", "bf16", "tf32"):
        while True:
            value = rng.randint(-8, 8)
            yield encode({"tf32": "f32"}.get(fmt, fmt), Fraction(value)), value
    if integers:
        while True:
            value = rng.randint(-4, 4)
            yield encode(fmt, Fraction(value)), value
    codes = pick(fmt, 4, seed)
    while True:
        c = next(codes)
        yield c << (2 if fmt == "e2m1" else 0), decode(fmt, c)


def metadata_words(meta, chunks, wide, selector, rng):
    """One word a lane; lanes that hold none have noise. wide: units of two bytes."""
    words = [rng.getrandbits(32) for _ in range(32)]

    def put(lane, bit, value):
        words[lane] = words[lane] & ~(15 << bit) | value << bit
    for row in range(16):
        g, upper = row % 8, row // 8
        for chunk in range(chunks):
            if chunks == 4:
                put(4 * g + selector, 4 * chunk + 16 * upper, meta[row][chunk])
            elif wide:
                put(4 * g + 2 * selector + chunk // 4, 4 * (chunk % 4) + 16 * upper, meta[row][chunk])
            else:
                put(4 * g + 2 * selector + upper + 2 * (chunk // 8), 4 * (chunk % 8), meta[row][chunk])
    return words


def sparse(add, k, a_type, b_type, d_type, selector=0, ordered=False, kind="", target="sm_80", suffix="",
           generator=""):
    name = f"sparse_m16n8k{k}_{a_type}_{b_type}_{d_type}_{selector}" + ("_ordered" if ordered else "") + suffix.replace(".", "_")
    rng = random.Random(name)
    bits = BITS[a_type]
    unit = 2 if bits >= 16 else 1            # bytes
    chunks = k * bits // 8 // unit // 4
    in_unit = max(1, 8 * unit // bits)       # elements of 4 bits: two
    a_source, b_source = (source(t, name + x, target == "sm_89") for t, x in ((a_type, "a"), (b_type, "b")))
    a_codes, a_dense, meta = [], [], []
    for _ in range(16):
        codes, dense, indices = [], [0] * k, []
        for chunk in range(chunks):
            if a_type == "tf32":
                pair = rng.choice([(0, 1), (2, 3)])
                c, value = next(a_source)
                codes.append(c)
                dense[2 * chunk + pair[0] // 2] = value
            else:
                pair = sorted(rng.sample(range(4), 2))
                if not ordered and rng.random() < 0.3:
                    pair.reverse()
                for i in pair:
                    for e in range(in_unit):
                        c, value = next(a_source)
                        codes.append(c)
                        dense[(4 * chunk + i) * in_unit + e] = value
            indices.append(pair[0] | pair[1] << 2)
        a_codes.append(codes)
        a_dense.append(dense)
        meta.append(indices)
    b = [[next(b_source) for _ in range(k)] for _ in range(8)]
    c = [[rng.randint(-64, 64) for _ in range(8)] for _ in range(16)]
    if suffix:
        c = [[2**31 - rng.randint(1, 9000) for _ in range(8)] for _ in range(16)]
    d = [[c[i][j] + sum(a_dense[i][l] * b[j][l][1] for l in range(k)) for j in range(8)] for i in range(16)]
    if suffix:
        d = [[min(x, 2**31 - 1) for x in line] for line in d]

    def accumulators(matrix):
        if d_type == "f16":
            return [sum(encode("f16", Fraction(matrix[lane // 4 + 8 * r][2 * (lane % 4) + e])) << 16 * e for e in range(2))
                    for lane in range(32) for r in range(2)]
        return [matrix[lane // 4 + 8 * (r // 2)][2 * (lane % 4) + r % 2] & 0xffffffff if d_type == "s32" else
                encode("f32", Fraction(matrix[lane // 4 + 8 * (r // 2)][2 * (lane % 4) + r % 2]))
                for lane in range(32) for r in range(4)]
    values = {"a": registers(a_codes, 16, bits), "b": registers([[x[0] for x in line] for line in b], 8, bits),
              "c": accumulators(c), "e": metadata_words(meta, chunks, unit == 2, selector, rng)}
    counts = {x: len(values[x]) // 32 for x in "abc"}
    acc = {"f16": "b32", "s32": "s32", "f32": "f32"}[d_type]
    regs = {x: "{" + ", ".join(f"{x}{i}" for i in range(n)) + "}" for x, n in list(counts.items()) + [("d", counts["c"])]}
    held = {"f16": "f16x2", "bf16": "bf16x2", "tf32": "f32"}.get(a_type, "b32")
    options = {"trials": 1, "values": values, "expect": {"d": accumulators(d)}}
    if generator:
        name += "_" + generator
        acc = {"f16": "f16x2", "f32": "f32"}[d_type]
        options = {"values": {"e": values["e"]}}
    variant = "sp::ordered_metadata" if ordered else "sp"
    kind_text = f".kind::{kind}" if kind else ""
    add("mma/" + name, f"mma.{variant}.sync.aligned.m16n8k{k}.row.col{kind_text}{suffix}.{d_type}.{a_type}.{b_type}.{d_type} "
        f"{regs['d']}, {regs['a']}, {regs['b']}, {regs['c']}, e, {selector};",
        ", ".join(f"{x} {t}[{counts[x]}] {generator}".strip() for x, t in (("a", held if generator else "b32"),
                  ("b", held if generator else "b32"), ("c", acc))) + ", e b32",
        f"d {acc}[{counts['c']}]", target=target, **options)


def forms(add):
    for a in ("f16", "bf16"):
        for selector in range(4):
            sparse(add, 16, a, a, "f32", selector, ordered=selector % 2 == 1)
        for selector in range(2):
            sparse(add, 32, a, a, "f32", selector, ordered=selector == 1)
    sparse(add, 16, "f16", "f16", "f16")
    sparse(add, 32, "f16", "f16", "f16", ordered=True)
    for selector in range(4):
        sparse(add, 8, "tf32", "tf32", "f32", selector, ordered=selector % 2 == 1)
    for selector in range(2):
        sparse(add, 16, "tf32", "tf32", "f32", selector)
    for a, b in (("s8", "s8"), ("u8", "s8"), ("s8", "u8")):
        sparse(add, 32, a, b, "s32", 1)
        sparse(add, 64, a, b, "s32", ordered=True)
    sparse(add, 32, "s8", "s8", "s32", 0, suffix=".satfinite")
    for a, b in (("s4", "s4"), ("u4", "s4")):
        sparse(add, 64, a, b, "s32", 1)
        sparse(add, 128, a, b, "s32")
    for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
        sparse(add, 64, a, b, "f32", target="sm_89")
    for a, b in (("e4m3", "e2m1"), ("e2m1", "e3m2"), ("e2m3", "e5m2")):
        sparse(add, 64, a, b, "f32", ordered=True, kind="f8f6f4", target="sm_120a")
    for generator in ("mixed", "normal", "spread"):
        for k, kind, d in ((16, "f16", "f32"), (32, "f16", "f32"), (16, "f16", "f16"), (32, "f16", "f16"), (16, "bf16", "f32"),
                           (32, "bf16", "f32"), (8, "tf32", "f32"), (16, "tf32", "f32")):
            sparse(add, k, kind, kind, d, ordered=True, target="sm_90", generator=generator)
