# SPDX-License-Identifier: Apache-2.0
"""Chapter convert."""
from . import flat

INTEGERS = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
ROUNDINGS = ["rn", "rz", "rm", "rp"]


def put(add, opcode, source, dest, suffix="", desc="", **options):
    if "f64" in opcode and dest in ("f32", "f64", "f16", "bf16"):
        options.setdefault("nan", "any")
    add("convert/" + flat(opcode) + suffix, f"{opcode} d, a;", f"a {source}", f"d {dest}", desc,
        **options)


def between_integers(add):
    for t in INTEGERS:
        outs = [d for d in INTEGERS if d != t]
        body = "\n".join(f"cvt.{d}.{t} d_{d}, a;" for d in outs)
        add(f"convert/cvt_integers_from_{t}", body, f"a {t}",
            ", ".join(f"d_{d} {d}" for d in outs), f"{t} to every other integer type.")
        body = body.replace("cvt.", "cvt.sat.")
        # .sat only where the destination cannot hold every source value
        keep = [d for d in outs if not holds(d, t)]
        if keep:
            body = "\n".join(f"cvt.sat.{d}.{t} d_{d}, a;" for d in keep)
            add(f"convert/cvt_sat_integers_from_{t}", body, f"a {t}",
                ", ".join(f"d_{d} {d}" for d in keep))


def holds(d, t):
    d_bits, t_bits = int(d[1:]), int(t[1:])
    if d[0] == t[0]:
        return d_bits >= t_bits
    return d[0] == "s" and d_bits > t_bits


def integers_and_floats(add):
    for f in ("f16", "f32", "f64"):
        for r in ROUNDINGS:
            body = "\n".join(f"cvt.{r}.{f}.{t} d_{t}, a_{t};" for t in INTEGERS)
            add(f"convert/cvt_{r}_{f}_from_integers", body,
                ", ".join(f"a_{t} {t}" for t in INTEGERS),
                ", ".join(f"d_{t} {f}" for t in INTEGERS), f"Every integer type to {f}.")
        for r in ("rni", "rzi", "rmi", "rpi"):
            body = "\n".join(f"cvt.{r}.{t}.{f} d_{t}, a;" for t in INTEGERS)
            add(f"convert/cvt_{r}_integers_from_{f}", body, f"a {f}",
                ", ".join(f"d_{t} {t}" for t in INTEGERS),
                f"{f} to every integer type; out of range clamps, NaN is 0 in 32 bits.")
            put(add, f"cvt.{r}.{f}.{f}", f, f, desc="Rounds to an integral value.", nan="any")
            put(add, f"cvt.{r}.s32.{f}", f"{f} -300.0..300.0", "s32", "_small")
    for r in ROUNDINGS:
        put(add, f"cvt.{r}.f32.s64", "s64", "f32")
        put(add, f"cvt.{r}.f64.u64", "u64", "f64")
    put(add, "cvt.rni.ftz.s32.f32", "f32 subnormal", "s32")
    put(add, "cvt.rpi.ftz.s32.f32", "f32 subnormal", "s32")
    put(add, "cvt.rpi.s32.f32", "f32 subnormal", "s32", "_subnormal")
    put(add, "cvt.rpi.ftz.f32.f32", "f32 subnormal", "f32")
    put(add, "cvt.rzi.sat.f32.f32", "f32", "f32")
    for t in INTEGERS[2:]:
        put(add, f"cvt.rn.bf16.{t}", t, "bf16")
        put(add, f"cvt.rzi.{t}.bf16", "bf16", t)


def between_floats(add):
    for r in ROUNDINGS:
        put(add, f"cvt.{r}.f32.f64", "f64", "f32")
        put(add, f"cvt.{r}.f32.f64", "f64 halfway", "f32", "_halfway")
        put(add, f"cvt.{r}.f16.f32", "f32", "f16")
        put(add, f"cvt.{r}.f16.f32", "f32 halfway", "f16", "_halfway")
        put(add, f"cvt.{r}.f16.f64", "f64 halfway", "f16", "_halfway")
        put(add, f"cvt.{r}.bf16.f32", "f32 halfway", "bf16", "_halfway")
    put(add, "cvt.rn.ftz.f32.f64", "f64", "f32")
    put(add, "cvt.rn.sat.f32.f64", "f64", "f32")
    put(add, "cvt.rn.sat.f16.f32", "f32", "f16")
    put(add, "cvt.rn.ftz.f16.f32", "f32 subnormal", "f16")
    put(add, "cvt.f64.f32", "f32", "f64")
    put(add, "cvt.ftz.f64.f32", "f32 subnormal", "f64")
    put(add, "cvt.sat.f64.f32", "f32", "f64")
    put(add, "cvt.f32.f16", "f16", "f32")
    put(add, "cvt.f64.f16", "f16", "f64")
    put(add, "cvt.f32.bf16", "bf16", "f32")
    put(add, "cvt.f64.bf16", "bf16", "f64")
    put(add, "cvt.ftz.f32.bf16", "bf16", "f32")
    put(add, "cvt.sat.f32.f32", "f32", "f32")
    put(add, "cvt.ftz.sat.f32.f32", "f32", "f32")
    put(add, "cvt.sat.f16.f16", "f16", "f16")
    put(add, "cvt.rn.bf16.f16", "f16", "bf16")
    put(add, "cvt.rn.f16.bf16", "bf16", "f16")
    put(add, "cvt.rn.bf16.f64", "f64", "bf16")
    for r in ("rn", "rz"):
        for relu in ("", ".relu"):
            if relu:
                put(add, f"cvt.{r}.relu.f16.f32", "f32", "f16")
            put(add, f"cvt.{r}{relu}.bf16.f32", "f32", "bf16")
            put(add, f"cvt.{r}{relu}.tf32.f32", "f32", "tf32")
            for d in ("f16x2", "bf16x2"):
                add("convert/" + flat(f"cvt.{r}{relu}.{d}.f32"), f"cvt.{r}{relu}.{d}.f32 d, a, b;",
                    "a f32, b f32 halfway", f"d {d}", "The first source goes to the upper half.")
    put(add, "cvt.rna.tf32.f32", "f32", "tf32")
    put(add, "cvt.rna.tf32.f32", "f32 halfway", "tf32", "_halfway")
    put(add, "cvt.rna.satfinite.tf32.f32", "f32", "tf32")
    for d in ("f16x2", "bf16x2"):
        op = f"cvt.rn.satfinite.{d}.f32"
        add("convert/" + flat(op), f"{op} d, a, b;", "a f32, b f32", f"d {d}")
    put(add, "cvt.rn.satfinite.f16.f32", "f32", "f16")
    put(add, "cvt.rn.satfinite.bf16.f32", "f32", "bf16")


def eight_bits(add):
    for f in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            for how in ("mixed", "halfway", "normal"):
                op = f"cvt.rn.satfinite{relu}.{f}.f32"
                suffix = "" if how == "mixed" else "_" + how
                if not (relu and suffix):
                    add("convert/" + flat(op) + suffix, f"{op} d, a, b;", f"a f32 {how}, b f32 {how}",
                        f"d {f}", "The first source goes to the upper byte.")
            put(add, f"cvt.rn.satfinite{relu}.{f}.f16x2", "f16x2", f)
            put(add, f"cvt.rn{relu}.f16x2.{f}", f"{f} bits", "f16x2")


def packed_integers(add):
    for d in ("s16", "u16"):
        add(f"convert/cvt_pack_sat_{d}_s32", f"cvt.pack.sat.{d}.s32 d, a, b;", "a s32, b s32",
            "d b32")
    for d in ("s8", "u8", "s4", "u4", "s2", "u2"):
        for size in ("mixed", "integers"):
            suffix = "" if size == "mixed" else "_small"
            add(f"convert/cvt_pack_sat_{d}_s32_b32{suffix}",
                f"cvt.pack.sat.{d}.s32.b32 d, a, b, c;", f"a s32 {size}, b s32 {size}, c b32 bits",
                "d b32")


def forms(add):
    between_integers(add)
    integers_and_floats(add)
    between_floats(add)
    eight_bits(add)
    packed_integers(add)
