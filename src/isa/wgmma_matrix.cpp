// SPDX-License-Identifier: Apache-2.0
#include "isa/wgmma_matrix.hpp"

#include <array>

namespace ww::isa {
namespace {

constexpr uint32_t kChunk = 16, kCore = 8;  // a core matrix is 8 rows of 16 bytes

// Chunks of the issuing block's shared memory. An observer hears of all of them at once.
class Chunks {
  public:
    explicit Chunks(const AsyncAccess& by) : by_(by), shared_(by.warp.block->shared) {}
    ~Chunks() { by_.notify({seen_.data(), count_}, kChunk, Access::read); }
    const uint8_t* at(uint32_t address) {
        if (!shared_.contains(address, kChunk) || !valid(address)) {
            const MemoryRange range = by_.warp.range(Space::shared, address, kChunk, kChunk, Access::read, by_.lane);
            by_.check(range, Access::read);
        }
        if (by_.warp.sink) note(address);
        return shared_.data + address;
    }

  private:
    void note(uint32_t address) {
        if (count_ == seen_.size()) {
            by_.notify(seen_, kChunk, Access::read);
            count_ = 0;
        }
        seen_[count_++] = machine::window_of(Space::shared) + address;
    }
    bool valid(uint32_t address) const {
        uint64_t bits[2];
        std::memcpy(bits, shared_.valid + address, sizeof bits);
        return (bits[0] & bits[1]) == 0x0101010101010101u;
    }
    const AsyncAccess& by_;
    const machine::Region& shared_;
    std::array<uint64_t, 64> seen_;
    size_t count_ = 0;
};

}  // namespace

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
    constexpr uint32_t kSpans[] = {16, 128, 64, 32};
    const auto field = [&](int at) { return static_cast<uint32_t>(bits >> at & 0x3fff) << 4; };
    return {.start = field(0),
            .leading = field(16),
            .stride = field(32),
            .base_offset = static_cast<uint32_t>(bits >> 49 & 7),
            .span = kSpans[bits >> 62]};
}

// Bits 4 to 6 are exclusive-ored with the number of the 128-byte row within the pattern; of the
// shorter swizzles, with as many of its low bits as they have.
uint32_t MatrixDescriptor::swizzled(uint32_t address) const {
    const uint32_t mask = span / kChunk - 1;
    return address ^ (((address >> 7) - base_offset) & mask) << 4;
}

uint32_t MatrixDescriptor::k_major(uint32_t row, uint32_t chunk) const {
    const uint32_t step = span == kChunk ? leading : kChunk;
    return swizzled(start + row % kCore * span + row / kCore * stride + chunk * step);
}

uint32_t MatrixDescriptor::mn_major(uint32_t row, uint32_t chunk) const {
    if (span == kChunk) return start + chunk * stride + row % kCore * kChunk + row / kCore * leading;
    const uint32_t wide = span / kChunk;
    return swizzled(start + chunk % wide * kChunk + chunk / wide * leading + row % kCore * span + row / kCore * stride);
}

void gather_matrix(const AsyncAccess& by, uint64_t descriptor, int rows, bool transposed, uint8_t* matrix) {
    const MatrixDescriptor layout = MatrixDescriptor::decode(descriptor);
    Chunks chunks(by);
    const uint32_t count = static_cast<uint32_t>(rows);
    if (!transposed) {
        for (uint32_t row = 0; row < count; ++row)
            for (uint32_t chunk = 0; chunk < kMmaRowBytes / kChunk; ++chunk)
                std::memcpy(matrix + row * kMmaRowBytes + chunk * kChunk, chunks.at(layout.k_major(row, chunk)), kChunk);
        return;
    }
    constexpr uint32_t kDepth = kMmaRowBytes / sizeof(uint16_t);
    for (uint32_t chunk = 0; chunk < count / kCore; ++chunk)
        for (uint32_t k = 0; k < kDepth; ++k) {
            const uint8_t* from = chunks.at(layout.mn_major(k, chunk));
            for (uint32_t i = 0; i < kCore; ++i)
                std::memcpy(matrix + (chunk * kCore + i) * kMmaRowBytes + k * sizeof(uint16_t), from + i * sizeof(uint16_t),
                            sizeof(uint16_t));
        }
}

}  // namespace ww::isa
