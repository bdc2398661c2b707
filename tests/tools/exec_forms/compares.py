# SPDX-License-Identifier: Apache-2.0
"""Chapters compare_select and half_compare."""

SIGNED = ["eq", "ne", "lt", "le", "gt", "ge"]
UNSIGNED = SIGNED + ["lo", "ls", "hi", "hs"]
FLOAT = SIGNED + ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def comparisons(t):
    if t.startswith("b") and not t.startswith("bf"):
        return ["eq", "ne"]
    return {"s": SIGNED, "u": UNSIGNED}.get(t[0], FLOAT)


def every(add, name, opcode, t, dest="pred"):
    """All comparisons of a type in one test, each into its own output."""
    ops = comparisons(t)
    outs = ", ".join(f"d_{op} {dest}" for op in ops)
    body = "\n".join(f"{opcode.format(op)} d_{op}, a, b;" for op in ops)
    add(name, body, f"a {t}, b {t} near a", outs, f"Every comparison of {t}.")


def setp(add):
    for t in ("s32", "f32", "f64"):
        for op in comparisons(t):
            add(f"compare_select/setp_{op}_{t}", f"setp.{op}.{t} p, a, b;",
                f"a {t}, b {t} near a", "p pred")
    for t in ("s16", "u16", "u32", "s64", "u64", "b16", "b32", "b64"):
        every(add, f"compare_select/setp_all_{t}", "setp.{}." + t, t)
    every(add, "compare_select/setp_all_ftz_f32", "setp.{}.ftz.f32", "f32")
    add("compare_select/setp_ftz_subnormal_f32", "setp.eq.ftz.f32 p, a, b;\nsetp.lt.ftz.f32 q, a, b;",
        "a f32 subnormal, b f32 subnormal", "p pred, q pred")
    for t in ("s32", "f32"):
        for op in ("and", "or", "xor"):
            add(f"compare_select/setp_lt_{op}_{t}", f"setp.lt.{op}.{t} p|q, a, b, c;",
                f"a {t}, b {t} near a, c pred", "p pred, q pred",
                "The second destination gets the complement, combined with the same predicate.")
    add("compare_select/setp_gt_and_not_u64", "setp.gt.and.u64 p|q, a, b, !c;",
        "a u64, b u64 near a, c pred", "p pred, q pred")
    add("compare_select/setp_nan_or_f64", "setp.nan.or.f64 p|q, a, b, c;",
        "a f64 edge, b f64 edge, c pred", "p pred, q pred")


def set_(add):
    for t in ("s32", "u16", "f32", "f64"):
        every(add, f"compare_select/set_all_u32_{t}", "set.{}.u32." + t, t, "u32")
    for d in ("u32", "s32", "f32"):
        for t in ("s16", "u16", "b16", "b32", "u32", "s32", "s64", "u64", "b64", "f32", "f64"):
            add(f"compare_select/set_ne_{d}_{t}", f"set.ne.{d}.{t} d, a, b;",
                f"a {t}, b {t} near a", f"d {d}")
    for op in ("and", "or", "xor"):
        add(f"compare_select/set_le_{op}_f32_f32", f"set.le.{op}.f32.f32 d, a, b, c;",
            "a f32, b f32 near a, c pred", "d f32")
    add("compare_select/set_ltu_ftz_f32_f32", "set.ltu.ftz.f32.f32 d, a, b;",
        "a f32, b f32 near a", "d f32")
    add("compare_select/set_hi_and_not_u32_u32", "set.hi.and.u32.u32 d, a, b, !c;",
        "a u32, b u32 near a, c pred", "d u32")


def select(add):
    for t in ("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64"):
        add(f"compare_select/selp_{t}", f"selp.{t} d, a, b, p;", f"a {t}, b {t}, p pred", f"d {t}")
    for t in ("b16", "b32", "b64", "s32", "f32", "f64"):
        add(f"compare_select/slct_{t}_s32", f"slct.{t}.s32 d, a, b, c;", f"a {t}, b {t}, c s32",
            f"d {t}")
        add(f"compare_select/slct_{t}_f32", f"slct.{t}.f32 d, a, b, c;", f"a {t}, b {t}, c f32",
            f"d {t}")
    add("compare_select/slct_ftz_u32_f32", "slct.ftz.u32.f32 d, a, b, c;",
        "a u32, b u32, c f32 subnormal", "d u32")


def halves(add):
    for t in ("f16", "bf16"):
        every(add, f"half_compare/setp_all_{t}", "setp.{}." + t, t)
        for op in ("lt", "equ", "nan"):
            add(f"half_compare/setp_{op}_{t}x2", f"setp.{op}.{t}x2 p|q, a, b;",
                f"a {t}x2, b {t}x2 near a", "p pred, q pred")
        for op in ("and", "or", "xor"):
            add(f"half_compare/setp_ge_{op}_{t}", f"setp.ge.{op}.{t} p, a, b, c;",
                f"a {t}, b {t} near a, c pred", "p pred")
        add(f"half_compare/setp_ge_and_{t}x2", f"setp.ge.and.{t}x2 p|q, a, b, c;",
            f"a {t}x2, b {t}x2 near a, c pred", "p pred, q pred")
        for d in (t, "u16", "s16", "u32", "s32"):
            add(f"half_compare/set_lt_{d}_{t}", f"set.lt.{d}.{t} d, a, b;",
                f"a {t}, b {t} near a", f"d {d}")
        add(f"half_compare/set_gtu_{t}x2_{t}x2", f"set.gtu.{t}x2.{t}x2 d, a, b;",
            f"a {t}x2, b {t}x2 near a", f"d {t}x2")
    add("half_compare/set_lt_ftz_f16_f16", "set.lt.ftz.f16.f16 d, a, b;",
        "a f16 subnormal, b f16 subnormal", "d f16")
    add("half_compare/setp_eq_ftz_f16x2", "setp.eq.ftz.f16x2 p|q, a, b;",
        "a f16x2 subnormal, b f16x2 subnormal", "p pred, q pred")


def forms(add):
    setp(add)
    set_(add)
    select(add)
    halves(add)
