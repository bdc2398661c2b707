#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of hopper_attention.cuh that hopper_ablation.py times: each lacks one part. As a program: checks that every part
is still there, once."""
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "kernels/sage3/hopper_attention.cuh"
EXPONENT = "ptx::fma_rn_f32(score, scaling.factor[half], offset[half])"
P_V = ("    begin_p_v<kWidth>(codes, memory.values(stage), o);\n",
       "    for (int i = 0; i < kWidth / 2 + 4; ++i) o[i] = __int_as_float(codes[i / 4 % 4][i % 4]);\n")
STEPS_OF_Q_K = "for (int step = 0; step < kDepth / 32; ++step) {\n        constexpr int kRow"
# name: what stands in hopper_attention.cuh and what takes its place, once or several times
LEFT_OUT = {
    "exponentials": [(f"ptx::ex2_approx_ftz_f32({EXPONENT})", EXPONENT)],
    "maxima": [("most = score > most ? score : most;", "if (j == 0) most = score > most ? score : most;")],
    "additions of 1.5 * 2^23": [("__int_as_float(s[at_s] + kMagicBits)", "__int_as_float(s[at_s])")],
    "P V": [P_V],
    "three quarters of Q K^T": [(STEPS_OF_Q_K, STEPS_OF_Q_K.replace("kDepth / 32", "1"))],
    "tensor cores": [P_V, (STEPS_OF_Q_K, STEPS_OF_Q_K.replace("kDepth / 32", "0"))],
    "additions to O": [("for (int i = 0; i < kWidth / 2; ++i) rows.o[i / 4][i % 4] = ptx::fma",
                        "for (int i = 0; i < 4; ++i) rows.o[i / 4][i % 4] = ptx::fma")],
    "the second warpgroup (half of the rows)": [
        ("    compute<kDepth, kMask>(p, memory);", "    if (threadIdx.x < 128) compute<kDepth, kMask>(p, memory);"),
        ("memory.init(128 * kGroups, kGroups)", "memory.init(128, 1)")],
}


def versions(text):
    """By name, the text as it is first."""
    out = {"as it is": text}
    for name, replacements in LEFT_OUT.items():
        less = text
        for old, new in replacements:
            if less.count(old) != 1:
                sys.exit(f"{SOURCE.name} has {less.count(old)} times what '{name}' leaves out, not once: {old!r}")
            less = less.replace(old, new)
        out["without " + name] = less
    return out


if __name__ == "__main__":
    print(f"{len(versions(SOURCE.read_text(encoding='utf-8')))} versions")
