// SPDX-License-Identifier: Apache-2.0
#include "device/tensor_map.hpp"

#include <fmt/format.h>

#include <cstring>

#include "machine/tensor_map.hpp"

namespace ww::device {
namespace {

constexpr size_t kMaxRank = machine::kMaxTensorRank;
constexpr uint64_t kMaxSize = uint64_t{1} << 32, kMaxStride = uint64_t{1} << 40;
constexpr uint32_t kMaxBox = 256, kMaxElementStride = 8;

enum Interleave : uint32_t { kInterleaveNone, kInterleave16, kInterleave32, kInterleaveCount };
constexpr uint32_t kL2Count = 4, kFillCount = 2;

constexpr uint32_t kU4Align8 = 13, kU6Align16 = 15;

using Encoded = machine::EncodedTensorMap;
using DataType = machine::TensorType;
using Swizzle = machine::TensorSwizzle;

Swizzle swizzle_of(const TensorMapTiled& t) { return static_cast<Swizzle>(t.swizzle); }

template <class... T>
Failure refuse(fmt::format_string<T...> text, T&&... values) {
    return fail("tensor map: " + fmt::format(text, std::forward<T>(values)...));
}

Status check_enums(const TensorMapTiled& t) {
    const size_t rank = t.sizes.size();
    if (rank < 1 || rank > kMaxRank) return refuse("{} dimensions; there may be 1 to {}", rank, kMaxRank);
    if (t.strides.size() + 1 != rank || t.box.size() != rank || t.element_strides.size() != rank)
        return refuse("{} sizes need {} strides (given {}), {} box sizes (given {}) and {} element strides (given {})",
                      rank, rank - 1, t.strides.size(), rank, t.box.size(), rank, t.element_strides.size());
    if (t.data_type >= machine::kTensorTypeCount) return refuse("data type {} does not exist; the last is {}", t.data_type, machine::kTensorTypeCount - 1);
    if (t.interleave >= kInterleaveCount) return refuse("interleave {} does not exist", t.interleave);
    if (swizzle_of(t) >= Swizzle::count) return refuse("swizzle {} does not exist", t.swizzle);
    if (t.l2_promotion >= kL2Count) return refuse("L2 promotion {} does not exist", t.l2_promotion);
    if (t.oob_fill >= kFillCount) return refuse("out-of-bounds fill {} does not exist", t.oob_fill);
    const DataType& type = machine::kTensorTypes[t.data_type];
    if (t.oob_fill != 0 && !type.is_float) return refuse("only floating-point types are filled with NaN, not {}", type.name);
    if (t.interleave != kInterleaveNone && rank < 3) return refuse("an interleaved layout has at least 3 dimensions, not {}", rank);
    if (t.interleave == kInterleave32 && swizzle_of(t) != Swizzle::bytes32) return refuse("an interleave of 32 bytes needs a swizzle of 32 bytes");
    return ok();
}

Status check_memory(const TensorMapTiled& t) {
    const DataType& type = machine::kTensorTypes[t.data_type];
    const uint64_t align = type.padded || t.interleave == kInterleave32 ? 32 : 16;
    if (t.address == 0 || t.address % align != 0)
        return refuse("the address {:#x} must be a multiple of {}", t.address, align);
    for (size_t i = 0; i < t.sizes.size(); ++i)
        if (t.sizes[i] == 0 || t.sizes[i] > kMaxSize) return refuse("size {} is {}; it may be 1 to 2^32", i, t.sizes[i]);
    const uint64_t unit = type.padded ? 128 : t.data_type == kU4Align8 ? 2 : 1;
    if (t.sizes[0] % unit != 0) return refuse("size 0 is {}; with {} it must be a multiple of {}", t.sizes[0], type.name, unit);
    for (size_t i = 0; i < t.strides.size(); ++i) {
        if (t.strides[i] % align != 0 || t.strides[i] >= kMaxStride)
            return refuse("stride {} is {} bytes; it must be a multiple of {} below 2^40", i, t.strides[i], align);
    }
    return ok();
}

Status check_box(const TensorMapTiled& t) {
    const DataType& type = machine::kTensorTypes[t.data_type];
    for (size_t i = 0; i < t.box.size(); ++i) {
        if (t.box[i] == 0 || t.box[i] > kMaxBox) return refuse("box size {} is {}; it may be 1 to {}", i, t.box[i], kMaxBox);
        if (t.element_strides[i] == 0 || t.element_strides[i] > kMaxElementStride)
            return refuse("element stride {} is {}; it may be 1 to {}", i, t.element_strides[i], kMaxElementStride);
    }
    if (type.padded && t.box[0] != 128) return refuse("box size 0 is {}; with {} it must be 128", t.box[0], type.name);
    if (t.interleave != kInterleaveNone) return ok();
    const uint64_t inner_bits = uint64_t{t.box[0]} * type.bits;
    const uint64_t inner = type.padded ? t.box[0] : inner_bits / 8;  // as it lies in shared memory
    if (inner_bits % 8 != 0 || inner % 16 != 0)
        return refuse("a box row of {} {} is {} bytes; it must be a multiple of 16", t.box[0], type.name, inner);
    const uint64_t span = swizzle_of(t) == Swizzle::none ? UINT64_MAX : swizzle_of(t) == Swizzle::bytes32 ? 32 : swizzle_of(t) == Swizzle::bytes64 ? 64 : 128;
    if (inner > span) return refuse("a box row of {} bytes is longer than the swizzle's {}", inner, span);
    return ok();
}

// What the padded types may not be combined with.
Status check_padded(const TensorMapTiled& t) {
    const DataType& type = machine::kTensorTypes[t.data_type];
    if (!type.padded) return ok();
    if (t.data_type == kU6Align16 && t.interleave != kInterleaveNone) return refuse("{} has no interleaved layout", type.name);
    const bool fits = swizzle_of(t) == Swizzle::none || swizzle_of(t) == Swizzle::bytes128 || swizzle_of(t) == Swizzle::bytes128_atom32 ||
                      (t.data_type == kU6Align16 && swizzle_of(t) == Swizzle::bytes128_atom64);
    if (!fits) return refuse("swizzle {} does not go with {}", t.swizzle, type.name);
    return ok();
}

}  // namespace

Result<TensorMap> encode_tiled(const TensorMapTiled& tiled) {
    for (const auto& check : {check_enums, check_memory, check_box, check_padded}) {
        WW_TRY(checked, check(tiled));
        (void)checked;
    }
    Encoded encoded{};
    encoded.magic = Encoded::kMagic;
    encoded.data_type = static_cast<uint8_t>(tiled.data_type);
    encoded.rank = static_cast<uint8_t>(tiled.sizes.size());
    encoded.interleave = static_cast<uint8_t>(tiled.interleave);
    encoded.swizzle = static_cast<uint8_t>(tiled.swizzle);
    encoded.l2_promotion = static_cast<uint8_t>(tiled.l2_promotion);
    encoded.oob_fill = static_cast<uint8_t>(tiled.oob_fill);
    encoded.address = tiled.address;
    for (size_t i = 0; i < tiled.sizes.size(); ++i) {
        encoded.last_index[i] = static_cast<uint32_t>(tiled.sizes[i] - 1);
        encoded.box[i] = static_cast<uint16_t>(tiled.box[i]);
        encoded.element_strides[i] = static_cast<uint8_t>(tiled.element_strides[i]);
        if (i < tiled.strides.size()) encoded.strides[i] = tiled.strides[i];
    }
    TensorMap map{};
    std::memcpy(map.data(), &encoded, sizeof encoded);
    return map;
}

Result<TensorMapTiled> decode_tiled(const TensorMap& map) {
    Encoded encoded;
    std::memcpy(&encoded, map.data(), sizeof encoded);
    if (!encoded.is_sound())
        return refuse("these 128 bytes are not a tensor map of the emulator");
    TensorMapTiled tiled{.data_type = encoded.data_type, .address = encoded.address};
    for (size_t i = 0; i < encoded.rank; ++i) {
        tiled.sizes.push_back(uint64_t{encoded.last_index[i]} + 1);
        tiled.box.push_back(encoded.box[i]);
        tiled.element_strides.push_back(encoded.element_strides[i]);
        if (i + 1 < encoded.rank) tiled.strides.push_back(encoded.strides[i]);
    }
    tiled.interleave = encoded.interleave;
    tiled.swizzle = encoded.swizzle;
    tiled.l2_promotion = encoded.l2_promotion;
    tiled.oob_fill = encoded.oob_fill;
    return tiled;
}

}  // namespace ww::device
