// SPDX-License-Identifier: Apache-2.0
#include "sass/registers.hpp"

#include <algorithm>
#include <charconv>

#include "sass/opcode.hpp"

namespace ww::sass {
namespace {

bool is_word(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The register that a whole word names.
std::optional<Register> from_word(std::string_view word) {
    struct Prefix {
        std::string_view letters, constant;
        File file;
    };
    constexpr Prefix kPrefixes[] = {{"UR", "URZ", File::uniform},
                                    {"UP", "UPT", File::uniform_predicate},
                                    {"R", "RZ", File::general},
                                    {"P", "PT", File::predicate}};
    for (const Prefix& prefix : kPrefixes) {
        if (word == prefix.constant) return Register{prefix.file, -1};
        if (!word.starts_with(prefix.letters)) continue;
        const std::string_view digits = word.substr(prefix.letters.size());
        int index = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), index);
        if (error == std::errc{} && end == digits.data() + digits.size() && index >= 0 &&
            index < 256)
            return Register{prefix.file, index};
    }
    return std::nullopt;
}

int result_registers(const Instruction& instruction) {
    const std::string_view opcode = instruction.opcode, base = base_name(opcode);
    if (const auto work = tensor_work(opcode); work && work->warpgroup)
        return std::max(4, work->n / (has_modifier(opcode, "F16") ? 4 : 2));
    if (classify(opcode).of == Class::tensor) return 4;
    if (base == "LDSM") return shared_bytes(opcode) / 128;
    if (has_modifier(opcode, "128")) return 4;
    if (has_modifier(opcode, "ENL2")) return 8;
    if (has_modifier(opcode, "64") || has_modifier(opcode, "WIDE") || base.starts_with('D'))
        return 2;
    if (base == "CS2R") return has_modifier(opcode, "32") ? 1 : 2;
    return 1;
}

bool writes_nothing(const Instruction& instruction) {
    const Opcode opcode = classify(instruction.opcode);
    if (opcode.access == Access::store) return true;
    switch (opcode.of) {
        case Class::branch:
        case Class::barrier:
        case Class::async_copy:
        case Class::tma: return true;
        default: return !instruction.operands.empty() && instruction.operands.front() == '[';
    }
}

}  // namespace

std::optional<Register> register_of(std::string_view operand) {
    const size_t from = operand.find_first_not_of("-~!|");
    if (from == std::string_view::npos) return std::nullopt;
    size_t end = from;
    while (end < operand.size() && is_word(operand[end])) ++end;
    if (end < operand.size() && operand[end] != '.' && operand[end] != '|') return std::nullopt;
    return from_word(operand.substr(from, end - from));
}

std::vector<Register> registers_in(std::string_view text) {
    std::vector<Register> out;
    for (size_t i = 0; i < text.size();) {
        if (!is_word(text[i])) {
            ++i;
            continue;
        }
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (const auto found = from_word(text.substr(i, end - i))) out.push_back(*found);
        i = end;
    }
    return out;
}

std::optional<int64_t> number_of(std::string_view operand) {
    if (operand == "RZ" || operand == "URZ" || operand == "SRZ") return 0;
    const bool negative = operand.starts_with('-');
    if (negative) operand.remove_prefix(1);
    if (!operand.starts_with("0x")) return std::nullopt;
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(operand.data() + 2, operand.data() + operand.size(), value, 16);
    if (error != std::errc{} || end != operand.data() + operand.size()) return std::nullopt;
    if (value > uint64_t{INT64_MAX}) return std::nullopt;
    return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

std::vector<Written> written_by(const Instruction& instruction) {
    std::vector<Written> out;
    if (writes_nothing(instruction)) return out;
    const auto operands = operands_of(instruction);
    for (size_t i = 0; i < operands.size() && i < 2; ++i) {
        const auto found = register_of(operands[i]);
        if (!found) break;
        const bool predicate =
            found->file == File::predicate || found->file == File::uniform_predicate;
        // The second operand is a result only where predicates are: ISETP P0, P1, ... and
        // IADD3 R0, P1, ...
        if (i > 0 && !predicate) {
            if (register_of(operands[0])->file == File::general ||
                register_of(operands[0])->file == File::uniform)
                break;
        }
        out.push_back({*found, predicate ? 1 : result_registers(instruction)});
    }
    return out;
}

std::optional<Address> address_of(const Instruction& instruction) {
    for (const std::string_view operand : operands_of(instruction)) {
        const bool is_address = operand.starts_with('[') || operand.starts_with("desc[");
        if (!is_address || !operand.ends_with(']')) continue;
        const std::string_view inside = operand.substr(0, operand.size() - 1);
        const size_t last = std::max(inside.rfind('[') + 1, inside.rfind('+') + 1);
        Address out{inside, 0};
        if (const auto offset = number_of(inside.substr(last))) {
            out.offset = *offset;
            out.base = inside.substr(0, last == 0 ? 0 : last - 1);
        }
        return out;
    }
    return std::nullopt;
}

}  // namespace ww::sass
