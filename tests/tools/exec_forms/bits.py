# SPDX-License-Identifier: Apache-2.0
"""Chapter logic_shift."""


def forms(add):
    for t in ("b16", "b32", "b64", "pred"):
        for op in ("and", "or", "xor"):
            add(f"logic_shift/{op}_{t}", f"{op}.{t} d, a, b;", f"a {t}, b {t}", f"d {t}")
        add(f"logic_shift/not_{t}", f"not.{t} d, a;", f"a {t}", f"d {t}")
        if t != "pred":
            add(f"logic_shift/cnot_{t}", f"cnot.{t} d, a;", f"a {t} 0..2", f"d {t}")
            add(f"logic_shift/shl_{t}", f"shl.{t} d, a, b;", f"a {t} bits, b u32 0..80", f"d {t}")
    for t in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        add(f"logic_shift/shr_{t}", f"shr.{t} d, a, b;", f"a {t} bits, b u32 0..80", f"d {t}")
    add("logic_shift/shr_s32_huge_count", "shr.s32 d, a, b;\nshl.b32 e, a, b;\nshr.u64 f, c, b;",
        "a s32 bits, b u32 edge, c u64 bits", "d s32, e b32, f u64",
        "Counts are 32 bits wide and clamped, not taken modulo.")
    for lut in (0x80, 0x96, 0xca, 0xe8, 0x1b, 0xfe, 0x00, 0xff):
        add(f"logic_shift/lop3_b32_{lut:02x}", f"lop3.b32 d, a, b, c, 0x{lut:02x};",
            "a b32 bits, b b32 bits, c b32 bits", "d b32")
    for op in ("or", "and"):
        add(f"logic_shift/lop3_{op}_b32", f"lop3.{op}.b32 d|p, a, b, c, 0xe8, q;",
            "a b32 0..3, b b32 0..3, c b32 0..3, q pred", "d b32, p pred",
            "The predicate tells whether the result is not zero, combined with another.")
    for side in ("l", "r"):
        for mode in ("clamp", "wrap"):
            add(f"logic_shift/shf_{side}_{mode}_b32", f"shf.{side}.{mode}.b32 d, a, b, c;",
                "a b32 bits, b b32 bits, c u32 0..80", "d b32")
    add("logic_shift/prmt_b32", "prmt.b32 d, a, b, c;", "a b32 bits, b b32 bits, c b32 bits",
        "d b32", "Each selector's top bit replicates the byte's sign.")
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        add(f"logic_shift/prmt_b32_{mode}", f"prmt.b32.{mode} d, a, b, c;",
            "a b32 bits, b b32 bits, c b32 bits", "d b32", "Only the selector's low 2 bits count.")
