// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Stack Manipulation Instructions". These rows parse and have no semantics yet.
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

constexpr std::string_view kTypes = ".type = .u32 .u64";
constexpr Row kRows[] = {
    {"stacksave.type d", kTypes, {73, 52}, "stack-manipulation-instructions-stacksave"},
    {"stackrestore.type a", kTypes, {73, 52}, "stack-manipulation-instructions-stackrestore"},
    {"alloca.type d, size{, imm-align}", kTypes, {73, 52}, "stack-manipulation-instructions-alloca"},
};

}  // namespace

std::span<const Row> stack_rows() { return kRows; }

}  // namespace ww::isa
