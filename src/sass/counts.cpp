// SPDX-License-Identifier: Apache-2.0
#include "sass/counts.hpp"

namespace ww::sass {

void Counts::add(const Instruction& instruction) {
    ++total;
    const Opcode opcode = classify(instruction.opcode);
    const size_t of = static_cast<size_t>(opcode.of);
    ++of_class[of];
    ++opcodes[base_name(instruction.opcode)];
    if (opcode.of == Class::matrix || opcode.access == Access::none) return;
    auto& widths = opcode.access == Access::load ? loads : stores;
    ++widths[of][width_index(access_bits(instruction.opcode))];
}

}  // namespace ww::sass
