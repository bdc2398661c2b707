// SPDX-License-Identifier: Apache-2.0
#include "isa/half_tables.hpp"

#include <memory>

#include "numerics/formats.hpp"
#include "numerics/math.hpp"

namespace ww::isa {
namespace {

using numerics::Format;
using numerics::Rounding;

template <class F>
const HalfTable* make_table(F&& value_of) {
    auto table = std::make_unique<HalfTable>();
    for (uint32_t code = 0; code < table->size(); ++code)
        (*table)[code] = value_of(static_cast<uint16_t>(code));
    return table.release();
}

// The f32 form of the function, cut toward zero. Cutting never gives infinity.
uint16_t cut(Format format, float value, bool overflow = false) {
    const Rounding rounding = overflow ? Rounding::rn : Rounding::rz;
    return static_cast<uint16_t>(numerics::encode(format, value, {.rounding = rounding}));
}
float value_of(Format format, uint16_t code) { return static_cast<float>(numerics::decode(format, code)); }

// From 2^limit on the result is infinity.
uint16_t ex2(Format format, float x, float limit) {
    return cut(format, numerics::ex2_approx(x), x >= limit);
}
bool is_subnormal_bf16(uint16_t code) { return (code & 0x7f80) == 0; }

}  // namespace

// The tables live as long as the program.
const HalfTable& ex2_f16() {
    static const HalfTable* const kTable = make_table(
        [](uint16_t code) { return ex2(Format::f16, value_of(Format::f16, code), 16.0f); });
    return *kTable;
}
const HalfTable& ex2_ftz_bf16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        const float x = is_subnormal_bf16(code) ? 0.0f : value_of(Format::bf16, code);
        const uint16_t result = ex2(Format::bf16, x, 128.0f);
        return is_subnormal_bf16(result) ? uint16_t{0} : result;
    });
    return *kTable;
}
const HalfTable& tanh_f16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        return cut(Format::f16, numerics::tanh_approx(value_of(Format::f16, code)));
    });
    return *kTable;
}
const HalfTable& tanh_bf16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        return cut(Format::bf16, numerics::tanh_approx(value_of(Format::bf16, code)));
    });
    return *kTable;
}

}  // namespace ww::isa
