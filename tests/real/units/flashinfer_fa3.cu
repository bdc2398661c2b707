// SPDX-License-Identifier: Apache-2.0
// flashinfer's FA3 prefill for Hopper: warp-specialised causal attention forward, bf16, head
// dimension 128, tile 128 x 128, K and V by TMA through two stages, wgmma with P from registers.
// Launch: grid by SingleTileScheduler, 384 threads, sizeof(Traits::SharedStorage) bytes of dynamic
// shared memory; the parameters of main loop, epilogue and scheduler by value (they hold the tensor
// maps, which to_underlying_arguments encodes).
#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>

using namespace flashinfer;
using Params = SinglePrefillParams<cutlass::bfloat16_t, cutlass::bfloat16_t, cutlass::bfloat16_t>;
using Traits = AttentionKernelTraits<true, 128, 128, 128, 128, 2, Params::DTypeQ, Params::DTypeKV,
                                     Params::DTypeO, Params::IdType, StandardAttention>;

auto* causal = &PrefillWithKVCacheKernel<
    CollectiveMainloop<typename Params::AdditionalParams, Traits, true>, CollectiveEpilogue<Traits>,
    Traits, false, true, SingleTileScheduler>;
