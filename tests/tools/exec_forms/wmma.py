# SPDX-License-Identifier: Apache-2.0
"""wmma: matrices go from shared memory through load, mma and store back to it. Fragments are opaque, so
only what comes out is compared. It is computed here; operands are small integers, so that every sum
is exact however it is rounded on the way."""
import random
import struct
from fractions import Fraction

from .exact import encode

SIZES = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
         "b1": 1, "s32": 32}


def code(fmt, value):
    if fmt == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if fmt in ("f16", "bf16", "f32", "tf32"):
        return encode({"tf32": "f32"}.get(fmt, fmt), Fraction(value))
    return value & ((1 << SIZES[fmt]) - 1)


def limits(fmt):
    return {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15), "b1": (0, 1)}.get(fmt, (-8, 8))


def words(matrix, fmt, by_rows, stride):
    """Words of memory; lines are rows or columns, stride elements apart."""
    lines = matrix if by_rows else [list(line) for line in zip(*matrix)]
    bits, total = SIZES[fmt], 0
    for i, line in enumerate(lines):
        for j, value in enumerate(line):
            total |= code(fmt, value) << bits * (i * stride + j)
    return [total >> 32 * i & 0xffffffff for i in range(len(lines) * stride * bits // 32)]


def registers(fmt, shape, matrix):
    m, n, k = shape
    if fmt == "f16" and matrix in "ab":
        return 8
    elements = {"a": m * k, "b": n * k}.get(matrix, m * n)
    return max(1, elements * SIZES[fmt] // 32 // (64 if fmt == "f64" else 32))


def row(add, name, shape, a_type, b_type, c_type, d_type, layouts=("row", "col", "row", "row"), pad=0,
        infix="", suffix="", c_limits=(-64, 64), combine=None, generator=""):
    rng = random.Random(name)
    m, n, k = shape
    a, b = ([[rng.randint(*limits(t)) for _ in range(k)] for _ in range(lines)]
            for t, lines in ((a_type, m), (b_type, n)))
    c = [[rng.randint(*c_limits) for _ in range(n)] for _ in range(m)]
    product = combine or (lambda x, y: x * y)
    d = [[c[i][j] + sum(product(a[i][l], b[j][l]) for l in range(k)) for j in range(n)] for i in range(m)]
    if suffix == ".satfinite":
        d = [[min(max(x, -2**31), 2**31 - 1) for x in line] for line in d]
    by = [layout == "row" for layout in layouts]
    b_lines = [list(line) for line in zip(*b)]  # k rows of n
    stride = [(k if by[0] else m) + pad, (n if by[1] else k) + pad, (n if by[2] else m) + pad, (n if by[3] else m) + pad]
    memory = {"a": words(a, a_type, by[0], stride[0]), "b": words(b_lines, b_type, by[1], stride[1]),
              "c": words(c, c_type, by[2], stride[2])}
    out = words(d, d_type, by[3], stride[3])
    text_shape = f"m{m}n{n}k{k}"
    ins, body, values = [], [".reg .u32 i, p;", "mov.u32 i, %tid.x;"], {}
    for x in "abc":
        count = -(-len(memory[x]) // 32)
        padded = memory[x] + [0] * (32 * count - len(memory[x]))
        body.append(f".shared .align 128 .b8 matrix_{x}[{128 * count}];")
        held = {"f16": "f16x2", "bf16": "bf16x2"}.get({"a": a_type, "b": b_type, "c": c_type}[x], "f32")
        ins.append(f"{x} {held}[{count}] {generator}" if generator else f"{x} b32[{count}]")
        values[x] = padded
        body.append(f"mov.u32 p, matrix_{x};\nmad.lo.u32 p, i, {4 * count}, p;")
        body += [f"st.shared.b32 [p+{4 * j}], {x}{j};" for j in range(count)]
    body.append("bar.warp.sync -1;")
    kinds = {"a": a_type, "b": b_type, "c": c_type, "d": d_type}
    for x, t in kinds.items():
        width = "f64" if t == "f64" else "f32" if t in ("f32",) else "b32"
        body.append(f".reg .{width} {x}f<{registers(t, shape, x)}>;")
    frag = {x: "{" + ", ".join(f"{x}f{i}" for i in range(registers(t, shape, x))) + "}" for x, t in kinds.items()}
    for x, layout, step in zip("abc", layouts, stride):
        body.append(f"mov.u32 p, matrix_{x};")
        tail = f", {step}" if pad or x == "a" else ""
        body.append(f"wmma.load.{x}.sync.aligned.{layout}.{text_shape}.shared.{kinds[x]} {frag[x]}, [p]{tail};")
    types = f"{d_type}.{c_type}" if a_type == "f16" else f"{d_type}.{a_type}.{b_type}.{c_type}"
    body.append(f"wmma.mma{infix}.sync.aligned.{layouts[0]}.{layouts[1]}.{text_shape}.{types}{suffix} "
                f"{frag['d']}, {frag['a']}, {frag['b']}, {frag['c']};")
    body.append("mov.u32 p, m;")
    body.append(f"wmma.store.d.sync.aligned.{layouts[3]}.{text_shape}.shared.{d_type} [p], {frag['d']}, {stride[3]};")
    options = {"target": "sm_90", "trials": 16} if generator else \
        {"target": "sm_80", "trials": 1, "values": values, "expect": {"m": out}}
    add("wmma/" + name, "\n".join(body), ", ".join(ins), "", desc=f"wmma {text_shape} {types}",
        shared=f"m b32[{len(out)}] zero", **options)


def forms(add):
    shapes = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
    others = [("row", "col", "row", "row"), ("col", "row", "col", "row"), ("row", "row", "row", "col"), ("col", "col", "col", "col")]
    for i, shape in enumerate(shapes):
        name = "m{}n{}k{}".format(*shape)
        for j, (c, d) in enumerate((("f32", "f32"), ("f16", "f16"), ("f16", "f32"))):
            row(add, f"{name}_f16_{d}_{c}", shape, "f16", "f16", c, d, others[(i + j) % 4])
        row(add, f"{name}_bf16", shape, "bf16", "bf16", "f32", "f32", others[(i + 1) % 4])
        for t in ("s8", "u8"):
            row(add, f"{name}_{t}", shape, t, t, "s32", "s32", others[(i + 2) % 4])
    row(add, "padded_lines", (16, 16, 16), "f16", "f16", "f32", "f32", others[0], pad=8)
    row(add, "u8_satfinite", (16, 16, 16), "u8", "u8", "s32", "s32", others[0], suffix=".satfinite", c_limits=(2**31 - 9000, 2**31 - 1))
    row(add, "m16n16k8_tf32", (16, 16, 8), "tf32", "tf32", "f32", "f32", others[1])
    row(add, "m8n8k4_f64", (8, 8, 4), "f64", "f64", "f64", "f64", others[3])
    for t in ("s4", "u4"):
        row(add, f"m8n8k32_{t}", (8, 8, 32), t, t, "s32", "s32")
    row(add, "m8n8k128_b1_xor", (8, 8, 128), "b1", "b1", "s32", "s32", infix=".xor.popc", combine=lambda x, y: x ^ y)
    row(add, "m8n8k128_b1_and", (8, 8, 128), "b1", "b1", "s32", "s32", infix=".and.popc", combine=lambda x, y: x & y)
    for generator in ("mixed", "normal", "spread"):
        for i, shape in enumerate(shapes):
            name = "m{}n{}k{}".format(*shape)
            for c, d in (("f32", "f32"), ("f16", "f16"), ("f16", "f32")):
                row(add, f"{name}_f16_{d}_{c}_{generator}", shape, "f16", "f16", c, d, others[i], generator=generator)
            row(add, f"{name}_bf16_{generator}", shape, "bf16", "bf16", "f32", "f32", others[i], generator=generator)
        row(add, f"m16n16k8_tf32_{generator}", (16, 16, 8), "tf32", "tf32", "f32", "f32", generator=generator)
