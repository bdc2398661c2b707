#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of hopper_attention.cuh that hopper_ablation.py times: each lacks one part. As a program: checks that every part
is still there, once."""
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "kernels/sage3/hopper_attention.cuh"
EXPONENT = "ptx::fma_rn_f32(score, scaling.factor[half], offset[half])"
# name: what stands in hopper_attention.cuh, what takes its place
LEFT_OUT = {
    "exponentials": (f"ptx::ex2_approx_ftz_f32({EXPONENT})", EXPONENT),
    "maxima": ("most = score > most ? score : most;", "if (j == 0) most = score > most ? score : most;"),
    "P V": ("    begin_p_v<kWidth>(codes, memory.values(stage), o);\n",
            "    for (int i = 0; i < kWidth / 2 + 4; ++i) o[i] = __int_as_float(codes[i / 4 % 4][i % 4]);\n"),
    "three quarters of Q K^T": ("for (int step = 0; step < kDepth / 32; ++step) {\n        constexpr int kRow",
                                "for (int step = 0; step < 1; ++step) {\n        constexpr int kRow"),
    "additions to O": ("for (int i = 0; i < kWidth / 2; ++i) rows.o[i / 4][i % 4] = ptx::fma",
                       "for (int i = 0; i < 4; ++i) rows.o[i / 4][i % 4] = ptx::fma"),
}


def versions(text):
    """By name, the text as it is first."""
    out = {"as it is": text}
    for name, (old, new) in LEFT_OUT.items():
        if text.count(old) != 1:
            sys.exit(f"{SOURCE.name} has {text.count(old)} times what '{name}' leaves out, not once: {old!r}")
        out["without " + name] = text.replace(old, new)
    return out


if __name__ == "__main__":
    print(f"{len(versions(SOURCE.read_text(encoding='utf-8')))} versions")
