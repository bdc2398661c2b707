# SPDX-License-Identifier: Apache-2.0
"""Forms of sm_100 and sm_120, which the recording GPU cannot run. Their results are computed here, from
the fragments' layout in the manual and exact sums: operands are so small that nothing is ever rounded
in the sum, so that the tests do not depend on how a tensor core truncates."""
import random
from fractions import Fraction

from .exact import decode, encode, f32, pick

# ue4m3 and ue8m0 codes of small scales, with their values.
UE4M3 = {0x30: Fraction(1, 2), 0x38: Fraction(1), 0x3c: Fraction(3, 2), 0x40: Fraction(2),
         0x44: Fraction(3)}
UE8M0 = {0x7e: Fraction(1, 2), 0x7f: Fraction(1), 0x80: Fraction(2), 0x81: Fraction(4)}


def multiply(a, b, c, a_scales, b_scales, block):
    """a[16][k], b[8][k], c[16][8] of values; scales[row][k / block]."""
    k = len(a[0])
    return [[c[m][n] + sum(a[m][i] * b[n][i] * a_scales[m][i // block] * b_scales[n][i // block]
                           for i in range(k)) for n in range(8)] for m in range(16)]


def pack(codes, bits):
    return sum(code << (bits * i) for i, code in enumerate(codes))


def fragments(codes, rows, bits):
    """Registers of a matrix codes[rows][k], thread by thread: 32 bits of k in each register."""
    per = 32 // bits
    words = []
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for half in range(2):
            for row in range(g, rows, 8):
                first = half * 4 * per + t * per
                words.append(pack(codes[row][first:first + per], bits))
    return words


def accumulators(values):
    return [f32(values[lane // 4 + 8 * (i // 2)][2 * (lane % 4) + i % 2])
            for lane in range(32) for i in range(4)]


def scale_words(scales, rows, byte, thread, rng):
    """One register a thread; the selected lanes hold the scales, the others hold noise."""
    words = [rng.getrandbits(32) for _ in range(32)]
    for row in range(rows):
        lane = 4 * (row % 8) + (2 * thread + row // 8 if rows == 16 else thread)
        for i, code in enumerate(scales[row]):
            shift = 8 * (byte + i)
            words[lane] = words[lane] & ~(0xff << shift) | code << shift
    return words


def mma(add, name, kind, a_type, b_type, k, bits, scale=None, vector=0, pick_a=(0, 0),
        pick_b=(0, 0)):
    rng = random.Random(name)
    shift = {"e2m1": 2}.get
    codes = {}
    for operand, fmt, rows in (("a", a_type, 16), ("b", b_type, 8)):
        source = pick(fmt, 8, name + operand)
        codes[operand] = [[next(source) for _ in range(k)] for _ in range(rows)]
    a = [[decode(a_type, x) for x in row] for row in codes["a"]]
    b = [[decode(b_type, x) for x in row] for row in codes["b"]]
    c = [[Fraction(rng.randint(-64, 64), 4) for _ in range(8)] for _ in range(16)]
    values, block = {}, k
    scales = {"a": [[Fraction(1)]] * 16, "b": [[Fraction(1)]] * 8}
    opcode = f"mma.sync.aligned.m16n8k{k}.row.col.kind::{kind}"
    tail = ""
    if scale:
        table = {"ue4m3": UE4M3, "ue8m0": UE8M0}[scale]
        block = k // vector
        for operand, rows, (byte, thread) in (("a", 16, pick_a), ("b", 8, pick_b)):
            chosen = [[rng.choice(sorted(table)) for _ in range(vector)] for _ in range(rows)]
            scales[operand] = [[table[x] for x in row] for row in chosen]
            values["s" + operand] = scale_words(chosen, rows, byte, thread, rng)
        opcode += f".block_scale.scale_vec::{vector}X"
        tail = f", sa, {{{pick_a[0]}, {pick_a[1]}}}, sb, {{{pick_b[0]}, {pick_b[1]}}}"
    opcode += f".f32.{a_type}.{b_type}.f32" + (f".{scale}" if scale else "")
    # In bytes a 4-bit code lies in the middle.
    placed = {o: [[x << (shift(t, 0) if bits == 8 else 0) for x in row] for row in codes[o]]
              for o, t in (("a", a_type), ("b", b_type))}
    values["a"] = fragments(placed["a"], 16, bits)
    values["b"] = fragments(placed["b"], 8, bits)
    values["c"] = accumulators(c)
    ins = "a b32[4], b b32[2], c f32[4]" + (", sa b32, sb b32" if scale else "")
    add("mma/" + name, f"{opcode}\n{{d0, d1, d2, d3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, "
        f"{{c0, c1, c2, c3}}{tail};", ins, "d f32[4]", opcode, target="sm_120a", trials=1,
        values=values,
        expect={"d": accumulators(multiply(a, b, c, scales["a"], scales["b"], block))})


def block_scaled(add):
    for pick_a, pick_b in (((0, 0), (0, 0)), ((0, 1), (0, 3))):
        suffix = f"_{pick_a[1]}_{pick_b[1]}"
        mma(add, "mma_m16n8k64_mxf4nvf4_4x_ue4m3" + suffix, "mxf4nvf4", "e2m1", "e2m1", 64, 4,
            "ue4m3", 4, pick_a, pick_b)
    for pick_a, pick_b in (((0, 0), (0, 0)), ((2, 1), (2, 2))):
        suffix = f"_{pick_a[0]}{pick_a[1]}_{pick_b[0]}{pick_b[1]}"
        mma(add, "mma_m16n8k64_mxf4nvf4_2x_ue8m0" + suffix, "mxf4nvf4", "e2m1", "e2m1", 64, 4,
            "ue8m0", 2, pick_a, pick_b)
        mma(add, "mma_m16n8k64_mxf4_2x_ue8m0" + suffix, "mxf4", "e2m1", "e2m1", 64, 4, "ue8m0", 2,
            pick_a, pick_b)
    types = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"]
    for i, a in enumerate(types):
        for b in (a, types[(i + 1) % 5]):
            mma(add, f"mma_m16n8k32_mxf8f6f4_1x_{a}_{b}", "mxf8f6f4", a, b, 32, 8, "ue8m0", 1,
                (i % 4, i % 2), ((i + 1) % 4, i % 4))
            mma(add, f"mma_m16n8k32_f8f6f4_{a}_{b}", "f8f6f4", a, b, 32, 8)


def pairs(add):
    """f32x2: two f32 in 64 bits."""
    rng = random.Random("f32x2")
    for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        for mode in ("rn", "rz", "rm", "rp"):
            values = {x: [] for x in "abc"[:n]}
            expect = []
            for _ in range(32):
                halves = []
                for half in range(2):
                    x = [decode("f32", (127 + rng.randint(-3, 3)) << 23 | rng.getrandbits(23) |
                                rng.getrandbits(1) << 31) for _ in range(n)]
                    exact = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1],
                             "mul": lambda: x[0] * x[1], "fma": lambda: x[0] * x[1] + x[2]}[op]()
                    halves.append(([encode("f32", v) for v in x], encode("f32", exact, mode)))
                for i, name in enumerate("abc"[:n]):
                    values[name].append(halves[0][0][i] | halves[1][0][i] << 32)
                expect.append(halves[0][1] | halves[1][1] << 32)
            sources = ", ".join("abc"[:n])
            add(f"float_arith/{op}_{mode}_f32x2", f"{op}.{mode}.f32x2 d, {sources};",
                ", ".join(f"{x} b64" for x in "abc"[:n]), "d b64", target="sm_100", trials=1,
                values=values, expect={"d": expect})


def mixed_precision(add):
    rng = random.Random("mixed")
    for t in ("f16", "bf16"):
        for op in ("add", "sub", "fma"):
            for mode in ("rn", "rz", "rm", "rp"):
                bias, bits = (15, 10) if t == "f16" else (127, 7)
                values, expect = {"a": [], "b": [], "c": []}, []
                for _ in range(32):
                    a, b = ((bias + rng.randint(-3, 3)) << bits | rng.getrandbits(bits) |
                            rng.getrandbits(1) << 15 for _ in range(2))
                    c = (127 + rng.randint(-3, 3)) << 23 | rng.getrandbits(23)
                    x, y, z = decode(t, a), decode(t, b), decode("f32", c)
                    exact = {"add": x + z, "sub": x - z, "fma": x * y + z}[op]
                    for name, code in (("a", a), ("b", b), ("c", c)):
                        values[name].append(code)
                    expect.append(encode("f32", exact, mode))
                if op != "fma":
                    del values["b"]
                add(f"mixed_precision/{op}_{mode}_f32_{t}",
                    f"{op}.{mode}.f32.{t} d, {', '.join(values)};",
                    ", ".join(f"{x} {'f32' if x == 'c' else t}" for x in values), "d f32",
                    target="sm_100", trials=1, values=values, expect={"d": expect})


def small_formats(add):
    rng = random.Random("small")
    for fmt, width in (("e2m1", 4), ("e2m3", 8), ("e3m2", 8)):
        d_type = "b8" if width == 4 else "b16"
        for relu in ("", ".relu"):
            a, b, expect = [], [], []
            for _ in range(32):
                pair = []
                for _ in range(2):
                    # Multiples of a quarter of the finest step: exact ties are frequent.
                    value = Fraction(rng.randint(-160, 160), 32) * rng.choice([1, 1, 8])
                    pair.append(value)
                codes = [encode(fmt, max(v, 0) if relu else v) for v in pair]
                a.append(f32(pair[0]))
                b.append(f32(pair[1]))
                expect.append(codes[0] << width | codes[1])
            op = f"cvt.rn.satfinite{relu}.{fmt}x2.f32"
            add("convert/" + op.replace(".", "_"), f"{op} d, a, b;", "a f32, b f32", f"d {d_type}",
                target="sm_100a", trials=1, values={"a": a, "b": b}, expect={"d": expect})
        # Every code once, in both places.
        count = 16 if width == 4 else 64
        codes = [(rng.randrange(count) << width | i) for i in range(count)]
        expect = [encode("f16", decode(fmt, code & (1 << width) - 1), "rn",
                         bool(code & (1 << width) - 1)) |
                  encode("f16", decode(fmt, code >> width), "rn", bool(code >> width)) << 16
                  for code in codes]
        add(f"convert/cvt_rn_f16x2_{fmt}x2", f"cvt.rn.f16x2.{fmt}x2 d, a;", f"a {d_type}", "d b32",
            target="sm_100a", trials=2, values={"a": codes}, expect={"d": expect})
    powers = [rng.randrange(1, 254) for _ in range(32)]
    for mode in ("rz", "rp"):
        a, b, expect = [], [], []
        for e in powers:
            low, high = e << 23 | rng.choice([0, 1, rng.getrandbits(23)]), (e % 200 + 20) << 23
            a.append(high)
            b.append(low)
            up = mode == "rp" and low & 0x7fffff
            expect.append((high >> 23) << 8 | (low >> 23) + (1 if up else 0))
        op = f"cvt.{mode}.satfinite.ue8m0x2.f32"
        add("convert/" + op.replace(".", "_"), f"{op} d, a, b;", "a f32, b f32", "d b16",
            target="sm_100a", trials=1, values={"a": a, "b": b}, expect={"d": expect})
    codes = [i | (254 - i) << 8 for i in range(1, 255, 8)]
    add("convert/cvt_rn_bf16x2_ue8m0x2", "cvt.rn.bf16x2.ue8m0x2 d, a;", "a b16", "d b32",
        target="sm_100a", trials=1, values={"a": codes},
        expect={"d": [bf16_power(c & 255) | bf16_power(c >> 8) << 16 for c in codes]})


def bf16_power(code):
    """2^(code - 127): a normal number, or the subnormal 2^-127."""
    return code << 7 if code else 0x40


def others(add):
    rng = random.Random("others")
    three = {x: [rng.getrandbits(31) % 0x7f000000 | rng.getrandbits(1) << 31 for _ in range(32)]
             for x in "abc"}
    for op, choose in (("min", min), ("max", max)):
        expect = []
        for codes in zip(*three.values()):
            expect.append(choose(codes, key=lambda code: decode("f32", code)))
        add(f"float_arith/{op}_f32_three", f"{op}.f32 d, a, b, c;", "a f32, b f32, c f32", "d f32",
            "Three operands.", target="sm_100", trials=1, values=three, expect={"d": expect})
        for how in ("", ".abs"):
            codes = three["a"]
            key = (lambda code: abs(decode("f32", code))) if how else \
                (lambda code: decode("f32", code))
            best = choose(codes, key=key) & (0x7fffffff if how else 0xffffffff)
            add(f"warp/redux_sync_{op}{how.replace('.', '_')}_f32",
                f"redux.sync.{op}{how}.f32 d, a, 0xffffffff;", "a f32", "d f32", target="sm_100a",
                trials=1, values={"a": codes}, expect={"d": [best]})
    for space_v in ("v8.b32", "v4.b64"):
        n, t = int(space_v[1]), space_v[3:]
        codes = [rng.getrandbits(int(t[1:])) for _ in range(32 * n)]
        regs = "{" + ", ".join(f"{{0}}{i}" for i in range(n)) + "}"
        add(f"data_movement/ld_st_global_{space_v.replace('.', '_')}", f"""
            .reg .u32 i;
            .reg .u64 p;
            mov.u32 i, %tid.x;
            mad.wide.u32 p, i, 32, m;
            st.global.{space_v} [p], {regs.replace('{0}', 'a')};
            bar.warp.sync -1;
            xor.b32 i, i, 1;
            mad.wide.u32 p, i, 32, m;
            ld.global.{space_v} {regs.replace('{0}', 'd')}, [p];
            """, f"a {t}[{n}]", f"d {t}[{n}]", "Vectors of 256 bits.", target="sm_100", trials=1,
            global_=f"m {t}[{32 * n}]", values={"a": codes},
            expect={"m": codes, "d": [codes[(lane ^ 1) * n + i] for lane in range(32)
                                      for i in range(n)]})


def forms(add):
    block_scaled(add)
    pairs(add)
    mixed_precision(add)
    small_formats(add)
    others(add)
