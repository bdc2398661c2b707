// SPDX-License-Identifier: Apache-2.0
// Addresses from matrix descriptors against the manual's table of canonical layouts, written as it
// stands there: strides of a nested shape in elements, then Swizzle<bits, 4, 3> of the byte address.
#include "isa/wgmma_matrix.hpp"

#include <gtest/gtest.h>

namespace ww::isa {
namespace {

struct Layout {
    int bits = 0;  // of the swizzle: 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes
    uint32_t leading = 0, stride = 0, start = 0;

    uint64_t descriptor() const {
        constexpr uint64_t kModes[] = {0, 3, 2, 1};
        return (start >> 4) | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | kModes[bits] << 62;
    }
    uint32_t swizzle(uint32_t byte) const {
        const uint32_t mask = ((1u << bits) - 1) << 7;
        return byte ^ (byte & mask) >> 3;
    }
    // ((8,m),(T,2k)) : ((W T, SBO), (1, T or LBO)), W = 1, 2, 4, 8
    uint32_t k_major(uint32_t mn, uint32_t k, uint32_t element) const {
        const uint32_t t = 16 / element, wide = 1u << bits;
        const uint32_t across = bits == 0 ? leading : t * element;
        return swizzle(start + mn % 8 * wide * t * element + mn / 8 * stride + k % t * element + k / t * across);
    }
    // none: ((T,1,m),(8,k)) : ((1,T,SBO),(T,LBO)); else ((T,W,m),(8,k)) : ((1,T,LBO),(W T,SBO))
    uint32_t mn_major(uint32_t mn, uint32_t k, uint32_t element) const {
        const uint32_t t = 16 / element, wide = 1u << bits;
        const uint32_t next_mn = bits == 0 ? stride : leading, next_k = bits == 0 ? leading : stride;
        return swizzle(start + mn % t * element + mn / t % wide * t * element + mn / t / wide * next_mn +
                       k % 8 * wide * t * element + k / 8 * next_k);
    }
};

TEST(WgmmaMatrix, KMajorAddressesAreTheManuals) {
    for (int bits = 0; bits < 4; ++bits)
        for (const uint32_t element : {1u, 2u, 4u})
            for (const Layout& layout : {Layout{bits, 2048, 4096, 0}, Layout{bits, 128, 1024, 3072}}) {
                const MatrixDescriptor d = MatrixDescriptor::decode(layout.descriptor());
                for (uint32_t mn = 0; mn < 24; ++mn)
                    for (uint32_t k = 0; k < 32 / element; ++k)
                        ASSERT_EQ(d.k_major(mn, k * element / 16) + k * element % 16, layout.k_major(mn, k, element))
                            << bits << " " << element << " " << mn << " " << k;
            }
}

TEST(WgmmaMatrix, MnMajorAddressesAreTheManuals) {
    for (int bits = 0; bits < 4; ++bits)
        for (const Layout& layout : {Layout{bits, 4096, 1024, 0}, Layout{bits, 1024, 8192, 2048}}) {
            const MatrixDescriptor d = MatrixDescriptor::decode(layout.descriptor());
            for (uint32_t mn = 0; mn < 128; ++mn)
                for (uint32_t k = 0; k < 16; ++k)
                    ASSERT_EQ(d.mn_major(k, mn / 8) + mn % 8 * 2, layout.mn_major(mn, k, 2)) << bits << " " << mn << " " << k;
        }
}

// The manual's example "K-Major, 32B swizzling and tf32 type": Swizzle<1,4,3> o ((8,2),(4,2)) :
// ((8,64),(1,4)).
TEST(WgmmaMatrix, TheManualsExample) {
    const MatrixDescriptor d = MatrixDescriptor::decode((uint64_t{1} << 16) | (uint64_t{16} << 32) | (uint64_t{3} << 62));
    EXPECT_EQ(d.k_major(1, 0), 8u * 4);
    EXPECT_EQ(d.k_major(4, 0), 4u * 8 * 4 + 16);  // the second 128 bytes: chunks change places
    EXPECT_EQ(d.k_major(4, 1), 4u * 8 * 4);
    EXPECT_EQ(d.k_major(8, 1), 64u * 4 + 16);
}

}  // namespace
}  // namespace ww::isa
