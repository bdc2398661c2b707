// SPDX-License-Identifier: Apache-2.0
// ex2.approx's own exponential against libm's.
#include <gtest/gtest.h>

#include "numerics/math.hpp"

namespace ww::numerics {
namespace {

TEST(Exp2, IsTheNearestOfLibmsEverywhere) {
    // Every 61st operand: all of them take ten seconds, and agree.
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 61) {
        const float x = float_of(static_cast<std::uint32_t>(bits));
        const bool flat = std::fabs(x) < 0x1p-30f || std::fabs(x) > 256.0f;
        if (flat && bits % 1009 != 0) continue;
        const float want =
            flush(round_to_f32<Rounding::rn>(std::exp2(static_cast<double>(flush(x)))));
        ASSERT_EQ(bits_of(ex2_approx_ftz(x)), bits_of(want)) << x;
    }
}

}  // namespace
}  // namespace ww::numerics
