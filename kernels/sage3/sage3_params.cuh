// SPDX-License-Identifier: Apache-2.0
// What the attention kernel is given, and what follows from it for one block: which tiles of queries it makes, in
// which order, and which tiles of keys each of them visits.
#pragma once
#include "sage3_common.cuh"

namespace sage3 {

// Of the caller's mask [B, H, Lq, Lk]: what an element is. Bytes that are 0 hide the key; the others are added to the
// scaled logits.
enum class Mask { none, bytes, of_type, f32 };

struct Config {
    int head_dim;  // padded: 64, 128 or 256
    Mask mask;
};

// Keys of one step of the loop: what registers allow.
__host__ __device__ constexpr int key_tile(int padded_depth) { return padded_depth <= 128 ? 128 : 64; }

constexpr int kUnbounded = 1 << 29;  // more than any length

// What every kernel of attention is given, whatever it computes with.
template <class T>
struct Call {
    Side queries, keys;
    int heads, kv_heads, depth, batch_heads;
    int left, right;         // query i sees keys i + offset - left .. i + offset + right; kUnbounded
    unsigned from_the_end;   // offset: Lk - Lq of the sequence, else 0
    unsigned longest_first;  // later tiles of queries see more keys: begin with them
    float scale, mask_scale;  // > 0; 1 / scale
    const void* mask;        // (Mask) strides in elements, keys are contiguous
    long long mask_batch, mask_head, mask_query;
    const float* shift;      // [BH, Lq]; null without lse
    const float* v_mean;     // [sequences, Hkv, D], what V has lost; may be null
    T* o;                    // [B, H, Lq, D]; strides in elements
    float* lse;              // [BH, Lq]; may be null
    long long o_batch, o_head, o_token;
};

// What attention in Sage Attention 3's numbers is given, whatever its operands are.
template <class T>
struct BiasedCall : Call<T> {
    const float* bias;  // [BH, stored q / 128, bias_columns], or one row a sequence and head
    int bias_columns;
    unsigned bias_of_tiles;  // rows of bias
#if WW_TAPS
    float* s;                 // [BH, Lq, columns] logits / scale; -inf where masked
    float* group_max;         // [BH, Lq, columns / 16]
    unsigned* p_codes;        // [BH, Lq, columns / 8] words
    unsigned char* p_scales;  // [BH, Lq, columns / 16]
    float* row_max;           // [BH, columns / key_tile, Lq] after the tile
    float* row_sum;           // [BH, columns / key_tile, Lq] after the tile
    float* o_tile;            // [BH, columns / key_tile, Lq, DP] after the tile, not divided
#endif
};

template <class T>
struct Params : BiasedCall<T> {
    const unsigned char* q_codes;   // [BH, stored q, DP / 2]
    const unsigned char* q_scales;  // [BH, stored q, DP / 16] (scale_offset)
    const unsigned char* k_codes;   // [BHkv, stored k, DP / 2] (code_offset), keys permuted
    const unsigned char* k_scales;  // [BHkv, stored k, DP / 16] (scale_offset)
    const unsigned char* v_codes;   // [BHkv, stored k / key_tile, DP, key_tile / 2] (code_offset)
    const unsigned char* v_scales;  // [BHkv, DP, stored k / 16] (scale_offset)
};

// Keys that a query of a sequence sees: begin to end - 1, if any.
struct Range {
    int begin, end;
};
template <class T>
__device__ __forceinline__ Range visible_keys(const Call<T>& p, int query, int lq, int lk) {
    const int diagonal = query + (p.from_the_end ? lk - lq : 0);
    const int begin = diagonal - p.left, end = diagonal + p.right + 1;
    return {begin < 0 ? 0 : begin, end < lk ? end : lk};
}

// The key tiles that one tile of queries visits, and in which order: those that a mask cuts come first, from the
// last down and then from the first up, so that the others are one loop that masks nothing.
struct Visits {
    int first, last;   // tiles
    int right, left;   // how many at each end are cut
    int count;

    __device__ __forceinline__ int masked() const { return right + left; }
    __device__ __forceinline__ int tile(int visit) const {
        return visit < right ? last - visit : visit < right + left ? first + visit - right : last - (visit - left);
    }

    // Of queries first_query to last_query, in tiles of kKeys; kMasked: all of them are masked.
    template <int kKeys, bool kMasked, class T>
    __device__ __forceinline__ static Visits of(const Call<T>& p, int first_query, int last_query, int lq, int lk) {
        const Range of_first = visible_keys(p, first_query, lq, lk), of_last = visible_keys(p, last_query, lq, lk);
        Visits out{of_first.begin / kKeys, (of_last.end + kKeys - 1) / kKeys - 1, 0, 0, 0};
        if (of_first.begin >= of_last.end) return out;
        out.count = out.last - out.first + 1;
        if (kMasked) {
            out.right = out.count;
            return out;
        }
        const int whole = of_first.end < 0 ? 0 : of_first.end / kKeys;  // tiles below it end where all queries see
        out.right = clamp(out.last + 1 - whole, out.count);
        out.left = clamp((of_last.begin + kKeys - 1) / kKeys - out.first, out.count - out.right);
        return out;
    }

  private:
    __device__ __forceinline__ static int clamp(int x, int most) { return x < 0 ? 0 : x < most ? x : most; }
};

// The numbers of the items of work that a block makes, one after the other, where nobody counts them (on Hopper: next_item). Rounds
// go over the blocks there and back: where items grow shorter, no block makes the longest of each round. What follows a number
// beyond the last item is beyond it, too.
struct Items {
    int number = static_cast<int>(blockIdx.x), step = 2 * static_cast<int>(gridDim.x - blockIdx.x) - 1;

    __device__ __forceinline__ void next() {
        number += step;
        step = 2 * static_cast<int>(gridDim.x) - step;
    }
};

// One tile of 128 queries of one head, as number `item` of the grid's work.
struct Work {
    int bh, head, tile;  // tile: among the stored ones of the head
    int kv;              // the key head, over all batches
    int first_row;       // of the tile, in its sequence
    Sequence queries, keys;
    Visits visits;

    __device__ __forceinline__ int sequence() const { return queries.number; }

    template <int kKeys, bool kMasked, class T>
    __device__ __forceinline__ static Work of(const Call<T>& p, int item) {
        const int tiles = p.queries.tiles();
        Work out;
        out.bh = p.longest_first ? item % p.batch_heads : item / tiles;
        out.tile = p.longest_first ? tiles - 1 - item / p.batch_heads : item % tiles;
        out.head = out.bh % p.heads;
        out.queries = p.queries.sequence_of_tile(out.bh / p.heads, out.tile);
        out.keys = p.keys.sequence(out.queries.number);
        out.kv = out.keys.batch * p.kv_heads + key_head(out.head, p.heads, p.kv_heads);
        out.first_row = out.tile * kTile - out.queries.stored;
        const int last_row = out.first_row + kTile < out.queries.length ? out.first_row + kTile - 1 : out.queries.length - 1;
        out.visits = Visits::of<kKeys, kMasked>(p, out.first_row, last_row, out.queries.length, out.keys.length);
        return out;
    }
    template <Config kConfig, class T>
    __device__ __forceinline__ static Work of(const Call<T>& p, int item) {
        return of<key_tile(kConfig.head_dim), kConfig.mask != Mask::none>(p, item);
    }
    // Whether it has a query at all: sequences leave gaps.
    __device__ __forceinline__ bool empty() const { return first_row < 0 || first_row >= queries.length; }
    // Of the row of a sequence, as a token of the tensor's batch and over all heads.
    template <class T>
    __device__ __forceinline__ long long token(const Call<T>& p, int row) const {
        return static_cast<long long>(bh) * p.queries.tokens + queries.first + row;
    }
    // Of its keys.
    template <class T>
    __device__ __forceinline__ const float* bias(const BiasedCall<T>& p) const {
        return p.bias + (p.bias_of_tiles ? static_cast<long long>(bh) * p.queries.tiles() + tile
                                         : static_cast<long long>(sequence()) * p.heads + head) *
                            p.bias_columns;
    }
};

}  // namespace sage3
