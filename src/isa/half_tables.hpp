// SPDX-License-Identifier: Apache-2.0
// The special functions of halves as tables of all 65536 inputs, made on first use.
#pragma once
#include <array>
#include <cstdint>

namespace ww::isa {

using HalfTable = std::array<uint16_t, 65536>;

const HalfTable& ex2_f16();       // the exact result cut toward zero, as measured on sm_90
const HalfTable& ex2_ftz_bf16();  // the same rule, subnormals flushed
const HalfTable&
tanh_f16();  // rounded to nearest even: within the manual's bound, not the chip's bits
const HalfTable& tanh_bf16();

}  // namespace ww::isa
