// SPDX-License-Identifier: Apache-2.0
#include "isa/half_tables.hpp"

#include <cmath>
#include <memory>

#include "numerics/formats.hpp"

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

uint16_t code_of(Format format, double value, Rounding rounding) {
    return static_cast<uint16_t>(numerics::encode(format, value, {.rounding = rounding}));
}

// Cutting toward zero never gives infinity; from 2^limit on the result is one.
uint16_t ex2(Format format, double x, double limit) {
    return code_of(format, std::exp2(x), x >= limit ? Rounding::rn : Rounding::rz);
}
bool is_subnormal_bf16(uint16_t code) { return (code & 0x7f80) == 0; }

}  // namespace

// The tables live as long as the program.
const HalfTable& ex2_f16() {
    static const HalfTable* const kTable = make_table(
        [](uint16_t code) { return ex2(Format::f16, numerics::decode(Format::f16, code), 16.0); });
    return *kTable;
}
const HalfTable& ex2_ftz_bf16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        const double x = is_subnormal_bf16(code) ? 0.0 : numerics::decode(Format::bf16, code);
        const uint16_t result = ex2(Format::bf16, x, 128.0);
        return is_subnormal_bf16(result) ? uint16_t{0} : result;
    });
    return *kTable;
}
const HalfTable& tanh_f16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        return code_of(Format::f16, std::tanh(numerics::decode(Format::f16, code)), Rounding::rn);
    });
    return *kTable;
}
const HalfTable& tanh_bf16() {
    static const HalfTable* const kTable = make_table([](uint16_t code) {
        return code_of(Format::bf16, std::tanh(numerics::decode(Format::bf16, code)), Rounding::rn);
    });
    return *kTable;
}

}  // namespace ww::isa
