// SPDX-License-Identifier: Apache-2.0
// All single faults that compiled PTX offers, in a fixed order. A kernel is compiled twice, with
// and without taps; the same instruction is changed in both.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mutant.hpp"
#include "ptx/module.hpp"

namespace ww::mutation {

// "add.s32|softmax_plain.cu:35 ...#2": opcode, source lines outwards, and which of those.
std::map<std::string, size_t> instruction_keys(const ptx::Module& module,
                                               const ptx::Function& function);
const ptx::Function& entry_of(const ptx::Module& module, std::string_view entry);

struct PtxEdit {
    Kind kind = Kind::constant;
    std::string key;
    std::string file;  // of the instruction's own source line
    int line = 0;
    // Changes instruction i; an empty function drops it.
    std::function<void(ptx::Function&, size_t i)> change;
};

// For instructions that both modules have.
std::vector<PtxEdit> ptx_edits(const ptx::Module& plain, const ptx::Module& taps,
                               std::string_view entry);
// The module's text with the edit, and through before and after the instruction's.
std::string applied(ptx::Module module, std::string_view entry, const PtxEdit& edit,
                    std::string& before, std::string& after);

}  // namespace ww::mutation
