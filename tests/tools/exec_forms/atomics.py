# SPDX-License-Identifier: Apache-2.0
"""Chapter atomics. The order of threads is free, so each old value is looked at where every thread has
a place of its own, and contended places only where every order gives the same end."""
from . import flat

ADDRESS = {
    "global": "mov.u32 i, %tid.x;\nmul.wide.u32 o, i, {0};\nadd.u64 p, m, o;",
    "shared": "mov.u32 i, %tid.x;\nmul.wide.u32 o, i, {0};\nmov.u64 p, m;\nadd.u64 p, p, o;",
}
KIND = {"global": "global_", "shared": "shared"}
# operation, type, generator of the memory, generator of the operand
OPERATIONS = [
    ("add", "u32", "", ""), ("add", "s32", "", ""), ("add", "u64", "", ""),
    ("add", "f32", "", ""), ("add", "f64", "", ""),
    ("inc", "u32", "0..9", "0..9"), ("dec", "u32", "0..9", "0..9"),
    ("min", "s32", "", ""), ("max", "s32", "", ""), ("min", "u32", "", ""), ("max", "u32", "", ""),
    ("min", "s64", "", ""), ("max", "s64", "", ""), ("min", "u64", "", ""), ("max", "u64", "", ""),
    ("and", "b32", "bits", "bits"), ("or", "b32", "bits", "bits"), ("xor", "b32", "bits", "bits"),
    ("and", "b64", "bits", "bits"), ("or", "b64", "bits", "bits"), ("xor", "b64", "bits", "bits"),
    ("exch", "b32", "bits", "bits"), ("exch", "b64", "bits", "bits"),
]
PACKED = ["f16", "f16x2", "bf16", "bf16x2"]


def size(t):
    if t == "b128":
        return 16
    base, _, n = t.partition("x")
    bits = int(base.lstrip("bfsu"))
    return bits * int(n or 1) // 8


def place(space, t):
    return ".reg .u32 i;\n.reg .u64 o, p;\n" + ADDRESS[space].format(size(t)) + "\n"


def memory(t, generator, count=32):
    return f"m {t}[{count}] {generator or 'mixed'}"


def each_its_own(add):
    for space in ("global", "shared"):
        for op, t, first, second in OPERATIONS:
            nan = {"nan": "any"} if t == "f64" else {}
            name = f"atomics/atom_{space}_{op}_{t}"
            add(name, place(space, t) + f"atom.{space}.{op}.{t} d, [p], a;", f"a {t} {second}".strip(),
                f"d {t}", trials=4, **{KIND[space]: memory(t, first)}, **nan)
        for t in ("b16", "b32", "b64"):
            add(f"atomics/atom_{space}_cas_{t}",
                place(space, t) + f"atom.{space}.cas.{t} d, [p], a, b;", f"a {t} 0..2, b {t} bits",
                f"d {t}", trials=4, **{KIND[space]: memory(t, "0..2")})
        add(f"atomics/atom_{space}_exch_b128",
            place(space, "b128") + f"atom.{space}.exch.b128 d, [p], a;", "a b128 bits", "d b128",
            trials=2, **{KIND[space]: memory("b128", "bits")})
        add(f"atomics/atom_{space}_cas_b128",
            place(space, "b128") + f".reg .b128 c;\nld.{space}.b128 c, [p];\n"
            f"atom.{space}.cas.b128 d, [p], c, a;", "a b128 bits", "d b128", trials=2,
            **{KIND[space]: memory("b128", "bits")})
        for t in PACKED:
            add(f"atomics/atom_{space}_add_noftz_{t}",
                place(space, t) + f"atom.{space}.add.noftz.{t} d, [p], a;", f"a {t}", f"d {t}",
                trials=4, **{KIND[space]: memory(t, "")})


def reductions(add):
    for space in ("global", "shared"):
        for op, t, first, second in OPERATIONS:
            if op == "exch":
                continue
            nan = {"nan": "any"} if t == "f64" else {}
            add(f"atomics/red_{space}_{op}_{t}", place(space, t) + f"red.{space}.{op}.{t} [p], a;",
                f"a {t} {second}".strip(), "", trials=4, **{KIND[space]: memory(t, first)}, **nan)
        for t in PACKED:
            add(f"atomics/red_{space}_add_noftz_{t}",
                place(space, t) + f"red.{space}.add.noftz.{t} [p], a;", f"a {t}", "", trials=4,
                **{KIND[space]: memory(t, "")})


def contended(add):
    """Thirty-two threads on two places."""
    two = ".reg .u32 i;\n.reg .u64 o, p;\nmov.u32 i, %tid.x;\nand.b32 i, i, 1;\n" \
          "mul.wide.u32 o, i, {0};\n{1}add.u64 p, {2}, o;\n"
    for space in ("global", "shared"):
        for op, t, first, second in OPERATIONS:
            if op in ("exch", "inc", "dec"):
                continue
            # Sums of small integers are exact, so floats too have one end in every order.
            how = "integers" if t.startswith("f") else second
            count = 16 // size(t)
            address = two.format(size(t), "" if space == "global" else "mov.u64 p, m;\n",
                                 "m" if space == "global" else "p")
            add(f"atomics/red_{space}_{op}_{t}_contended", address + f"red.{space}.{op}.{t} [p], a;",
                f"a {t} {how}".strip(), "", trials=4,
                **{KIND[space]: memory(t, how, count)})
    add("atomics/atom_add_counts_each_thread_once", """
        .reg .u32 old, q;
        atom.global.add.u32 old, [m], 1;
        mul.lo.u32 q, old, 4;
        .reg .u64 p;
        cvt.u64.u32 p, q;
        add.u64 p, p, m;
        add.u32 old, old, 100;
        st.global.u32 [p+16], old;
        """, "", "", "Old values of one counter are 0 to 31 in some order.", trials=4,
        global_="m b32[36]")
    add("atomics/atom_inc_wraps_u32", """
        .reg .u32 old;
        atom.shared.inc.u32 old, [m], 6;
        red.shared.add.u32 [m+4], old;
        """, "", "", "32 increments that wrap at 6, and the sum of the old values.", trials=2,
        shared="m b32[4]")
    add("atomics/atom_cas_spin_lock", """
        .reg .u32 old, x, open;
        .reg .pred mine, waits;
        mov.u32 open, 1;
        again:
        atom.shared.cas.b32 old, [m], 0, 1;
        setp.eq.u32 mine, old, 0;
        @!mine bra next;
        ld.volatile.shared.u32 x, [m+4];
        add.u32 x, x, 3;
        st.volatile.shared.u32 [m+4], x;
        membar.cta;
        atom.shared.exch.b32 old, [m], 0;
        mov.u32 open, 0;
        next:
        setp.ne.u32 waits, open, 0;
        @waits bra again;
        """, "", "", "Lanes of one warp take a lock one after the other.", trials=2,
        shared="m b32[4]")


def qualified(add):
    for q in ("relaxed.cta", "acquire.cta", "release.gpu", "acq_rel.gpu", "acq_rel.sys", "relaxed.cluster",
              "acquire.sys"):
        add("atomics/atom_" + q.replace(".", "_") + "_global_add_u32",
            place("global", "u32") + f"atom.{q}.global.add.u32 d, [p], a;", "a u32", "d u32",
            trials=1, global_=memory("u32", ""))
    for q in ("relaxed.cta", "release.cta", "release.gpu", "relaxed.sys"):
        add("atomics/red_" + q.replace(".", "_") + "_global_max_s32",
            place("global", "s32") + f"red.{q}.global.max.s32 [p], a;", "a s32", "", trials=1,
            global_=memory("s32", ""))
    add("atomics/atom_generic_of_shared_add_u32",
        place("shared", "u32") + "cvta.shared.u64 p, p;\natom.add.u32 d, [p], a;", "a u32", "d u32",
        trials=2, shared=memory("u32", ""))
    add("atomics/red_generic_of_global_xor_b64",
        place("global", "b64") + "red.xor.b64 [p], a;", "a b64", "", trials=2,
        global_=memory("b64", ""))
    add("atomics/atom_sink_add_u32", place("global", "u32") + "atom.global.add.u32 _, [p], a;",
        "a u32", "", trials=1, global_=memory("u32", ""))
    add("atomics/atom_predicated_add_u32", place("global", "u32") +
        "mov.u32 d, 0;\n@q atom.global.add.u32 d, [p], a;", "a u32, q pred", "d u32", trials=2,
        global_=memory("u32", ""))


def vectors(add):
    """Vector operands of sm_90: each element is atomic on its own."""
    for t, n, vec in (("f32", 2, "v2"), ("f32", 4, "v4"), ("f16", 2, "v2"), ("f16", 4, "v4"),
                      ("f16", 8, "v8"), ("bf16", 2, "v2"), ("bf16", 8, "v8"), ("f16x2", 2, "v2"),
                      ("f16x2", 4, "v4"), ("bf16x2", 4, "v4")):
        noftz = ".noftz" if t != "f32" else ""
        ops = ("add",) if t == "f32" else ("add", "min", "max")
        for op in ops:
            for name in ("atom", "red"):
                a = "{" + ", ".join(f"a{i}" for i in range(n)) + "}"
                d = "{" + ", ".join(f"d{i}" for i in range(n)) + "}"
                opcode = f"{name}.global.{op}{noftz}.{vec}.{t}"
                body = ".reg .u32 i;\n.reg .u64 o, p;\n" + ADDRESS["global"].format(size(t) * n)
                body += f"\n{opcode} {d + ', ' if name == 'atom' else ''}[p], {a};"
                add("atomics/" + flat(opcode), body, f"a {t}[{n}]",
                    f"d {t}[{n}]" if name == "atom" else "", trials=2,
                    global_=memory(t, "", 32 * n))


def forms(add):
    each_its_own(add)
    reductions(add)
    contended(add)
    qualified(add)
    vectors(add)
