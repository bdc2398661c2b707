// SPDX-License-Identifier: Apache-2.0
// flashinfer's FA2 prefill: causal attention of one sequence, tile 128 x 64, head size 128, bf16.
// Launch: grid (ceil(rows * group / 128), 1, kv heads), block (32, 4, 1), dynamic shared memory
// sizeof(Traits::SharedStorage), one SinglePrefillParams by value.
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/variants.cuh>

using namespace flashinfer;
using Params = SinglePrefillParams<nv_bfloat16, nv_bfloat16, nv_bfloat16>;
using Traits = KernelTraits<MaskMode::kCausal, 128, 2, 4, 8, 8, 4, 1, PosEncodingMode::kNone,
                            nv_bfloat16, nv_bfloat16, nv_bfloat16, float, int32_t,
                            DefaultAttention<false, false, false, false>>;

auto* single = &SinglePrefillWithKVCacheKernel<Traits, Params>;
