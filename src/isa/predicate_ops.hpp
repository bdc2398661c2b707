// SPDX-License-Identifier: Apache-2.0
// Booleans of 32 lanes: .and, .or, .xor with a predicate operand, and predicates as results.
#pragma once
#include <string_view>

#include "isa/lane.hpp"

namespace ww::isa {

enum class BoolOp : uint8_t { none, and_, or_, xor_ };

inline BoolOp bool_op(std::string_view modifier) {
    return modifier == ".and"   ? BoolOp::and_
           : modifier == ".or"  ? BoolOp::or_
           : modifier == ".xor" ? BoolOp::xor_
                                : BoolOp::none;
}
inline LaneMask combine(BoolOp op, LaneMask a, LaneMask b) {
    switch (op) {
        case BoolOp::and_:
            return a & b;
        case BoolOp::or_:
            return a | b;
        case BoolOp::xor_:
            return a ^ b;
        default:
            return a;
    }
}

// One bit a lane from a test of each lane. The constant per lane keeps the loop vectorisable.
template <class F>
inline LaneMask lanes_where(F&& test) {
    LaneMask bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= test(lane) ? LaneMask{1} << lane : 0;
    return bits;
}

// Register or immediate predicates, the destination included.
inline bool check_predicates(const Match& match, std::initializer_list<int> positions,
                             Binding& binding) {
    for (const int position : positions)
        if (!check_predicate(match, position, binding)) return false;
    return true;
}

}  // namespace ww::isa
