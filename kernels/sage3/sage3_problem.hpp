// SPDX-License-Identifier: Apache-2.0
// An attention problem and the sizes that follow from it. B batches, H query heads, Hkv key heads, Lq
// queries, Lk keys, D channels; P at the end of a size means padded (L to 128, D to 64, 128 or 256).
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ww::sage3 {

constexpr int64_t kTile = 128;  // queries of a block, and of one mean; sequences are padded to it
constexpr int64_t kGroup = 16;  // elements that share a scale
constexpr int64_t kMaxHeadDim = 256;
constexpr int64_t kUnbounded = int64_t{1} << 29;  // a window that hides nothing: more than any length

// bottom_right: the last query sees the last key; top_left: the first sees the first alone.
enum class Causal : uint32_t { full = 0, bottom_right = 1, top_left = 2 };

// none; bytes, 0 of which hide a key; or what is added to the scaled logits, in the type of q or in float.
enum class Mask : uint32_t { none = 0, bytes = 1, of_type = 2, f32 = 3 };

// As a buffer of the plan.
constexpr std::string_view mask_name(Mask mask) { return mask == Mask::bytes ? "mask_bytes" : "mask"; }

// The keys that a query sees: begin to end - 1; none where end <= begin.
struct Range {
    int64_t begin = 0, end = 0;
};

struct Problem {
    // Lq and Lk are of one batch of the tensors; where it holds several sequences, of all of them.
    int64_t b = 1, h = 1, h_kv = 1, lq = 1, lk = 1, d = 1;
    double scale = 1;  // of the logits
    Causal causal = Causal::full;
    int64_t left = kUnbounded, right = kUnbounded;  // how many keys before and after its own a query sees
    Mask mask = Mask::none;
    bool global_mean = false;  // of Q: of all queries of a sequence instead of each 128
    bool smooth_v = false;
    // Sequences one after another in one batch (b == 1), and how long they are at most; 0: each batch is one.
    int64_t packed = 0, longest_q = 0, longest_k = 0;

    static int64_t tiles(int64_t length) { return (length + kTile - 1) / kTile; }
    int64_t sequences() const { return packed ? packed : b; }
    int64_t max_lq() const { return packed ? longest_q : lq; }
    int64_t max_lk() const { return packed ? longest_k : lk; }
    // Rows that a head's padded tokens take: sequence s begins at row (starts[s] / 128 + s) * 128.
    int64_t stored(int64_t tokens) const { return (packed ? tokens / kTile + packed : tiles(tokens)) * kTile; }
    int64_t query_tiles() const { return stored(lq) / kTile; }
    int64_t lqp() const { return stored(lq); }
    int64_t lkp() const { return stored(lk); }
    int64_t dp() const { return d <= 64 ? 64 : d <= 128 ? 128 : 256; }
    int64_t key_tile() const { return dp() <= 128 ? 128 : 64; }  // keys of one step of the running softmax
    int64_t columns() const { return tiles(max_lk()) * kTile; }  // of the bias: the longest sequence, padded
    // How many scales of a row lie together: those of Q and K, and those of V.
    int64_t row_run() const { return dp() == 64 ? 4 : 8; }
    int64_t column_run() const { return key_tile() / 16; }
    int64_t key_tiles() const { return columns() / key_tile(); }
    // Rows of Q's means and of the bias.
    int64_t means() const { return global_mean ? sequences() * h : b * h * query_tiles(); }
    // The key head of a query head.
    int64_t kv_head(int64_t head) const { return head / (h / h_kv); }

    // Of a query of a sequence with so many queries and keys.
    Range visible(int64_t query, int64_t queries, int64_t keys) const {
        const int64_t diagonal = query + (causal == Causal::top_left ? 0 : keys - queries);
        const int64_t after = causal == Causal::full ? right : std::min<int64_t>(right, 0);
        return {std::max<int64_t>(diagonal - left, 0), std::min(diagonal + after + 1, keys)};
    }
};

}  // namespace ww::sage3
