// SPDX-License-Identifier: Apache-2.0
// Means and quantisers of the Hopper path, compiled for one head dimension (WW_HEAD_DIM, padded) and one type (WW_TYPE: F16
// or Bf16).
#include "hopper_quantize.cuh"
#include "sage3_means.cuh"

using sage3::Side;
using sage3::Strided;

extern "C" __global__ void __launch_bounds__(sage3::kSequenceThreads, 2)
hopper_channel_max(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                   int tokens, int longest, int stored, const float* means, float* largest, int heads, int depth) {
    sage3::sequence_largest<WW_HEAD_DIM, WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored},
                                                  means, largest, heads, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kInt8Threads, WW_HEAD_DIM <= 128 ? 4 : 2)
hopper_quantize_q(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                  int tokens, int longest, int stored, const float* means, signed char* codes, float* scales, int heads,
                  int depth) {
    sage3::quantize_int8<false, WW_HEAD_DIM, WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored},
                                                      means, codes, scales, heads, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kInt8Threads, WW_HEAD_DIM <= 128 ? 4 : 2)
hopper_quantize_k(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                  int tokens, int longest, int stored, const float* means, signed char* codes, float* scales, int heads,
                  int depth) {
    sage3::quantize_int8<true, WW_HEAD_DIM, WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored},
                                                     means, codes, scales, heads, depth);
}

// Threads: WW_HEAD_DIM.
extern "C" __global__ void __launch_bounds__(WW_HEAD_DIM, 512 / WW_HEAD_DIM)
hopper_quantize_v(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                  int tokens, int longest, int stored, const float* means, const float* largest, unsigned char* codes,
                  int heads, int depth) {
    sage3::quantize_e4m3<WW_HEAD_DIM, WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored},
                                               means, largest, codes, heads, depth);
}
