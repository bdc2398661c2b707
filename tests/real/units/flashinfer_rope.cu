// SPDX-License-Identifier: Apache-2.0
// flashinfer's rotary embedding by position ids, halves and interleaved, and sines from a cache.
// Launch: grid (ceil(rows / (128 / bdx))), block (bdx, 128 / bdx) where bdx is the 4th template
// argument (head_dim / vec_size); no shared memory.
#include <flashinfer/pos_enc.cuh>

using namespace flashinfer;

auto* halves = &BatchQKApplyRotaryPosIdsKernel<false, 128, 8, 16, nv_bfloat16, int32_t>;
auto* interleaved = &BatchQKApplyRotaryKernel<true, 64, 8, 8, half, int32_t>;
auto* cached = &BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128, 8, 16, half, int32_t>;
