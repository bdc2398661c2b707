// SPDX-License-Identifier: Apache-2.0
// A kernel that both paths launch, compiled for one type (WW_TYPE): q . k_mean of each row.
#pragma once
#include "sage3_smooth.cuh"

extern "C" __global__ void __launch_bounds__(sage3::kSmoothThreads)
sage3_row_shift(const WW_TYPE* q, long long batch, long long head, long long token, const int* starts, int sequences,
                int tokens, int longest, int stored, const float* k_means, float* shift, int heads, int kv_heads,
                int depth) {
    sage3::row_shift<WW_TYPE>({q, batch, head, token}, sage3::Side{starts, sequences, tokens, longest, stored}, k_means,
                              shift, heads, kv_heads, depth);
}
