// SPDX-License-Identifier: Apache-2.0
#include "isa/small_floats.hpp"

namespace ww::isa {
namespace {

template <int Mantissa, int Bias, uint32_t MaxCode, uint32_t NanCode, int SignBit>
void row(bool relu, const float* values, uint8_t* codes, int count) {
    for (int i = 0; i < count; ++i)
        codes[i] = encode_small<Mantissa, Bias, MaxCode, NanCode, SignBit>(values[i], relu);
}

}  // namespace

void encode_row(const SmallEncode& how, const float* values, uint8_t* codes, int count) {
    using numerics::Format;
    if (how.rounding == numerics::Rounding::rn) {
        switch (how.format) {
            case Format::e4m3:
                return row<3, 7, 0x7e, 0x7f, 7>(how.relu, values, codes, count);
            case Format::e5m2:
                return row<2, 15, 0x7b, 0x7f, 7>(how.relu, values, codes, count);
            case Format::e3m2:
                return row<2, 3, 0x1f, 0x1f, 5>(how.relu, values, codes, count);
            case Format::e2m3:
                return row<3, 1, 0x1f, 0x1f, 5>(how.relu, values, codes, count);
            case Format::e2m1:
                return row<1, 1, 0x07, 0x07, 3>(how.relu, values, codes, count);
            default:
                break;
        }
    }
    const numerics::EncodeOptions options{
        .rounding = how.rounding, .saturate = true, .relu = how.relu};
    for (int i = 0; i < count; ++i)
        codes[i] = static_cast<uint8_t>(numerics::encode(how.format, values[i], options));
}

}  // namespace ww::isa
