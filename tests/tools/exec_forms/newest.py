# SPDX-License-Identifier: Apache-2.0
"""Forms of PTX 9.1 to 9.4, newer than the assembler that records: packed integers of sm_120, carry-less
products, and conversions to and from the 8-, 6- and 4-bit floats. Results are computed here."""
import random
from fractions import Fraction

from .exact import FORMATS, decode, encode, f32

EDGES = {8: [0, 1, 0x7f, 0x80, 0x81, 0xff], 16: [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff],
         32: [0, 1, 0x7fffffff, 0x80000000, 0xffffffff]}


def signed(code, bits):
    return code - (1 << bits) if code >> (bits - 1) else code


def elements(rng, bits, count, avoid=()):
    while True:
        codes = [rng.choice(EDGES[bits]) if rng.random() < 0.4 else rng.getrandbits(bits)
                 for _ in range(count)]
        if not set(codes) & set(avoid):
            return codes


def packed(codes, bits):
    return sum(code << bits * i for i, code in enumerate(codes))


def packed_integer(add, op, kind, sources="ab", avoid=()):
    """One opcode such as add.sat.s8x4; kind is s8x4, u16x2 or u32."""
    bits = int(kind[1:].split("x")[0])
    count = 32 // bits
    rng = random.Random(op + kind)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    values, expect = {name: [] for name in sources}, []
    for _ in range(32):
        rows = [elements(rng, bits, count, avoid) for _ in sources]
        for name, row in zip(sources, rows):
            values[name].append(packed(row, bits))
        results = []
        for codes in zip(*rows):
            x = [signed(c, bits) if kind[0] == "s" else c for c in codes]
            name = op.split(".")[0]
            exact = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "abs": lambda: abs(x[0]),
                     "neg": lambda: -x[0], "min": lambda: min(x), "max": lambda: max(x)}[name]()
            if ".sat" in op:
                exact = min(max(exact, low), high)
            if ".relu" in op:
                exact = max(exact, 0)
            results.append(exact & ((1 << bits) - 1))
        expect.append(packed(results, bits))
    opcode = f"{op}.{kind}"
    add("integer_arith/" + opcode.replace(".", "_"), f"{opcode} d, {', '.join(sources)};",
        ", ".join(f"{x} b32" for x in sources), "d b32", opcode, target="sm_120f", ptx="9.2", trials=1,
        values=values, expect={"d": expect})


def packed_integers(add):
    for op in ("add", "sub"):
        packed_integer(add, op + ".sat", "u32")
        for kind in ("u16x2", "s16x2", "u8x4", "s8x4"):
            packed_integer(add, op + ".sat", kind)
            if op == "sub" or kind[1] == "8":
                packed_integer(add, op, kind)
    packed_integer(add, "abs", "s8x4", "a", avoid=[0x80])
    packed_integer(add, "neg", "s8x4", "a")
    for op in ("min", "max"):
        packed_integer(add, op, "u8x4")
        packed_integer(add, op, "s8x4")
        packed_integer(add, op + ".relu", "s8x4")


def carryless(add):
    rng = random.Random("clmad")
    values = {name: [rng.getrandbits(64) >> rng.choice([0, 0, 40]) for _ in range(32)]
              for name in "abc"}
    for half, shift in (("lo", 0), ("hi", 64)):
        expect = []
        for a, b, c in zip(*values.values()):
            product = 0
            for i in range(64):
                if b >> i & 1:
                    product ^= a << i
            expect.append((product >> shift & (1 << 64) - 1) ^ c)
        add(f"integer_arith/clmad_{half}_u64", f"clmad.{half}.u64 d, a, b, c;",
            "a u64, b u64, c u64", "d u64", "Carry-less product, exclusive-or c.", target="sm_80",
            ptx="9.3", trials=1, values=values, expect={"d": expect})


def finite_code(rng, fmt, spread):
    """A code of f16 or bf16 around 1.0, of either sign."""
    e_bits, m_bits, _ = FORMATS[fmt]
    bias = (1 << (e_bits - 1)) - 1
    return rng.getrandbits(1) << (e_bits + m_bits) | (bias + rng.randint(-spread, spread)) << m_bits | \
        rng.getrandbits(m_bits)


def width_of(small):
    return 4 if small == "e2m1" else 8


def narrow(add, small, mode, source, relu, target, ptx):
    """cvt.MODE.satfinite{.relu}.SMALLx2.SOURCE; a pair of f32, or of halves in one register."""
    op = f"cvt.{mode}.satfinite{relu}.{small}x2.{source}"
    rng, width = random.Random(op), width_of(small)
    halves = source.removesuffix("x2")
    values = {"a": [], "b": []} if source == "f32" else {"a": []}
    expect = []
    for _ in range(32):
        if source == "f32":
            value = [Fraction(rng.randint(-400, 400), 64) * rng.choice([1, 1, 1, 64])
                     for _ in range(2)]  # low, high
            values["a"].append(f32(value[1]))
            values["b"].append(f32(value[0]))
        else:
            codes = [finite_code(rng, halves, 9) for _ in range(2)]
            value = [decode(halves, code) for code in codes]
            values["a"].append(codes[0] | codes[1] << 16)
        result = [encode(small, max(v, Fraction(0)) if relu else v, mode) for v in value]
        expect.append(result[0] | result[1] << width)
    ins = "a f32, b f32" if source == "f32" else f"a {source}"
    add("convert/" + op.replace(".", "_"), f"{op} d, {', '.join(values)};", ins,
        "d b8" if width == 4 else "d b16", op, target=target, ptx=ptx, trials=1, values=values,
        expect={"d": expect})


def widen(add, small, relu):
    op = f"cvt.rn{relu}.bf16x2.{small}x2"
    rng, width = random.Random(op), width_of(small)
    e_bits, m_bits, specials = FORMATS[small]
    numbers = (1 << e_bits + m_bits) - specials
    codes, expect = [], []
    for _ in range(32):
        pair = [rng.getrandbits(1) << e_bits + m_bits | rng.randrange(1, numbers) for _ in range(2)]
        codes.append(pair[0] | pair[1] << width)
        value = [decode(small, code) for code in pair]
        result = [encode("bf16", max(v, Fraction(0)) if relu else v) for v in value]
        expect.append(result[0] | result[1] << 16)
    add("convert/" + op.replace(".", "_"), f"{op} d, a;", "a b8" if width == 4 else "a b16", "d b32",
        op, target="sm_100f", ptx="9.2", trials=1, values={"a": codes}, expect={"d": expect})


def conversions(add):
    fp8, less = ("e4m3", "e5m2"), ("e2m1", "e2m3", "e3m2")
    for relu in ("", ".relu"):
        for small in fp8 + less:
            narrow(add, small, "rz", "f32", relu, "sm_107f", "9.4")
            narrow(add, small, "rz", "f16x2", relu, "sm_107f", "9.4")
            narrow(add, small, "rz", "bf16x2", relu, "sm_107f", "9.4")
            narrow(add, small, "rn", "bf16x2", relu, "sm_100f", "9.1")
            widen(add, small, relu)
        for small in less:
            narrow(add, small, "rn", "f16x2", relu, "sm_100f", "9.1")
    for mode in ("rz", "rp"):
        op = f"cvt.{mode}.satfinite.ue8m0x2.bf16x2"
        rng = random.Random(op)
        pairs = [[rng.randrange(1, 253) << 7 | rng.choice([0, 1, rng.getrandbits(7)])
                  for _ in range(2)] for _ in range(32)]
        expect = [sum(((code >> 7) + (mode == "rp" and code & 0x7f != 0)) << 8 * i
                      for i, code in enumerate(pair)) for pair in pairs]
        add("convert/" + op.replace(".", "_"), f"{op} d, a;", "a bf16x2", "d b16", op,
            target="sm_100a", trials=1, values={"a": [p[0] | p[1] << 16 for p in pairs]},
            expect={"d": expect})


def forms(add):
    packed_integers(add)
    carryless(add)
    conversions(add)
