// SPDX-License-Identifier: Apache-2.0
// The 128 bytes of a tensor map. NVIDIA's layout is not published; this one is ours, known to the
// device that encodes maps and to the instructions that read them, and to nobody else.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ww::machine {

constexpr uint64_t kTensorMapBytes = 128, kTensorMapAlign = 64;
constexpr uint32_t kMaxTensorRank = 5;

enum class TensorSwizzle : uint32_t {
    none, bytes32, bytes64, bytes128, bytes128_atom32, bytes128_atom32_flip8, bytes128_atom64, count
};

// By CUtensorMapDataType. bits: of an element in global memory.
struct TensorType {
    const char* name;
    uint32_t bits;
    std::string_view ptx;  // as reductions name it; empty: they do not take it
    bool is_float = false, padded = false;  // padded: 16 values take 16 bytes in shared memory
    bool flushes = false;  // subnormals count as zero in a reduction
};
constexpr TensorType kTensorTypes[] = {
    {"UINT8", 8, ""}, {"UINT16", 16, ""}, {"UINT32", 32, ".u32"}, {"INT32", 32, ".s32"}, {"UINT64", 64, ".u64"},
    {"INT64", 64, ".s64"}, {"FLOAT16", 16, ".f16", true}, {"FLOAT32", 32, ".f32", true},
    {"FLOAT64", 64, ".f64", true}, {"BFLOAT16", 16, ".bf16", true}, {"FLOAT32_FTZ", 32, ".f32", true, false, true},
    {"TFLOAT32", 32, ".f32", true}, {"TFLOAT32_FTZ", 32, ".f32", true, false, true},
    {"16U4_ALIGN8B", 4, ""}, {"16U4_ALIGN16B", 4, "", false, true}, {"16U6_ALIGN16B", 6, "", false, true},
};
constexpr uint32_t kTensorTypeCount = sizeof kTensorTypes / sizeof kTensorTypes[0];

struct EncodedTensorMap {
    static constexpr uint32_t kMagic = 0x31545757;  // "WWT1"
    uint32_t magic;
    uint8_t data_type, rank, interleave, swizzle, l2_promotion, oob_fill;
    uint8_t atomicity;  // set by tensormap.replace before the 128-byte swizzle that it is for
    uint8_t unused[5];
    uint64_t address;
    uint64_t strides[kMaxTensorRank - 1];  // bytes, of dimension 1 and up
    uint32_t last_index[kMaxTensorRank];   // size - 1: sizes go up to 2^32
    uint16_t box[kMaxTensorRank];
    uint8_t element_strides[kMaxTensorRank];

    // Within the limits of cuTensorMapEncodeTiled: a program can write these bytes itself.
    bool is_sound() const {
        if (magic != kMagic || data_type >= kTensorTypeCount || rank < 1 || rank > kMaxTensorRank) return false;
        if (address % 16 != 0 || oob_fill > 1 || (oob_fill == 1 && !type().is_float)) return false;
        for (uint32_t i = 0; i < rank; ++i) {
            if (box[i] < 1 || box[i] > 256 || element_strides[i] < 1 || element_strides[i] > 8) return false;
            if (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >> 40 != 0)) return false;
        }
        return true;
    }
    const TensorType& type() const { return kTensorTypes[data_type]; }
    // Elements that a box has along a dimension: only every element_strides-th is taken, but along
    // dimension 0 all of them.
    uint32_t box_elements(uint32_t dimension) const {
        const uint32_t step = dimension == 0 ? 1 : element_strides[dimension];
        return (box[dimension] + step - 1) / step;
    }
};
static_assert(sizeof(EncodedTensorMap) <= kTensorMapBytes && std::is_trivially_copyable_v<EncodedTensorMap>);

}  // namespace ww::machine
