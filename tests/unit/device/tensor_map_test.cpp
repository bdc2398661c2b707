// SPDX-License-Identifier: Apache-2.0
// Tensor maps of the emulated device: what goes in comes out, and each limit is a diagnostic.
#include "device/tensor_map.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace ww::device {
namespace {

// 256 x 64 bf16, boxes of 64 x 32, a swizzle of 128 bytes.
TensorMapTiled matrix() {
    return {.data_type = 9,
            .address = 0x70000000000,
            .sizes = {256, 64},
            .strides = {512},
            .box = {64, 32},
            .element_strides = {1, 1},
            .swizzle = 3,
            .l2_promotion = 2,
            .oob_fill = 1};
}

TEST(TensorMap, RoundTrip) {
    TensorMapTiled five{.data_type = 0,
                        .address = 0x70000000020,
                        .sizes = {uint64_t{1} << 32, 2, 3, 4, 5},
                        .strides = {uint64_t{1} << 33, 48, 64, (uint64_t{1} << 40) - 32},
                        .box = {256, 1, 2, 3, 4},
                        .element_strides = {1, 8, 1, 2, 1}};
    TensorMapTiled interleaved = five;
    interleaved.interleave = 2;
    interleaved.swizzle = 1;
    interleaved.strides = {32, 64, 96, 128};
    interleaved.box[0] = 3;  // no multiple of 16 bytes: only without an interleave
    for (const TensorMapTiled& given : {matrix(), five, interleaved}) {
        const Result<TensorMap> map = encode_tiled(given);
        ASSERT_TRUE(map) << format(map.error());
        const Result<TensorMapTiled> back = decode_tiled(*map);
        ASSERT_TRUE(back) << format(back.error());
        EXPECT_EQ(back->data_type, given.data_type);
        EXPECT_EQ(back->address, given.address);
        EXPECT_EQ(back->sizes, given.sizes);
        EXPECT_EQ(back->strides, given.strides);
        EXPECT_EQ(back->box, given.box);
        EXPECT_EQ(back->element_strides, given.element_strides);
        EXPECT_EQ(back->interleave, given.interleave);
        EXPECT_EQ(back->swizzle, given.swizzle);
        EXPECT_EQ(back->l2_promotion, given.l2_promotion);
        EXPECT_EQ(back->oob_fill, given.oob_fill);
    }
}

struct BadCase {
    std::function<void(TensorMapTiled&)> change;
    const char* message;
};

TEST(TensorMap, EachLimitIsADiagnostic) {
    const BadCase kCases[] = {
        {[](auto& t) { t.sizes.clear(); }, "0 dimensions"},
        {[](auto& t) { t.sizes.assign(6, 16); }, "6 dimensions"},
        {[](auto& t) { t.strides.push_back(16); }, "1 strides (given 2)"},
        {[](auto& t) { t.box.pop_back(); }, "2 box sizes (given 1)"},
        {[](auto& t) { t.element_strides.clear(); }, "2 element strides (given 0)"},
        {[](auto& t) { t.data_type = 16; }, "data type 16 does not exist"},
        {[](auto& t) { t.interleave = 3; }, "interleave 3 does not exist"},
        {[](auto& t) { t.swizzle = 7; }, "swizzle 7 does not exist"},
        {[](auto& t) { t.l2_promotion = 4; }, "L2 promotion 4 does not exist"},
        {[](auto& t) { t.oob_fill = 2; }, "fill 2 does not exist"},
        {[](auto& t) { t.data_type = 1; }, "only floating-point types are filled with NaN, not UINT16"},
        {[](auto& t) { t.interleave = 1; }, "at least 3 dimensions, not 2"},
        {[](auto& t) { t.address += 8; }, "must be a multiple of 16"},
        {[](auto& t) { t.address = 0; }, "must be a multiple of 16"},
        {[](auto& t) { t.sizes[1] = 0; }, "size 1 is 0"},
        {[](auto& t) { t.sizes[1] = (uint64_t{1} << 32) + 1; }, "size 1 is 4294967297"},
        {[](auto& t) { t.strides[0] = 520; }, "stride 0 is 520 bytes; it must be a multiple of 16"},
        {[](auto& t) { t.strides[0] = uint64_t{1} << 40; }, "below 2^40"},
        {[](auto& t) { t.box[1] = 257; }, "box size 1 is 257"},
        {[](auto& t) { t.box[1] = 0; }, "box size 1 is 0"},
        {[](auto& t) { t.element_strides[1] = 9; }, "element stride 1 is 9"},
        {[](auto& t) { t.box[0] = 4; }, "a box row of 4 BFLOAT16 is 8 bytes; it must be a multiple of 16"},
        {[](auto& t) { t.box[0] = 72; }, "a box row of 144 bytes is longer than the swizzle's 128"},
        {[](auto& t) { t.swizzle = 1; }, "a box row of 128 bytes is longer than the swizzle's 32"},
        {[](auto& t) { t.swizzle = 2; }, "a box row of 128 bytes is longer than the swizzle's 64"},
        {[](auto& t) { t.data_type = 14, t.oob_fill = 0, t.box[0] = 64; }, "box size 0 is 64; with 16U4_ALIGN16B it must be 128"},
        {[](auto& t) { t.data_type = 14, t.oob_fill = 0, t.sizes[0] = 192; }, "it must be a multiple of 128"},
        {[](auto& t) { t.data_type = 15, t.oob_fill = 0, t.box[0] = 128, t.swizzle = 5; }, "swizzle 5 does not go with 16U6_ALIGN16B"},
        {[](auto& t) { t.data_type = 13, t.oob_fill = 0, t.sizes[0] = 255; }, "it must be a multiple of 2"},
    };
    for (const BadCase& bad : kCases) {
        TensorMapTiled tiled = matrix();
        bad.change(tiled);
        const Result<TensorMap> map = encode_tiled(tiled);
        ASSERT_FALSE(map) << bad.message;
        EXPECT_NE(map.error()[0].message.find(bad.message), std::string::npos) << map.error()[0].message;
    }
}

TEST(TensorMap, OtherBytesAreRefused) { EXPECT_FALSE(decode_tiled(TensorMap{})); }

TEST(TensorMap, TheEmulatedDeviceEncodes) {
    const std::unique_ptr<Device> device = open_emulated();
    EXPECT_TRUE(device->encode_tensor_map(matrix()));
    EXPECT_FALSE(device->encode_tensor_map({}));
}

}  // namespace
}  // namespace ww::device
