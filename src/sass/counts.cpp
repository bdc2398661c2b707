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

void Counts::add(const Counts& other) {
    total += other.total;
    for (size_t i = 0; i < kClasses; ++i) {
        of_class[i] += other.of_class[i];
        for (size_t width = 0; width < kWidths.size(); ++width) {
            loads[i][width] += other.loads[i][width];
            stores[i][width] += other.stores[i][width];
        }
    }
    for (const auto& [opcode, count] : other.opcodes) opcodes[opcode] += count;
}

}  // namespace ww::sass
