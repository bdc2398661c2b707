// SPDX-License-Identifier: Apache-2.0
#include "round_trip.hpp"

namespace ww::ptx {

Result<RoundTrip> round_trip(const std::string& text, const std::string& name) {
    WW_TRY(module, parse(text, name));
    Diagnostics unmatched;
    size_t instructions = 0;
    for (const Function& function : module.functions)
        for (const Instruction& instruction : function.instructions) {
            ++instructions;
            if (instruction.row) continue;
            unmatched.push_back({.file = name,
                                 .line = instruction.place.line,
                                 .message = print(instruction) + ": " + instruction.why});
        }
    if (!unmatched.empty()) return fail(std::move(unmatched));
    if (instructions == 0) return fail(Diagnostic{.file = name, .message = "no instructions"});
    std::string printed = print(module);
    WW_TRY(again, parse(printed, name + " (printed)"));
    if (print(again) != printed)
        return fail(Diagnostic{.file = name, .message = "the printed text prints differently"});
    return RoundTrip{std::move(module), std::move(printed), instructions};
}

}  // namespace ww::ptx
