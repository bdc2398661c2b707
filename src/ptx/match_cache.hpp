// SPDX-License-Identifier: Apache-2.0
// isa::match() once per opcode and operand shape: real modules repeat a few hundred of them.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "isa/row.hpp"

namespace ww::ptx {

class MatchCache {
  public:
    void match(isa::Instruction& instruction);

  private:
    struct Matched {
        const isa::Row* row = nullptr;
        std::vector<isa::Choice> choices;
        std::vector<int> positions;
        std::string why;
    };
    std::unordered_map<std::string, Matched> known_;
    std::string key_;
};

}  // namespace ww::ptx
