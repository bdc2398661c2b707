// SPDX-License-Identifier: Apache-2.0
// An attention problem and the sizes that follow from it. B batches, H query heads, Hkv key heads, Lq
// queries, Lk keys, D channels; P at the end of a size means padded (L to 128, D to 64 or 128).
#pragma once
#include <algorithm>
#include <cstdint>

namespace ww::sage3 {

constexpr int64_t kTile = 128;  // keys of one step of the running softmax; queries of one mean
constexpr int64_t kGroup = 16;  // elements that share a scale
constexpr int64_t kMaxHeadDim = 128;

// bottom_right: the last query sees the last key; top_left: the first sees the first alone.
enum class Causal : uint32_t { full = 0, bottom_right = 1, top_left = 2 };

struct Problem {
    int64_t b = 1, h = 1, h_kv = 1, lq = 1, lk = 1, d = 1;
    double scale = 1;  // of the logits
    Causal causal = Causal::full;

    static int64_t tiles(int64_t length) { return (length + kTile - 1) / kTile; }
    int64_t query_tiles() const { return tiles(lq); }
    int64_t key_tiles() const { return tiles(lk); }
    int64_t lqp() const { return query_tiles() * kTile; }
    int64_t lkp() const { return key_tiles() * kTile; }
    int64_t dp() const { return d <= 64 ? 64 : 128; }
    // The key head of a query head, both counted over all batches.
    int64_t kv_of(int64_t bh) const { return bh / h * h_kv + bh % h / (h / h_kv); }
    // How many leading keys a query sees; 0: none.
    int64_t visible(int64_t query) const {
        if (causal == Causal::full) return lk;
        return std::clamp<int64_t>(query + 1 + (causal == Causal::bottom_right ? lk - lq : 0), 0, lk);
    }
};

}  // namespace ww::sage3
