// SPDX-License-Identifier: Apache-2.0
#include "ptx_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "ptx/definitions.hpp"

namespace ww::mutation {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using Change = std::function<void(Function&, size_t)>;

struct Opcode {
    std::string_view from, to;
};
constexpr Opcode kOpcodes[] = {
    {"add.", "sub."},        {"sub.", "add."},      {"mul.rn.", "add.rn."}, {"max.f32", "min.f32"},
    {"shl.b", "shr.b"},      {"shr.u", "shl.b"},    {"shr.s", "shl.b"},     {"and.b", "or.b"},
    {"or.b", "and.b"},       {"fma.rn.", "fma.rz."}, {"rcp.rn.", "sqrt.rn."}, {"mul.rn.", "mul.rz."},
    {"cvt.rn.bf16", "cvt.rz.bf16"}, {"neg.", "abs."}, {"rem.u", "div.u"},  {"div.u", "rem.u"},
    {"mul.lo.", "mul.hi."},  {"cvt.u64.u32", "cvt.s64.s32"},
    {"max.NaN.f32", "min.NaN.f32"}, {"abs.f32", "neg.f32"}, {"div.rn.f32", "div.rz.f32"},
    {"ex2.approx.ftz", "lg2.approx.ftz"}, {"cvt.rn.f16", "cvt.rz.f16"}};
constexpr Opcode kComparisons[] = {{".eq.", ".ne."}, {".ne.", ".eq."}, {".lt.", ".gt."},
                                   {".gt.", ".lt."}, {".le.", ".ge."}, {".ge.", ".lt."}};
constexpr Opcode kBounds[] = {{".lt.", ".le."}, {".le.", ".lt."}, {".gt.", ".ge."}, {".ge.", ".gt."}};

bool starts(const Instruction& instruction, std::string_view opcode) {
    return instruction.opcode.compare(0, opcode.size(), opcode) == 0;
}

void replace_once(std::string& text, std::string_view from, std::string_view to) {
    if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// "%rd" of "%rd17": registers of one class have one prefix.
std::string prefix_of(const std::string& name) {
    return name.substr(0, name.find_first_of("0123456789"));
}
bool is_register(const Operand& operand) {
    return operand.kind == Operand::Kind::name && operand.text.starts_with("%") &&
           operand.text.find('.') == std::string::npos;
}

void set_real(Operand& operand, double factor) {
    float value = 0;
    std::memcpy(&value, &operand.value32, sizeof value);
    value = static_cast<float>(value * factor);
    const double wide = value;
    std::memcpy(&operand.value32, &value, sizeof value);
    std::memcpy(&operand.value, &wide, sizeof wide);
}

class Finder {
  public:
    Finder(const ptx::Module& module, const Function& function)
        : module_(module), function_(function) {
        for (const Instruction& each : function.instructions)
            if (starts(each, "shfl"))
                for (const Instruction* from : ptx::operand_definitions(function, each))
                    if (starts(*from, "mov")) lanes_.insert(from);
    }

    std::vector<PtxEdit> run() {
        for (const auto& [key, i] : instruction_keys(module_, function_)) {
            key_ = key;
            const Instruction& instruction = function_.instructions[i];
            order(instruction);
            opcodes(instruction);
            for (size_t k = 0; k < instruction.operands.size(); ++k) operand(instruction, k);
            swaps(instruction);
        }
        return std::move(edits_);
    }

  private:
    void add(Kind kind, const Instruction& instruction, Change change) {
        const auto lines = ptx::source_lines(module_, instruction.loc);
        PtxEdit edit{.kind = kind, .key = key_, .change = std::move(change)};
        if (!lines.empty()) {
            edit.file = std::filesystem::path(lines.front().file).filename().string();
            edit.line = lines.front().line;
        }
        edits_.push_back(std::move(edit));
    }

    // Dropped instructions, removed barriers, and guards.
    void order(const Instruction& instruction) {
        const bool waits = starts(instruction, "bar.") || starts(instruction, "cp.async.commit") ||
                           starts(instruction, "cp.async.wait");
        if (!starts(instruction, "ret")) add(waits ? Kind::barrier : Kind::dropped, instruction, {});
        if (!instruction.guard.empty())
            add(Kind::comparison, instruction, [](Function& f, size_t i) {
                f.instructions[i].guard_negated = !f.instructions[i].guard_negated;
            });
    }

    void renamed(Kind kind, const Instruction& instruction, const Opcode& row) {
        add(kind, instruction, [row](Function& f, size_t i) {
            replace_once(f.instructions[i].opcode, row.from, row.to);
        });
    }

    void opcodes(const Instruction& instruction) {
        for (const Opcode& row : kOpcodes)
            if (starts(instruction, row.from)) renamed(Kind::opcode, instruction, row);
        const bool compares = starts(instruction, "setp");
        for (const Opcode& row : kComparisons)
            if (compares && instruction.opcode.find(row.from) != std::string::npos)
                renamed(Kind::comparison, instruction, row);
        for (const Opcode& row : kBounds)
            if (compares && instruction.opcode.find(row.from) != std::string::npos)
                renamed(Kind::bound, instruction, row);
        if (starts(instruction, "shfl.sync.bfly"))
            for (const std::string_view to : {"shfl.sync.up", "shfl.sync.down", "shfl.sync.idx"})
                renamed(Kind::lane, instruction, {"shfl.sync.bfly", to});
    }

    void operand(const Instruction& instruction, size_t k) {
        const Operand& operand = instruction.operands[k];
        const bool waits = starts(instruction, "bar.") || starts(instruction, "cp.async");
        if (operand.kind == Operand::Kind::integer && !waits) {
            const Kind kind = starts(instruction, "shfl") || lanes_.count(&instruction) ? Kind::lane
                              : starts(instruction, "setp")                             ? Kind::bound
                                                                                        : Kind::constant;
            for (const int64_t by : {1, -1})
                add(kind, instruction, [k, by](Function& f, size_t i) {
                    f.instructions[i].operands[k].value += static_cast<uint64_t>(by);
                });
            add(kind, instruction, [k](Function& f, size_t i) {
                uint64_t& value = f.instructions[i].operands[k].value;
                value = value == 0 ? 2 : value * 2;
            });
        }
        if (operand.kind == Operand::Kind::real)
            for (const double by : {1.5, 1.001, -1.0})
                add(Kind::constant, instruction, [k, by](Function& f, size_t i) {
                    set_real(f.instructions[i].operands[k], by);
                });
        if (operand.kind == Operand::Kind::address && operand.items.size() == 1)
            add(Kind::constant, instruction,
                [k](Function& f, size_t i) { f.instructions[i].operands[k].displacement += 4; });
        if (operand.text == "%tid.x")
            for (const char* to : {"%laneid", "%ctaid.x"})
                add(Kind::lane, instruction,
                    [k, to](Function& f, size_t i) { f.instructions[i].operands[k].text = to; });
        if (is_register(operand) && (k > 0 || ptx::defined_registers(instruction).empty()))
            other_register(instruction, k);
    }

    // The register that was defined last before, in its place.
    void other_register(const Instruction& instruction, size_t k) {
        add(Kind::operand, instruction, [k](Function& f, size_t i) {
            std::string& name = f.instructions[i].operands[k].text;
            for (size_t before = i; before-- > 0;)
                for (const std::string& other : ptx::defined_registers(f.instructions[before]))
                    if (other != name && prefix_of(other) == prefix_of(name)) {
                        name = other;
                        return;
                    }
        });
    }

    void swaps(const Instruction& instruction) {
        const auto& all = instruction.operands;
        for (size_t k = 1; k + 1 < all.size(); ++k) {
            const bool registers = is_register(all[k]) && is_register(all[k + 1]) &&
                                   prefix_of(all[k].text) == prefix_of(all[k + 1].text);
            const bool number = is_register(all[k]) && all[k + 1].kind == Operand::Kind::integer &&
                                !starts(instruction, "shfl") && !starts(instruction, "mad");
            if (registers || number)
                add(Kind::operand, instruction, [k](Function& f, size_t i) {
                    std::swap(f.instructions[i].operands[k], f.instructions[i].operands[k + 1]);
                });
        }
    }

    const ptx::Module& module_;
    const Function& function_;
    std::set<const Instruction*> lanes_;  // what sets the lane of a shfl
    std::string key_;
    std::vector<PtxEdit> edits_;
};

Function& changeable(ptx::Module& module, std::string_view entry) {
    return const_cast<Function&>(entry_of(module, entry));
}

}  // namespace

const Function& entry_of(const ptx::Module& module, std::string_view entry) {
    const Function* function = module.function(entry);
    WW_CHECK(function != nullptr, std::string(entry));
    return *function;
}

std::map<std::string, size_t> instruction_keys(const ptx::Module& module, const Function& function) {
    std::map<std::string, size_t> out;
    std::map<std::string, int> counts;
    for (size_t i = 0; i < function.instructions.size(); ++i) {
        std::string key = function.instructions[i].opcode + "|";
        for (const ptx::SourceLine& each : ptx::source_lines(module, function.instructions[i].loc))
            key += fmt::format("{}:{} ", std::filesystem::path(each.file).filename().string(), each.line);
        const int nth = counts[key]++;
        out.emplace(key + "#" + std::to_string(nth), i);
    }
    return out;
}

std::vector<PtxEdit> ptx_edits(const ptx::Module& plain, const ptx::Module& taps,
                               std::string_view entry) {
    std::vector<PtxEdit> edits = Finder(taps, entry_of(taps, entry)).run();
    const auto also = instruction_keys(plain, entry_of(plain, entry));
    std::erase_if(edits, [&](const PtxEdit& edit) { return also.count(edit.key) == 0; });
    return edits;
}

std::string applied(ptx::Module module, std::string_view entry, const PtxEdit& edit,
                    std::string& before, std::string& after) {
    Function& function = changeable(module, entry);
    const size_t i = instruction_keys(module, function).at(edit.key);
    before = ptx::print(function.instructions[i]);
    after.clear();
    if (edit.change) {
        edit.change(function, i);
        after = ptx::print(function.instructions[i]);
    } else {
        std::erase_if(function.body, [&](const ptx::Statement& statement) {
            return statement.kind == ptx::Statement::Kind::instruction && statement.index == i;
        });
    }
    return ptx::print(module);
}

}  // namespace ww::mutation
