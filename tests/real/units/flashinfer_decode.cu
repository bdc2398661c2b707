// SPDX-License-Identifier: Apache-2.0
// flashinfer's decode attention: one sequence with grouped queries, and a batch over a paged cache.
// Launch: grid (chunks, kv heads) and (padded batch, kv heads), block (16, 4, 2) and (16, 1, 8),
// dynamic shared memory as the package's dispatchers compute it (2 * stages * bdy * tile * bdz *
// head_dim * 2 + 2 * bdy * bdz * 4 bytes).
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/variants.cuh>

using namespace flashinfer;
using Attention = DefaultAttention<false, false, false, false>;

auto* single =
    &SingleDecodeWithKVCacheKernel<PosEncodingMode::kNone, 2, 1, 8, 16, 4, 2, Attention,
                                   SingleDecodeParams<half, half, half>>;
auto* batch = &BatchDecodeWithPagedKVCacheKernel<
    PosEncodingMode::kRoPELlama, 2, 4, 8, 16, 1, 8, Attention,
    BatchDecodeParams<nv_bfloat16, nv_bfloat16, nv_bfloat16, int32_t>>;
