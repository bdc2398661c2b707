// SPDX-License-Identifier: Apache-2.0
// Eight channels of a token of the caller's tensor, as one load where its rows are 16-byte pieces.
#pragma once
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kChannels = 8;

// Whether all rows begin at a multiple of 16 bytes.
template <class T>
__device__ __forceinline__ bool whole_vectors(const Strided<T>& x) {
    return ((reinterpret_cast<unsigned long long>(x.data) | (x.batch | x.head | x.token) * 2) & 15) == 0;
}

template <class T>
struct Channels {
    unsigned words[kChannels / 2];

    __device__ __forceinline__ static Channels zeros() { return {{0, 0, 0, 0}}; }
    // Those from `channel` on; zeros beyond depth. whole: none is, and the row begins at a multiple of 16 bytes.
    __device__ __forceinline__ static Channels of(const T* row, int channel, int depth, bool whole) {
        if (whole) {
            const uint4 all = *reinterpret_cast<const uint4*>(row + channel);
            return {{all.x, all.y, all.z, all.w}};
        }
        Channels out = zeros();
#pragma unroll
        for (int c = 0; c < kChannels; ++c)
            if (channel + c < depth) out.words[c / 2] |= static_cast<unsigned>(row[channel + c].bits) << c % 2 * 16;
        return out;
    }
    // The compiler must not know from here on what they are.
    __device__ __forceinline__ void hide() {
        asm volatile("" : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3]));
    }
    __device__ __forceinline__ float value(int c) const {
        return widen(T{static_cast<unsigned short>(words[c / 2] >> c % 2 * 16)});
    }
};

}  // namespace sage3
