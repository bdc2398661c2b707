// SPDX-License-Identifier: Apache-2.0
// Keys are stored permuted within each 32. Accumulator columns 2t and 2t + 1 of the four products of
// 8 stored keys: which keys are they?
// probe: target sm_120a
// probe: out thread_0 u32 8
// probe: out thread_1 u32 8
// probe: out thread_2 u32 8
// probe: out thread_3 u32 8
#include "../sage3_common.cuh"

extern "C" __global__ void probe(unsigned* thread_0, unsigned* thread_1, unsigned* thread_2, unsigned* thread_3) {
    unsigned* const keys[4] = {thread_0, thread_1, thread_2, thread_3};
    for (int t = 0; t < 4; ++t)
        for (int product = 0; product < 4; ++product)
            for (int i = 0; i < 2; ++i) keys[t][2 * product + i] = sage3::token_of_stored_key(8 * product + 2 * t + i);
}
