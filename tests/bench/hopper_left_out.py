#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The versions of the Hopper kernel's headers that hopper_ablation.py times: each lacks one part. As a program: checks that every
part is still there, once."""
from hopper_texts import BEGIN_P_V, KERNEL, LOADER, edited, texts

EXPONENT = "ptx::fma_rn_f32(score, scaling.factor[half], offset[half])"
P_V = (KERNEL, BEGIN_P_V, "    for (int i = 0; i < kWidth / 2 + 4; ++i) o[i] = __int_as_float(codes[i / 4 % 4][i % 4]);\n")
STEPS_OF_Q_K = "for (int step = 0; step < kDepth / 32; ++step) {\n        constexpr int kRow"
LOAD_KEYS = """ptx::mbarrier_arrive_expect_tx_relaxed_cta(keys, M::kCodes);
            ptx::cp_async_bulk_shared_global(memory.keys(turn.stage), p.k_codes + row * kDepth, M::kCodes, keys);
"""
LOAD_VALUES = """ptx::mbarrier_arrive_expect_tx_relaxed_cta(values, M::kValues);
            ptx::cp_async_bulk_shared_global(memory.values(turn.stage), p.v_codes + row * kDepth + part * M::kValues,
                                             M::kValues, values);
"""
ONLY_THE_FIRST = "if (visit < M::kStages) {{ {} }} else ptx::mbarrier_arrive({});\n"
# name: (file, what stands there, what takes its place), once or several times
LEFT_OUT = {
    "exponentials": [(KERNEL, f"ptx::ex2_approx_ftz_f32({EXPONENT})", EXPONENT)],
    "maxima": [(KERNEL, "most = score > most ? score : most;", "if (j == 0) most = score > most ? score : most;")],
    "additions of 1.5 * 2^23": [(KERNEL, "__int_as_float(s[at_s] + kMagicBits)", "__int_as_float(s[at_s])")],
    "P V": [P_V],
    "three quarters of Q K^T": [(KERNEL, STEPS_OF_Q_K, STEPS_OF_Q_K.replace("kDepth / 32", "1"))],
    "tensor cores": [P_V, (KERNEL, STEPS_OF_Q_K, STEPS_OF_Q_K.replace("kDepth / 32", "0"))],
    "additions to O": [(KERNEL, "for (int i = 0; i < kWidth / 2; ++i) rows.o[i / 4][i % 4] = ptx::fma",
                        "for (int i = 0; i < 4; ++i) rows.o[i / 4][i % 4] = ptx::fma")],
    "loads of K and V but an item's first three": [(LOADER, LOAD_KEYS, ONLY_THE_FIRST.format(LOAD_KEYS, "keys")),
                                                   (LOADER, LOAD_VALUES, ONLY_THE_FIRST.format(LOAD_VALUES, "values"))],
    "the second warpgroup (half of the rows)": [
        (KERNEL, "    compute<kDepth, kMask>(p, memory);", "    if (threadIdx.x < 128) compute<kDepth, kMask>(p, memory);"),
        (KERNEL, "memory.init(128 * kGroups, kGroups)", "memory.init(128, 1)")],
}


def versions(headers):
    """By name, the headers as they are first."""
    return {"as it is": headers, **{"without " + name: edited(headers, name, edits) for name, edits in LEFT_OUT.items()}}


if __name__ == "__main__":
    print(f"{len(versions(texts()))} versions")
