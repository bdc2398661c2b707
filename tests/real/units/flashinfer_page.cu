// SPDX-License-Identifier: Apache-2.0
// flashinfer's writes into a paged KV cache: one token a sequence, ragged rows, and ragged rows
// quantised to NVFP4 with block scales.
// Launch: decode: grid (batch), block (head_dim / 8, heads); ragged: grid (any), block
// (head_dim / 8, heads), blocks stride over the rows; nvfp4: grid (rows), block (8, heads).
#include <flashinfer/page.cuh>

using namespace flashinfer;

auto* decode = &AppendPagedKVCacheDecodeKernel<128, 8, nv_bfloat16, int32_t>;
auto* ragged = &AppendPagedKVCacheKernel<128, 8, half, int32_t>;
auto* nvfp4 = &NVFP4QuantizeAppendPagedKVCacheKernel<128, nv_bfloat16, int32_t>;
