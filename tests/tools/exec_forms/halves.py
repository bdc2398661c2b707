# SPDX-License-Identifier: Apache-2.0
"""Chapter half_arith: f16, bf16 and their packed forms."""
from . import flat

FOUR = ["f16", "f16x2", "bf16", "bf16x2"]


def put(add, opcode, ins, outs, suffix="", **options):
    names = [item.split()[0] for item in ins.split(",")]
    add("half_arith/" + flat(opcode) + suffix, f"{opcode} {outs.split()[0]}, {', '.join(names)};",
        ins, outs, **options)


def forms(add):
    for t in FOUR:
        is_f16 = t.startswith("f16")
        for op in ("add", "sub", "mul"):
            put(add, f"{op}.{t}", f"a {t}, b {t}", f"d {t}")
            put(add, f"{op}.rn.{t}", f"a {t} normal, b {t} normal", f"d {t}")
            if is_f16:
                put(add, f"{op}.rn.ftz.{t}", f"a {t}, b {t}", f"d {t}")
                put(add, f"{op}.sat.{t}", f"a {t}, b {t}", f"d {t}")
        put(add, f"fma.rn.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
        put(add, f"fma.rn.{t}", f"a {t} normal, b {t} normal, c {t} normal", f"d {t}", "_normal")
        put(add, f"fma.rn.relu.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
        if is_f16:
            put(add, f"fma.rn.ftz.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
            put(add, f"fma.rn.sat.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
            put(add, f"fma.rn.ftz.sat.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
            put(add, f"fma.rn.ftz.relu.{t}", f"a {t}, b {t}, c {t}", f"d {t}")
        for op in ("neg", "abs"):
            put(add, f"{op}.{t}", f"a {t}", f"d {t}", nan="any")
            if is_f16:
                put(add, f"{op}.ftz.{t}", f"a {t}", f"d {t}", nan="any")
        for op in ("min", "max"):
            for mods in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                put(add, f"{op}{mods}.{t}", f"a {t}, b {t} near a", f"d {t}")
            if is_f16:
                put(add, f"{op}.ftz.{t}", f"a {t}, b {t} near a", f"d {t}")
                put(add, f"{op}.ftz.NaN.{t}", f"a {t}, b {t} near a", f"d {t}")
        put(add, f"tanh.approx.{t}", f"a {t}", f"d {t}")
        ex2 = f"ex2.approx.{t}" if is_f16 else f"ex2.approx.ftz.{t}"
        put(add, ex2, f"a {t}", f"d {t}")
        put(add, ex2, f"a {t} normal", f"d {t}", "_normal")
