// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees, and what the caller's mask adds to its logits.
#pragma once
#include "sage3_tile.cuh"

namespace sage3 {

// The key, from the start of its sequence, behind s[j][c].
__device__ __forceinline__ int key_of(const Place& at, int first_key, int j, int c) {
    return first_key + j / 4 * kPermuted + at.t * 8 + j % 4 * 2 + c % 2;
}

// Keys outside of what the row sees are hidden.
template <Config kConfig, class T>
__device__ __forceinline__ void hide(const Call<T>& p, const Work& work, const Place& at, int first_key,
                                     typename Shape<kConfig.head_dim>::Scores& s) {
    constexpr int kKeys = Shape<kConfig.head_dim>::kKeys;
    unsigned begin[2], count[2];
    bool all = true;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const Range range = visible_keys(p, at.row(half), work.queries.length, work.keys.length);
        begin[half] = static_cast<unsigned>(range.begin);
        count[half] = range.begin < range.end ? static_cast<unsigned>(range.end - range.begin) : 0u;
        all = all && range.begin <= first_key && range.end >= first_key + kKeys;
    }
    if (all) return;
#pragma unroll
    for (int j = 0; j < Shape<kConfig.head_dim>::kProducts; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c)  // a key before the first is far beyond the last as well
            if (static_cast<unsigned>(key_of(at, first_key, j, c)) - begin[c / 2] >= count[c / 2]) s[j][c] = minus_infinity();
}

// An element of the mask as what is added to a scaled logit.
template <Mask kMask, class T>
struct MaskElement;
template <class T>
struct MaskElement<Mask::bytes, T> {
    using Type = unsigned char;
    using Eight = uint2;
    __device__ __forceinline__ static float value(Type x) { return x ? 0.0f : minus_infinity(); }
};
template <class T>
struct MaskElement<Mask::of_type, T> {
    using Type = T;
    using Eight = uint4;
    __device__ __forceinline__ static float value(Type x) { return widen(x); }
};
struct Uint8x4 {
    uint4 low, high;
};
template <class T>
struct MaskElement<Mask::f32, T> {
    using Type = float;
    using Eight = Uint8x4;
    __device__ __forceinline__ static float value(Type x) { return x; }
};

// s += mask * mask_scale. The elements of the 8 keys of a band that one thread owns lie next to each other: one or two
// loads where they are aligned to that. Of rows and keys that are not there the last one is read; hide() comes after.
template <Config kConfig, class T>
__device__ __forceinline__ void add_mask(const Call<T>& p, const Work& work, const Place& at, int first_key,
                                         typename Shape<kConfig.head_dim>::Scores& s) {
    using Element = MaskElement<kConfig.mask, T>;
    using Type = typename Element::Type;
    constexpr unsigned kAlign = sizeof(Type) * 8 < 16 ? sizeof(Type) * 8 : 16;
    const int first = first_key + at.t * 8, left = work.keys.length - 1 - first;  // the last key there is
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = at.row(half) < work.queries.length ? at.row(half) : work.queries.length - 1;
        const Type* elements = static_cast<const Type*>(p.mask) + work.bh / p.heads * p.mask_batch +
                               work.head * p.mask_head + row * p.mask_query + first;
        const bool whole = first_key + Shape<kConfig.head_dim>::kKeys <= work.keys.length &&
                           reinterpret_cast<unsigned long long>(elements) % kAlign == 0;
#pragma unroll
        for (int band = 0; band < Shape<kConfig.head_dim>::kBands; ++band) {
            union {
                typename Element::Eight eight;
                Type each[8];
            } mask;
            if (whole) {
                mask.eight = *reinterpret_cast<const typename Element::Eight*>(elements + band * kPermuted);
            } else {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const int key = band * kPermuted + i;
                    mask.each[i] = elements[key < left ? key : left];
                }
            }
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                float& to = s[band * 4 + i / 2][half * 2 + i % 2];
                to = ptx::fma_rn_f32(Element::value(mask.each[i]), p.mask_scale, to);
            }
        }
    }
}

}  // namespace sage3
