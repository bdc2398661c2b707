// SPDX-License-Identifier: Apache-2.0
// The axes and scalars of port.toml as a problem: what the reference and the plan both read.
#pragma once
#include "sage3/sage3_problem.hpp"

namespace ww::sage3 {

// integer(name) is an axis or scalar of the case.
template <class F>
Problem problem_of(F integer, double scale) {
    const auto window = [&](const char* name) { return integer(name) < 0 ? kUnbounded : integer(name); };
    return {.b = integer("B"), .h = integer("H"), .h_kv = integer("Hkv"), .lq = integer("Lq"), .lk = integer("Lk"),
            .d = integer("D"), .scale = static_cast<double>(static_cast<float>(scale)),
            .causal = static_cast<Causal>(integer("causal")), .left = window("left"), .right = window("right"),
            .mask = static_cast<Mask>(integer("mask_type")), .global_mean = integer("global_mean") != 0,
            .smooth_v = integer("smooth_v") != 0, .packed = integer("S"), .longest_q = integer("longest_q"),
            .longest_k = integer("longest_k")};
}

}  // namespace ww::sage3
