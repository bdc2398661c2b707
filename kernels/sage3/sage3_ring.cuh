// SPDX-License-Identifier: Apache-2.0
// The ring of shared memory through which one thread hands tiles of keys to the warps that compute.
#pragma once
#include "../common/mbarrier_ring.cuh"
#include "sage3_params.cuh"

namespace sage3 {

constexpr int kWarps = 8;  // that compute: two warpgroups; of a third, one thread loads
constexpr int kAttentionThreads = 32 * (kWarps + 4);
constexpr unsigned kStages = 4;

// Bytes of a stage of the ring: one tile of keys, as the bulk copies bring it.
template <int kDepth>
struct Stage {
    static constexpr unsigned kKeys = key_tile(kDepth);
    static constexpr unsigned kCodes = kKeys * kDepth / 2, kScales = kKeys * kDepth / kGroup;  // of K, and of V
    static constexpr unsigned kKeyCodes = 0, kValueCodes = kCodes, kKeyScales = 2 * kCodes,
                              kValueScales = kKeyScales + kScales, kBias = kValueScales + kScales,
                              kBytes = kBias + kKeys * 4;
};

// Shared memory of a block: the stages, and mbarriers of each. `full` completes when a tile has arrived, `empty`
// when every warp has read it. Addresses are those of cvta_to_shared.
template <int kDepth>
struct Ring {
    static constexpr unsigned kStage = Stage<kDepth>::kBytes, kBytes = kStages * (kStage + 16);
    static_assert(kStage % 128 == 0, "bulk copies and the exchange of chunks want whole lines");
    unsigned start;

    __device__ __forceinline__ unsigned stage(unsigned i) const { return start + i * kStage; }
    __device__ __forceinline__ unsigned full(unsigned i) const { return start + kStages * kStage + i * 16; }
    __device__ __forceinline__ unsigned empty(unsigned i) const { return full(i) + 8; }

    __device__ __forceinline__ void init() const {
        for (unsigned i = 0; i < kStages; ++i) {
            ptx::mbarrier_init(full(i), 1);
            ptx::mbarrier_init(empty(i), kWarps);
        }
    }
};

// One thread asks for the tiles of all its block's work, each as soon as its stage is empty. The first round waits for
// nothing: the phase before the first counts as complete.
template <Config kConfig, class T>
__device__ __forceinline__ void produce(const Params<T>& p, const Ring<kConfig.head_dim>& ring, int items) {
    constexpr int kDepth = kConfig.head_dim;
    using S = Stage<kDepth>;
    constexpr unsigned kOf64 = 64 * S::kKeys / kGroup;  // bytes of V's scales of 64 channels and a tile
    Turn<kStages> turn;
    for (Items item; item.number < items; item.next()) {
        const Work work = Work::of<kConfig>(p, item.number);
        if (work.empty()) continue;
        const long long head = static_cast<long long>(work.kv) * p.keys.stored;  // stored rows before it
        const float* bias = work.bias(p);
        for (int visit = 0; visit < work.visits.count; ++visit, turn.next()) {
            const int tile = work.visits.tile(visit);
            const unsigned stage = ring.stage(turn.stage), full = ring.full(turn.stage);
            const long long row = head + work.keys.stored + tile * static_cast<int>(S::kKeys);
            const auto* v_scales = p.v_scales + head * (kDepth / kGroup) + (row - head) / S::kKeys * kOf64;
            wait(ring.empty(turn.stage), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(full, S::kBytes);
            ptx::cp_async_bulk_shared_global(stage + S::kKeyCodes, p.k_codes + row * (kDepth / 2), S::kCodes, full);
            ptx::cp_async_bulk_shared_global(stage + S::kKeyScales, p.k_scales + row * (kDepth / kGroup), S::kScales, full);
            ptx::cp_async_bulk_shared_global(stage + S::kBias, bias + tile * static_cast<int>(S::kKeys), S::kKeys * 4, full);
            ptx::cp_async_bulk_shared_global(stage + S::kValueCodes, p.v_codes + row * (kDepth / 2), S::kCodes, full);
#pragma unroll
            for (unsigned i = 0; i < kDepth / 64; ++i)
                ptx::cp_async_bulk_shared_global(stage + S::kValueScales + i * kOf64,
                                                 v_scales + i * 64ll * (p.keys.stored / kGroup), kOf64, full);
        }
    }
}

}  // namespace sage3
