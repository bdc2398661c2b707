// SPDX-License-Identifier: Apache-2.0
#include "sass/registers.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
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

// Each lane holds m * n results over the lanes that make them together.
int tensor_registers(const Instruction& instruction) {
    const auto work = tensor_work(instruction.opcode);
    if (!work) return 4;
    const int64_t lanes = work->warpgroup ? 128 : 32;
    const int64_t results = int64_t{work->m} * work->n / lanes;
    const bool halves = work->type == TensorType::f16_f16 || work->type == TensorType::fp8_f16;
    const int64_t count = work->type == TensorType::f64 ? results * 2
                          : halves                      ? results / 2
                                                        : results;
    return static_cast<int>(std::clamp<int64_t>(count, 1, 255));
}

// "LDTM.16dp256bit.x4": so many registers by its shape, times its repetitions.
int tensor_memory_registers(std::string_view opcode) {
    int shape = 1, times = 1;
    for (const std::string_view part : split(opcode, '.')) {
        if (part.ends_with("256bit")) shape = 4;
        if (part.ends_with("128bit")) shape = 2;
        if (!part.starts_with('x')) continue;
        const auto [end, error] =
            std::from_chars(part.data() + 1, part.data() + part.size(), times);
        if (error != std::errc{} || end != part.data() + part.size() || times < 1) times = 1;
    }
    return std::clamp(times, 1, 255 / shape) * shape;
}

// I2F.F64.S64, F2I.U64.F64: the result's type is the first one, but where one of them cannot be it.
bool converts_to_64_bits(std::string_view base, std::string_view opcode) {
    if (base == "F2I" || base == "I2I")
        return has_modifier(opcode, "S64") || has_modifier(opcode, "U64");
    if (base == "I2F" || base == "FRND") return has_modifier(opcode, "F64");
    if (base != "F2F") return false;
    for (const std::string_view part : split(opcode, '.')) {
        if (part == "F64") return true;
        if (part == "F32" || part == "F16" || part == "BF16") return false;
    }
    return false;
}

int result_registers(const Instruction& instruction) {
    const std::string_view opcode = instruction.opcode, base = base_name(opcode);
    const Class of = classify(opcode).of;
    if (of == Class::tensor) return tensor_registers(instruction);
    if (of == Class::tensor_memory && base.starts_with("LDT"))
        return tensor_memory_registers(opcode);
    if (of == Class::texture) return 4;  // at most: which ones is a mask among the operands
    if (base == "LDSM") return shared_bytes(opcode) / 128;
    // 256 bits are two results of 128.
    if (has_modifier(opcode, "128") || has_modifier(opcode, "256")) return 4;
    if (has_modifier(opcode, "64") || has_modifier(opcode, "WIDE") || base.starts_with('D'))
        return 2;
    if (base == "CS2R") return has_modifier(opcode, "32") ? 1 : 2;
    if (base == "LEPC" || base == "FADD2" || base == "FMUL2" || base == "FFMA2") return 2;
    return converts_to_64_bits(base, opcode) ? 2 : 1;
}

bool writes_nothing(const Instruction& instruction) {
    const Opcode opcode = classify(instruction.opcode);
    if (opcode.access == Access::store) return true;
    switch (opcode.of) {
        case Class::branch:
            return base_name(instruction.opcode) != "BMOV";
        case Class::barrier:
        case Class::async_copy:
        case Class::tma: return true;
        default: return !instruction.operands.empty() && instruction.operands.front() == '[';
    }
}

bool is_predicate(File file) { return file == File::predicate || file == File::uniform_predicate; }

// How many of the leading operands are results at most, by the first of them. Only predicates come
// second and third: ISETP P0, P1, ...; IADD3 R0, P1, P2, ...; and the other half of 256 bits.
size_t most_results(const Instruction& instruction, const Register& first, size_t operands) {
    const std::string_view base = base_name(instruction.opcode);
    if (base == "VOTE" || base == "VOTEU") return operands < 3 ? 1 : 2;
    return is_predicate(first.file) ? 2 : 3;
}

// R2P PR, R3, 0x7f: every predicate of the mask; all of them where it is not a number.
std::vector<Written> predicates_of_mask(const std::vector<std::string_view>& operands, File file) {
    constexpr int kPredicates = 7;
    const auto mask = operands.size() > 2 ? number_of(operands[2]) : std::nullopt;
    std::vector<Written> out;
    for (int i = 0; i < kPredicates; ++i)
        if (!mask || (*mask >> i & 1) != 0) out.push_back({{file, i}, 1});
    return out;
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
    if (operands.empty()) return out;
    const std::string_view base = base_name(instruction.opcode);
    if (base == "R2P") return predicates_of_mask(operands, File::predicate);
    if (base == "UR2UP") return predicates_of_mask(operands, File::uniform_predicate);
    const auto first = register_of(operands[0]);
    if (!first) return out;
    const size_t most =
        std::min(operands.size(), most_results(instruction, *first, operands.size()));
    for (size_t i = 0; i < most; ++i) {
        const auto found = register_of(operands[i]);
        if (!found) break;
        const bool predicate = is_predicate(found->file);
        const bool second_half = i == 1 && has_modifier(instruction.opcode, "256");
        if (i > 0 && !predicate && !second_half && !is_predicate(first->file)) break;
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
        if (out.base == "[RZ") out.base = {};  // as "[0x10]", which has none
        return out;
    }
    return std::nullopt;
}

}  // namespace ww::sass
