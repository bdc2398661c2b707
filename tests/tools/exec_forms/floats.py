# SPDX-License-Identifier: Apache-2.0
"""Chapter float_arith: f32 and f64."""
from . import flat

ROUNDINGS = ["rn", "rz", "rm", "rp"]


def put(add, opcode, ins, outs, suffix="", desc="", **options):
    names = [item.split()[0] for item in ins.split(",")]
    dest = outs.split()[0]
    # What NaN an f64 instruction gives is not specified.
    if "f64" in opcode:
        options.setdefault("nan", "any")
    add("float_arith/" + flat(opcode) + suffix, f"{opcode} {dest}, {', '.join(names)};", ins, outs,
        desc, **options)


def add_mul_fma(add):
    for ftz in ("", ".ftz"):
        for r in ROUNDINGS:
            put(add, f"add.{r}{ftz}.f32", "a f32, b f32", "d f32")
            put(add, f"mul.{r}{ftz}.f32", "a f32, b f32", "d f32")
            put(add, f"fma.{r}{ftz}.f32", "a f32, b f32, c f32", "d f32")
        put(add, f"sub.rn{ftz}.f32", "a f32, b f32 near a", "d f32")
        put(add, f"add{ftz}.sat.f32", "a f32, b f32", "d f32")
        put(add, f"mul{ftz}.sat.f32", "a f32, b f32", "d f32")
        put(add, f"fma.rn{ftz}.sat.f32", "a f32, b f32, c f32", "d f32")
    for r in ROUNDINGS:
        put(add, f"sub.{r}.f32" if r != "rn" else "sub.f32", "a f32, b f32 near a", "d f32")
        put(add, f"add.{r}.f64", "a f64, b f64", "d f64")
        put(add, f"sub.{r}.f64", "a f64, b f64 near a", "d f64")
        put(add, f"mul.{r}.f64", "a f64, b f64", "d f64")
        put(add, f"fma.{r}.f64", "a f64, b f64, c f64", "d f64")
        put(add, f"add.{r}.f32", "a f32 spread, b f32 halfway", "d f32", "_halfway")
        put(add, f"fma.{r}.f32", "a f32 normal, b f32 normal, c f32 normal", "d f32", "_normal",
            "Operands of one magnitude: cancellation and double rounding.")
        put(add, f"fma.{r}.f32", "a f32 subnormal, b f32 normal, c f32 subnormal", "d f32",
            "_subnormal")
        put(add, f"fma.{r}.f64", "a f64 normal, b f64 normal, c f64 normal", "d f64", "_normal")
    put(add, "add.f32", "a f32, b f32", "d f32")
    put(add, "mul.f32", "a f32, b f32", "d f32")
    put(add, "mad.rn.f32", "a f32, b f32, c f32", "d f32")
    put(add, "mad.rz.f64", "a f64, b f64, c f64", "d f64")


def division_and_roots(add):
    for r in ROUNDINGS:
        for t in ("f32", "f64"):
            put(add, f"div.{r}.{t}", f"a {t}, b {t}", f"d {t}")
            put(add, f"rcp.{r}.{t}", f"a {t}", f"d {t}")
            put(add, f"sqrt.{r}.{t}", f"a {t}", f"d {t}")
            put(add, f"div.{r}.{t}", f"a {t} normal, b {t} normal", f"d {t}", "_normal")
        put(add, f"sqrt.{r}.f32", "a f32 0..1000", "d f32", "_positive")
        put(add, f"sqrt.{r}.f64", "a f64 0..1000", "d f64", "_positive")
    put(add, "div.rn.ftz.f32", "a f32, b f32", "d f32")
    put(add, "rcp.rn.ftz.f32", "a f32", "d f32")
    put(add, "sqrt.rn.ftz.f32", "a f32", "d f32")


def approximate(add):
    """The multi-function unit, bit for bit."""
    put(add, "rcp.approx.f32", "a f32", "d f32")
    put(add, "rcp.approx.ftz.f32", "a f32", "d f32")
    put(add, "sqrt.approx.f32", "a f32", "d f32")
    put(add, "sqrt.approx.ftz.f32", "a f32 0..1e30", "d f32")
    put(add, "rsqrt.approx.f32", "a f32", "d f32")
    put(add, "rsqrt.approx.ftz.f32", "a f32 0..1e30", "d f32")
    put(add, "div.approx.f32", "a f32 spread, b f32 spread", "d f32")
    put(add, "div.approx.ftz.f32", "a f32 spread, b f32 spread", "d f32")
    put(add, "div.full.f32", "a f32 spread, b f32 spread", "d f32")
    put(add, "div.full.ftz.f32", "a f32 spread, b f32 spread", "d f32")
    put(add, "ex2.approx.f32", "a f32 -150..130", "d f32")
    put(add, "ex2.approx.f32", "a f32 edge", "d f32", "_edge")
    put(add, "ex2.approx.ftz.f32", "a f32 -150..130", "d f32")
    put(add, "lg2.approx.f32", "a f32 0..4", "d f32")
    put(add, "lg2.approx.f32", "a f32 subnormal", "d f32", "_subnormal")
    put(add, "lg2.approx.ftz.f32", "a f32 0..4", "d f32")
    put(add, "lg2.approx.ftz.f32", "a f32 edge", "d f32", "_edge")
    put(add, "sin.approx.f32", "a f32 -20..20", "d f32")
    put(add, "sin.approx.ftz.f32", "a f32 -20..20", "d f32")
    put(add, "cos.approx.f32", "a f32 -20..20", "d f32")
    put(add, "cos.approx.ftz.f32", "a f32 -20..20", "d f32")
    for name in ("sin", "cos"):
        for ftz in ("", ".ftz"):
            put(add, f"{name}.approx{ftz}.f32", "a f32 edge", "d f32", "_edge")
    put(add, "tanh.approx.f32", "a f32 -5..5", "d f32")
    put(add, "tanh.approx.f32", "a f32 edge", "d f32", "_edge")
    for name in ("rcp", "rsqrt"):
        put(add, f"{name}.approx.ftz.f64", "a f64", "d f64")
        put(add, f"{name}.approx.ftz.f64", "a f64 edge", "d f64", "_edge")


def others(add):
    for t in ("f32", "f64"):
        for ftz in ("", ".ftz") if t == "f32" else ("",):
            put(add, f"abs{ftz}.{t}", f"a {t}", f"d {t}", nan="any")
            put(add, f"neg{ftz}.{t}", f"a {t}", f"d {t}", nan="any")
            for op in ("min", "max"):
                put(add, f"{op}{ftz}.{t}", f"a {t}, b {t} near a", f"d {t}")
                put(add, f"{op}{ftz}.{t}", f"a {t} edge, b {t} edge", f"d {t}", "_edge")
        for kind in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            put(add, f"testp.{kind}.{t}", f"a {t}", "p pred")
        put(add, f"copysign.{t}", f"a {t}, b {t}", f"d {t}")
    for op in ("min", "max"):
        for mods in (".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs",
                     ".ftz.NaN.xorsign.abs"):
            put(add, f"{op}{mods}.f32", "a f32 edge, b f32 near a", "d f32")


def forms(add):
    add_mul_fma(add)
    division_and_roots(add)
    approximate(add)
    others(add)
