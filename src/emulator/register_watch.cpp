// SPDX-License-Identifier: Apache-2.0
#include "emulator/register_watch.hpp"

#include "isa/row.hpp"
#include "isa/wgmma_ops.hpp"

namespace ww::emulator {
namespace {

using Kind = isa::Operand::Kind;
using Name = std::pair<uint32_t, std::string>;  // function, register

void collect(const isa::Operand& operand, std::vector<std::string>& names) {
    if (operand.kind == Kind::name) names.push_back(operand.text);
    for (const isa::Operand& item : operand.items) collect(item, names);
}

struct Names {
    std::vector<std::string> reads, writes;
};

RegisterUse::Kind kind_of(const ptx::Instruction* source) {
    if (!source || !source->row) return RegisterUse::Kind::other;
    if (source->row->bind == isa::bind_wgmma) return RegisterUse::Kind::product;
    return source->row->bind == isa::bind_wgmma_fence ? RegisterUse::Kind::fence : RegisterUse::Kind::other;
}

// The first operand is written if it is a product's, or the syntax calls it d, r, p or q; all others
// are read.
Names names_of(const ptx::Instruction& instruction) {
    Names out;
    if (!instruction.row) return out;
    const std::vector<std::string> positions = isa::operand_names(*instruction.row);
    const std::string_view first = positions.empty() ? std::string_view() : positions[0];
    const bool named = !first.empty() && std::string_view("drpq").find(first[0]) != std::string_view::npos;
    const bool writes = named || kind_of(&instruction) == RegisterUse::Kind::product;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
        const isa::Operand& operand = instruction.operands[i];
        collect(operand, i == 0 && writes && operand.kind != Kind::address ? out.writes : out.reads);
    }
    return out;
}

}  // namespace

RegisterWatch::RegisterWatch(const Kernel& kernel, OnRegisters observer) : observer_(std::move(observer)) {
    std::map<Name, uint32_t> numbers;
    const std::vector<machine::Inst>& program = kernel.program.code;
    for (size_t i = 0; i < program.size(); ++i) {
        if (kind_of(kernel.source[i]) != RegisterUse::Kind::product) continue;
        std::vector<std::string> names;
        // Accumulators, and A where it is in registers: a descriptor is no fragment.
        for (size_t operand = 0; operand < 2; ++operand)
            if (kernel.source[i]->operands[operand].kind == Kind::vector) collect(kernel.source[i]->operands[operand], names);
        for (std::string& name : names)
            if (numbers.try_emplace({kernel.function_of[i], name}, names_.size()).second) names_.push_back(name);
    }
    if (numbers.empty()) return;
    code_ = program;
    for (size_t i = 0; i < program.size(); ++i) {
        if (!kernel.source[i]) continue;
        auto watched = std::make_unique<Watched>(Watched{this, &program[i], {.kind = kind_of(kernel.source[i])}});
        const Names names = names_of(*kernel.source[i]);
        const auto number = [&](const std::vector<std::string>& from, std::vector<uint32_t>& to) {
            for (const std::string& name : from)
                if (const auto found = numbers.find({kernel.function_of[i], name}); found != numbers.end()) to.push_back(found->second);
        };
        number(names.reads, watched->use.reads);
        number(names.writes, watched->use.writes);
        const bool touches = !watched->use.reads.empty() || !watched->use.writes.empty();
        if (!touches && watched->use.kind != RegisterUse::Kind::fence) continue;
        code_[i].run = run;
        code_[i].aux = reinterpret_cast<uint64_t>(watched.get());
        watched_.push_back(std::move(watched));
    }
}

void RegisterWatch::run(machine::Warp& warp, const machine::Inst& inst) {
    const Watched& watched = *reinterpret_cast<const Watched*>(inst.aux);
    watched.watch->observer_(warp, *watched.original, watched.use);
    watched.original->run(warp, *watched.original);
}

}  // namespace ww::emulator
