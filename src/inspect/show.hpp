// SPDX-License-Identifier: Apache-2.0
// `asm show`: the SASS of a kernel or of one loop with its control codes, beside the PTX and the
// source lines that it comes from.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "inspect/asm_info.hpp"
#include "sass/control.hpp"

namespace ww::inspect {

struct SourceText {
    std::string file;
    int line = 0;
    std::string text;  // empty: the file is not to be had
};

struct ShownInstruction {
    uint32_t address = 0;
    std::string text;      // "@P0 LDG.E R4, desc[UR4][R2.64]"
    sass::Class of = sass::Class::other;
    std::optional<sass::Control> control;  // nothing: the listing has no encodings
    int loop = -1;         // innermost
    bool target = false;   // a branch goes here
    int ptx_line = 0;      // 0: unknown
    std::string ptx;       // that line's text
    std::vector<SourceText> source;  // innermost first, then where it was inlined
};

struct Shown {
    std::string kernel, target;
    std::optional<int> loop;
    std::string summary;  // of the loop: its counts and what bounds it
    int scheduled = -1;   // cycles: the sum of the stall counts; -1: unknown
    std::vector<ShownInstruction> instructions;
};

// loop: as asm_info numbers them; nothing: the whole kernel.
Result<Shown> show(const KernelInfo& kernel, std::optional<int> loop);

// source: with PTX and source lines. colour: with ANSI escapes.
std::string to_text(const Shown& shown, bool source, bool colour);
std::string to_json(const Shown& shown);

}  // namespace ww::inspect
