# SPDX-License-Identifier: Apache-2.0
"""Chapters integer_arith and extended_precision."""
from . import flat

SIX = ["s16", "u16", "s32", "u32", "s64", "u64"]
WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


def two(add, opcode, t, d=None, body=None, second="mixed"):
    add("integer_arith/" + flat(opcode), body or f"{opcode} d, a, b;", f"a {t}, b {t} {second}",
        f"d {d or t}")


def one(add, opcode, t, d=None):
    add("integer_arith/" + flat(opcode), f"{opcode} d, a;", f"a {t}", f"d {d or t}")


def arithmetic(add):
    for t in SIX:
        two(add, f"add.{t}", t)
        two(add, f"sub.{t}", t)
        two(add, f"mul.lo.{t}", t)
        two(add, f"mul.hi.{t}", t)
        two(add, f"min.{t}", t, second="near a")
        two(add, f"max.{t}", t, second="near a")
        # By zero is undefined; the least negative number by -1 is not.
        safe = f"or.b{t[1:]} b, b, 1;\n"
        two(add, f"div.{t}", t, body=safe + f"div.{t} d, a, b;")
        two(add, f"rem.{t}", t, body=safe + f"rem.{t} d, a, b;")
        for half in ("lo", "hi"):
            op = f"mad.{half}.{t}"
            add("integer_arith/" + flat(op), f"{op} d, a, b, c;", f"a {t}, b {t}, c {t}", f"d {t}")
        add(f"integer_arith/sad_{t}", f"sad.{t} d, a, b, c;", f"a {t}, b {t} near a, c {t}",
            f"d {'u' + t[1:]}")
    for t, d in WIDE.items():
        two(add, f"mul.wide.{t}", t, d)
        add(f"integer_arith/mad_wide_{t}", f"mad.wide.{t} d, a, b, c;", f"a {t}, b {t}, c {d}",
            f"d {d}")
    for op in ("add.sat.s32", "sub.sat.s32"):
        two(add, op, "s32")
    add("integer_arith/mad_hi_sat_s32", "mad.hi.sat.s32 d, a, b, c;", "a s32, b s32, c s32",
        "d s32")
    for t in ("s16", "s32", "s64"):
        one(add, f"abs.{t}", t)
        one(add, f"neg.{t}", t)


def packed(add):
    for t in ("s16", "u16"):
        for op in ("add", "min", "max"):
            two(add, f"{op}.{t}x2", f"{t}x2")
    for op in ("min.relu.s16x2", "max.relu.s16x2"):
        two(add, op, "s16x2")
    for op in ("min.relu.s32", "max.relu.s32"):
        two(add, op, "s32", second="near a")


def of_24_bits(add):
    for t in ("s32", "u32"):
        for half in ("lo", "hi"):
            two(add, f"mul24.{half}.{t}", t)
            op = f"mad24.{half}.{t}"
            add("integer_arith/" + flat(op), f"{op} d, a, b, c;", f"a {t}, b {t}, c {t}", f"d {t}")
    add("integer_arith/mad24_hi_sat_s32", "mad24.hi.sat.s32 d, a, b, c;", "a s32, b s32, c s32",
        "d s32")


def bits(add):
    for t in ("b32", "b64"):
        one(add, f"popc.{t}", t, "u32")
        one(add, f"clz.{t}", t, "u32")
        one(add, f"brev.{t}", t)
        add(f"integer_arith/bfi_{t}", f"bfi.{t} d, a, b, p, n;",
            f"a {t} bits, b {t} bits, p u32 0..80, n u32 0..80", f"d {t}",
            "Position and length up to and beyond the width.")
    for t in ("s32", "u32", "s64", "u64"):
        one(add, f"bfind.{t}", t, "u32")
        one(add, f"bfind.shiftamt.{t}", t, "u32")
        add(f"integer_arith/bfe_{t}", f"bfe.{t} d, a, p, n;",
            f"a {t} bits, p u32 0..80, n u32 0..80", f"d {t}",
            "Position and length up to and beyond the width.")
        if t.endswith("64"):
            continue  # what lies beyond 255 is not defined, and only the 32-bit forms mask it
        add(f"integer_arith/bfe_{t}_large", f"bfe.{t} d, a, p, n;",
            f"a {t} bits, p u32, n u32", f"d {t}", "Only the low byte of position and length counts.")
    add("integer_arith/fns_b32", "fns.b32 d, mask, base, offset;",
        "mask b32 bits, base u32 0..31, offset s32 -33..33", "d b32")
    add("integer_arith/fns_b32_sparse", "fns.b32 d, mask, base, offset;",
        "mask b32 edge, base u32 0..31, offset s32 -3..3", "d b32")
    for mode in ("clamp", "wrap"):
        add(f"integer_arith/bmsk_{mode}_b32", f"bmsk.{mode}.b32 d, a, b;",
            "a u32 0..70, b u32 0..70", "d b32")
        for t in ("s32", "u32"):
            add(f"integer_arith/szext_{mode}_{t}", f"szext.{mode}.{t} d, a, b;",
                f"a {t} bits, b u32 0..70", f"d {t}")


def dot_products(add):
    for a in ("s32", "u32"):
        for b in ("s32", "u32"):
            d = "u32" if a == b == "u32" else "s32"
            add(f"integer_arith/dp4a_{a}_{b}", f"dp4a.{a}.{b} d, a, b, c;",
                f"a {a} bits, b {b} bits, c {d}", f"d {d}")
            for half in ("lo", "hi"):
                add(f"integer_arith/dp2a_{half}_{a}_{b}", f"dp2a.{half}.{a}.{b} d, a, b, c;",
                    f"a {a} bits, b {b} bits, c {d}", f"d {d}")


def extended(add):
    for t in ("s32", "u32", "s64", "u64"):
        ins = f"a0 {t}, a1 {t}, a2 {t}, b0 {t}, b1 {t}, b2 {t}"
        outs = f"d0 {t}, d1 {t}, d2 {t}"
        for op in ("add", "sub"):
            add(f"extended_precision/{op}_cc_{t}",
                f"{op}.cc.{t} d0, a0, b0;\n{op}c.cc.{t} d1, a1, b1;\n{op}c.{t} d2, a2, b2;",
                ins, outs, "Three words: carry out, carry in and out, carry in.")
        for half in ("lo", "hi"):
            add(f"extended_precision/mad_{half}_cc_{t}",
                f"mad.{half}.cc.{t} d0, a0, b0, b2;\nmadc.{half}.cc.{t} d1, a1, b1, a2;\n"
                f"madc.{half}.{t} d2, a2, b2, b1;", ins, outs)
    add("extended_precision/mul_u64_by_u64", """
        mul.lo.u64 d0, a, b;
        mul.hi.u64 d1, a, b;
        mad.lo.cc.u64 d0, c, c, d0;
        madc.hi.u64 d1, c, c, d1;
        """, "a u64, b u64, c u64", "d0 u64, d1 u64", "a*b + c*c in 128 bits.")
    add("extended_precision/carry_survives_other_instructions", """
        add.cc.u32 d0, a, b;
        xor.b32 d1, a, b;
        addc.u32 d2, 0, 0;
        """, "a u32, b u32", "d0 u32, d1 u32, d2 u32")


def forms(add):
    arithmetic(add)
    packed(add)
    of_24_bits(add)
    bits(add)
    dot_products(add)
    extended(add)
