// SPDX-License-Identifier: Apache-2.0
// What hides keys of a tile from a row, and what the caller's mask adds: for tiles that are cut, and all of them where there
// is a mask. Included by hopper_attention.cuh alone.
#pragma once

namespace sage3 {
namespace hopper {

// Whether logits become floats before the softmax, in the registers of the scores.
__host__ __device__ constexpr bool is_added(Mask mask) { return mask == Mask::of_type || mask == Mask::f32; }

// Two elements of the mask that lie next to each other, of keys 2t and 2t + 1 of a product.
template <Mask kMask, class T>
struct MaskPair;
template <class T>
struct MaskPair<Mask::bytes, T> {
    using Type = unsigned char;
    using Both = unsigned short;
};
template <class T>
struct MaskPair<Mask::of_type, T> {
    using Type = T;
    using Both = unsigned;
    __device__ __forceinline__ static float value(Type x) { return widen(x); }
};
template <class T>
struct MaskPair<Mask::f32, T> {
    using Type = float;
    using Both = uint2;
    __device__ __forceinline__ static float value(Type x) { return x; }
};

// Bytes hide; what is added makes logits times log2 e of the scores, as the bits of floats. Of rows and keys that are not
// there the last element is read; hide() comes after.
template <Mask kMask, class T>
__device__ __forceinline__ void apply_mask(const Call<T>& p, const Work& work, const Place& at, int first_key,
                                           const Scaling& scaling, int (&s)[kKeys / 2]) {
    using Pair = MaskPair<kMask, T>;
    using Type = typename Pair::Type;
    const int first = first_key + at.t * 2, last = work.keys.length - 1 - first;  // the last key there is
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = at.row(half) < work.queries.length ? at.row(half) : work.queries.length - 1;
        const Type* elements = static_cast<const Type*>(p.mask) + work.bh / p.heads * p.mask_batch +
                               work.head * p.mask_head + row * p.mask_query + first;
        const bool whole = first_key + kKeys <= work.keys.length &&
                           reinterpret_cast<unsigned long long>(elements) % sizeof(typename Pair::Both) == 0;
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j) {
            union {
                typename Pair::Both both;
                Type each[2];
            } mask;
            if (whole) {
                mask.both = *reinterpret_cast<const typename Pair::Both*>(elements + j * 8);
            } else {
#pragma unroll
                for (int c = 0; c < 2; ++c) mask.each[c] = elements[j * 8 + c < last ? j * 8 + c : last];
            }
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                int& to = s[j * 4 + half * 2 + c];
                if constexpr (is_added(kMask))
                    to = __float_as_int(ptx::fma_rn_f32(Pair::value(mask.each[c]), kLog2e, scaling.logit(to, half)));
                else if (!mask.each[c])
                    to = kHidden;
            }
        }
    }
}

// Keys that the row does not see, or that the mask hides.
template <Mask kMask, class T>
__device__ __forceinline__ void hide(const Call<T>& p, const Work& work, const Place& at, int first_key, const Scaling& scaling,
                                     int (&s)[kKeys / 2]) {
    if constexpr (kMask != Mask::none) apply_mask<kMask>(p, work, at, first_key, scaling, s);
    Range range[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
        range[half] = visible_keys(p, at.row(half), work.queries.length, work.keys.length);
    // With a mask most tiles come here for it alone. The later row begins and ends no earlier.
    if constexpr (kMask != Mask::none)
        if (range[1].begin <= first_key && range[0].end >= first_key + kKeys) return;
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i) {
        const int key = key_of(at, first_key, i / 4, i % 4);
        if (key < range[i % 4 / 2].begin || key >= range[i % 4 / 2].end)
            s[i] = is_added(kMask) ? __float_as_int(minus_infinity()) : kHidden;
    }
}

// The softmax of hopper_attention.cuh for logits that are floats already: no offset of integers to take away.
__device__ __forceinline__ void softmax_of_logits(const int (&s)[kKeys / 2], float (&max)[2], float (&rescale)[2],
                                                  unsigned (&codes)[kKeys / 32][4]) {
    float offset[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most = __int_as_float(s[half * 2]);
#pragma unroll
        for (int i = 1; i < kKeys / 4; ++i) most = ptx::max_NaN_f32(most, __int_as_float(s[i / 2 * 4 + half * 2 + i % 2]));
        most = ptx::max_NaN_f32(most, ptx::shfl_sync_bfly_f32(most, 1));
        most = ptx::max_NaN_f32(most, ptx::shfl_sync_bfly_f32(most, 2));
        const float before = max[half];
        max[half] = ptx::max_NaN_f32(before, most);
        const float subtrahend = max[half] == minus_infinity() ? 0.0f : max[half];
        rescale[half] = ptx::ex2_approx_ftz_f32(ptx::sub_rn_f32(before, subtrahend));
        offset[half] = ptx::sub_rn_f32(kLog2Largest, subtrahend);
    }
#pragma unroll
    for (int step = 0; step < kKeys / 32; ++step)
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // as softmax() has it
            float x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int half = i % 2, at_s = (step * 4 + i / 2 * 2 + c / 2) * 4 + half * 2 + c % 2;
                x[c] = ptx::ex2_approx_ftz_f32(ptx::add_rn_f32(__int_as_float(s[at_s]), offset[half]));
            }
            codes[step][i] = ptx::cvt_rn_satfinite_e4m3x2_f32(x[1], x[0]) |
                             static_cast<unsigned>(ptx::cvt_rn_satfinite_e4m3x2_f32(x[3], x[2])) << 16;
        }
}

}  // namespace hopper
}  // namespace sage3
