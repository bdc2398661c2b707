// SPDX-License-Identifier: Apache-2.0
// What a multiprocessor does in a clock, by compute capability: one row each, with its source.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sass/opcode.hpp"

namespace ww::sass {

struct Rates {
    int sm = 0;  // 90 for compute capability 9.0
    // Lanes of each pipe; 0 for those that it says nothing of.
    std::array<int, kPipes> lanes{};
    int shared_bytes = 0;
    // Multiply-adds (dense) of the tensor cores, by type; 0: it has none, or nobody has said.
    std::array<int, kTensorTypes> mma{}, wgmma{};
    std::string_view source;
};

// The row of a target ("sm_90a"; sm_121 goes by sm_120's row and the like). Fails with the list of
// known ones.
Result<Rates> rates_of(std::string_view target);

// Each multiprocessor of every row has four schedulers; each issues one instruction a clock.
constexpr int kSchedulers = 4;

}  // namespace ww::sass
