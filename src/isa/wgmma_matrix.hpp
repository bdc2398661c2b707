// SPDX-License-Identifier: Apache-2.0
// Matrices of wgmma in shared memory: what a descriptor says, and the way from its layout to plain
// rows. Every row of A and every column of B is 32 bytes, whatever the type.
#pragma once
#include <cstdint>

#include "isa/mbarrier_ops.hpp"

namespace ww::isa {

constexpr int kMmaRowBytes = 32;

// PTX manual, "Matrix Descriptor Format". All in bytes.
struct MatrixDescriptor {
    uint32_t start = 0, leading = 0, stride = 0;
    uint32_t base_offset = 0;  // rows of 128 bytes by which the swizzle's pattern is off
    uint32_t span = 16;        // of the swizzle: 128, 64, 32; 16 without one
    static MatrixDescriptor decode(uint64_t bits);

    // Where 16 bytes lie. K-major: row is along M or N, chunk along K. MN-major: row is along K,
    // chunk along M or N.
    uint32_t k_major(uint32_t row, uint32_t chunk) const;
    uint32_t mn_major(uint32_t row, uint32_t chunk) const;

  private:
    uint32_t swizzled(uint32_t address) const;
};

// rows x 32 bytes. transposed (16-bit elements only): MN-major in memory.
void gather_matrix(const AsyncAccess& by, uint64_t descriptor, int rows, bool transposed, uint8_t* matrix);

}  // namespace ww::isa
