# SPDX-License-Identifier: Apache-2.0
"""Chapters mma and ldmatrix: what sm_90 executes."""

HOWS = ["normal", "mixed", "spread", "integers"]


def mma(add, shape, d, a, b, c, regs, hows, layout="row.col", op="", suffix="", pre=""):
    """regs: registers of a, b, c and d. a, b: element types; types of registers from regs."""
    na, nb, nc = regs
    names = lambda n, count: "{" + ", ".join(f"{n}{i}" for i in range(count)) + "}"
    opcode = f"mma.sync.aligned.{shape}.{layout}{pre}.{d}.{a}.{b}.{c}{op}"
    body = f"{opcode}\n{names('d', nc)}, {names('a', na)}, {names('b', nb)}, {names('c', nc)};"
    for how in hows:
        ins = ", ".join(f"{n} {register(t)}[{count}] {'mixed' if how == 'mixed' else how}"
                        for n, t, count in (("a", a, na), ("b", b, nb), ("c", c, nc)))
        kind = "" if layout == "row.col" else "_" + layout.replace(".", "_")
        extra = (pre + op).replace(".", "_")
        add(f"mma/mma_{shape}{kind}{extra}_{d}_{a}_{b}_{c}{suffix}" +
            ("" if len(hows) == 1 else "_" + how), body, ins, f"d {register(d)}[{nc}]", opcode,
            trials=8)


def register(t):
    """The operand type of one register of fragments with elements t."""
    return {"f16": "f16x2", "bf16": "bf16x2", "e4m3": "e4m3x4", "e5m2": "e5m2x4", "s8": "s8x4",
            "u8": "u8x4", "s4": "s4x8", "u4": "u4x8", "b1": "b1x32"}.get(t, t)


def floating(add):
    for d in ("f32", "f16"):
        k16, k8 = ((4, 2, 4), (2, 1, 4)) if d == "f32" else ((4, 2, 2), (2, 1, 2))
        mma(add, "m16n8k16", d, "f16", "f16", d, k16, HOWS)
        mma(add, "m16n8k8", d, "f16", "f16", d, k8, HOWS)
    mma(add, "m16n8k16", "f32", "bf16", "bf16", "f32", (4, 2, 4), HOWS)
    mma(add, "m16n8k8", "f32", "bf16", "bf16", "f32", (2, 1, 4), HOWS)
    mma(add, "m16n8k8", "f32", "tf32", "tf32", "f32", (4, 2, 4), HOWS)
    mma(add, "m16n8k4", "f32", "tf32", "tf32", "f32", (2, 1, 4), HOWS)
    for layout in ("row.col", "row.row", "col.col", "col.row"):
        hows = ["normal", "mixed"] if layout == "row.col" else ["normal"]
        mma(add, "m8n8k4", "f32", "f16", "f16", "f32", (2, 2, 8), hows, layout)
        mma(add, "m8n8k4", "f16", "f16", "f16", "f16", (2, 2, 4), hows, layout)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            hows = HOWS if a == b else ["normal", "mixed"]
            mma(add, "m16n8k32", "f32", a, b, "f32", (4, 2, 4), hows)
            mma(add, "m16n8k16", "f32", a, b, "f32", (2, 1, 4), ["normal", "mixed"])
            mma(add, "m16n8k32", "f16", a, b, "f16", (4, 2, 2), ["normal", "mixed"])
            mma(add, "m16n8k16", "f16", a, b, "f16", (2, 1, 2), ["normal"])


def doubles(add):
    for shape, regs in (("m8n8k4", (1, 1, 2)), ("m16n8k4", (2, 1, 4)), ("m16n8k8", (4, 2, 4)),
                        ("m16n8k16", (8, 4, 4))):
        for how in ("normal", "spread", "finite"):
            one_double(add, shape, regs, how)
    for r in ("rz", "rm", "rp"):
        one_double(add, "m8n8k4", (1, 1, 2), "normal", "." + r)


def one_double(add, shape, regs, how, rounding=""):
    na, nb, nc = regs
    names = lambda n, count: "{" + ", ".join(f"{n}{i}" for i in range(count)) + "}"
    opcode = f"mma.sync.aligned.{shape}.row.col{rounding}.f64.f64.f64.f64"
    add(f"mma/mma_{shape}{rounding.replace('.', '_')}_f64_{how}",
        f"{opcode}\n{names('d', nc)}, {names('a', na)}, {names('b', nb)}, {names('c', nc)};",
        f"a f64[{na}] {how}, b f64[{nb}] {how}, c f64[{nc}] {how}", f"d f64[{nc}]", opcode, trials=4,
        nan="any")


def integers(add):
    for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")):
        for shape, regs in (("m8n8k16", (1, 1, 2)), ("m16n8k16", (2, 1, 4)), ("m16n8k32", (4, 2, 4))):
            mma(add, shape, "s32", a, b, "s32", regs, ["bits"])
        mma(add, "m16n8k32", "s32", a, b, "s32", (4, 2, 4), ["edge"], pre=".satfinite")
    for a, b in (("s4", "s4"), ("u4", "u4"), ("s4", "u4"), ("u4", "s4")):
        for shape, regs in (("m8n8k32", (1, 1, 2)), ("m16n8k32", (2, 1, 4)), ("m16n8k64", (4, 2, 4))):
            mma(add, shape, "s32", a, b, "s32", regs, ["bits"])
        mma(add, "m16n8k64", "s32", a, b, "s32", (4, 2, 4), ["edge"], pre=".satfinite")
    for shape, regs in (("m8n8k128", (1, 1, 2)), ("m16n8k128", (2, 1, 4)), ("m16n8k256", (4, 2, 4))):
        for op in (".and.popc", ".xor.popc"):
            mma(add, shape, "s32", "b1", "b1", "s32", regs, ["bits"], op=op)


def matrix_loads(add):
    rows = {1: "and.b32 i, i, 7;", 2: "and.b32 i, i, 15;", 4: ""}
    for n in (1, 2, 4):
        regs = "{" + ", ".join(f"d{i}" for i in range(n)) + "}"
        for trans in ("", ".trans"):
            suffix = trans.replace(".", "_")
            # Rows lie in another order than the lanes that point to them.
            point = f"""
                .reg .u32 i, p;
                mov.u32 i, %tid.x;
                mul.lo.u32 i, i, 5;
                add.u32 i, i, 3;
                and.b32 i, i, 31;
                {rows[n]}
                mov.u32 p, m;
                mad.lo.u32 p, i, 16, p;
                """
            add(f"ldmatrix/ldmatrix_x{n}{suffix}_b16", point +
                f"ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {regs}, [p];", "", f"d b32[{n}]",
                trials=2, shared="m b16[256] bits")
            store = point.replace("mul.lo.u32 i, i, 5;", "").replace("add.u32 i, i, 3;", "")
            source = regs.replace("d", "a")
            add(f"ldmatrix/stmatrix_x{n}{suffix}_b16", store +
                f"stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 [p], {source};",
                f"a b32[{n}] bits", "", trials=2, shared="m b16[256]")
    add("ldmatrix/ldmatrix_x4_padded_rows", """
        .reg .u32 i, p;
        mov.u32 i, %tid.x;
        mov.u32 p, m;
        mad.lo.u32 p, i, 48, p;
        ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {d0, d1, d2, d3}, [p];
        """, "", "d b32[4]", trials=2, shared="m b16[768] bits")
    add("ldmatrix/movmatrix_b16", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;", "a b32 bits",
        "d b32", trials=4)


def chains(add):
    add("mma/mma_chain_of_four", """
        mov.b32 d0, c0;
        mov.b32 d1, c1;
        mov.b32 d2, c2;
        mov.b32 d3, c3;
        """ + "\n".join(
            f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{d0, d1, d2, d3}}, {{a{i}, a{i + 1}, "
            f"a{i + 2}, a{i + 3}}}, {{b{i}, b{i + 1}}}, {{d0, d1, d2, d3}};" for i in range(4)),
        "a f16x2[7] normal, b f16x2[5] normal, c f32[4] normal", "d f32[4]",
        "The accumulator of one is the addend of the next.", trials=8)


def forms(add):
    floating(add)
    doubles(add)
    integers(add)
    matrix_loads(add)
    chains(add)
