// SPDX-License-Identifier: Apache-2.0
#include "emulator/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/target.hpp"
#include "base/text.hpp"
#include "emulator/builtins.hpp"
#include "emulator/function_decoder.hpp"

namespace ww::emulator {
namespace {

using ptx::StateSpace;

using Names = std::set<std::string, std::less<>>;

void collect_names(const isa::Operand& operand, Names& names) {
    if (operand.kind == isa::Operand::Kind::name) names.insert(operand.text);
    for (const isa::Operand& item : operand.items) collect_names(item, names);
}

// The function operand of a call; null for other instructions.
const isa::Operand* callee_of(const ptx::Instruction& instruction) {
    if (!instruction.row || instruction.row->mnemonic() != "call") return nullptr;
    const std::vector<std::string> names = isa::operand_names(*instruction.row);
    const std::vector<const isa::Operand*> given = isa::flat(instruction);
    for (size_t i = 0; i < names.size() && i < instruction.positions.size(); ++i)
        if (names[i] == "fn" && instruction.positions[i] >= 0)
            return given[static_cast<size_t>(instruction.positions[i])];
    return nullptr;
}

// Names that a function's operands use. Those it only calls are no values, so their address is
// not taken.
struct Uses {
    Names called, values;
    bool calls_indirectly = false;
};

Uses uses_of(const ptx::Module& module, const ptx::Function& function) {
    Uses uses;
    for (const ptx::Instruction& instruction : function.instructions) {
        const isa::Operand* callee = callee_of(instruction);
        if (callee && !module.function(callee->text)) uses.calls_indirectly = true;
        for (const isa::Operand& operand : instruction.operands) {
            if (&operand == callee) uses.called.insert(operand.text);
            else collect_names(operand, uses.values);
        }
    }
    return uses;
}

// Every function whose address the module takes: what an indirect call may reach.
Names address_taken(const ptx::Module& module) {
    Names names;
    for (const ptx::Variable& variable : module.variables)
        for (const ptx::Initial& initial : variable.initial)
            if (!initial.symbol.empty()) names.insert(initial.symbol);
    for (const ptx::Function& function : module.functions)
        for (const std::string& name : uses_of(module, function).values) names.insert(name);
    std::erase_if(names, [&](const std::string& name) {
        const ptx::Function* function = module.function(name);
        return !function || function->entry;
    });
    return names;
}

// Functions that the kernel can reach: by name, or through a pointer.
struct Reachable {
    std::vector<const ptx::Function*> functions;  // [0] is the kernel
    Names names;                                  // all names in their operands
};

Reachable reach(const ptx::Module& module, const ptx::Function& kernel) {
    Reachable out;
    std::set<const ptx::Function*> seen{&kernel};
    std::vector<const ptx::Function*> work{&kernel};
    const auto add = [&](std::string_view name) {
        const ptx::Function* function = module.function(name);
        if (function && !function->entry && seen.insert(function).second) work.push_back(function);
    };
    bool indirect = false;
    for (size_t i = 0; i < work.size(); ++i) {
        out.functions.push_back(work[i]);
        const Uses uses = uses_of(module, *work[i]);
        for (const Names* names : {&uses.called, &uses.values})
            for (const std::string& name : *names) {
                add(name);
                out.names.insert(name);
            }
        if (uses.calls_indirectly && !indirect) {
            indirect = true;
            for (const std::string& name : address_taken(module)) add(name);
        }
    }
    return out;
}

// .shared variables at fixed offsets; unsized ones begin where the static ones end.
void layout_shared(const ptx::Module& module, const Reachable& reachable, ProgramContext& context) {
    std::vector<const ptx::Variable*> fixed, dynamic;
    const auto add = [&](const ptx::Variable& variable) {
        if (variable.space != StateSpace::shared) return;
        (variable.bytes() == 0 ? dynamic : fixed).push_back(&variable);
    };
    for (const ptx::Variable& variable : module.variables)
        if (reachable.names.contains(variable.name)) add(variable);
    for (const ptx::Function* function : reachable.functions)
        for (const ptx::Variable& variable : function->variables) add(variable);
    uint64_t end = 0;
    machine::Program& program = context.kernel.program;
    const auto align_to = [&](const ptx::Variable& variable) {
        const uint64_t align = std::max<uint64_t>(variable.alignment(), 1);
        program.shared_align = std::max(program.shared_align, static_cast<uint32_t>(align));
        return (end + align - 1) / align * align;
    };
    for (const ptx::Variable* variable : fixed) {
        const uint64_t at = align_to(*variable);
        context.shared_offsets[variable] = static_cast<uint32_t>(at);
        end = at + variable->bytes();
        if (end > (uint64_t{1} << 24)) {
            context.diagnostics.push_back(at_place(module, variable->place, "shared memory is larger than 16 MiB"));
            return;
        }
    }
    // All unsized variables are names of one place: where dynamic shared memory begins.
    for (const ptx::Variable* variable : dynamic) end = align_to(*variable);
    for (const ptx::Variable* variable : dynamic) context.shared_offsets[variable] = static_cast<uint32_t>(end);
    program.static_shared_bytes = static_cast<uint32_t>(end);
    for (const auto& [variable, offset] : context.shared_offsets)
        context.kernel.shared.push_back({variable->name, offset, variable->bytes(), variable->element_bytes()});
}

// Local memory along the deepest call path; recursion and indirect calls leave it open.
void size_stack(Kernel& kernel) {
    const machine::Program& program = kernel.program;
    std::vector<std::set<uint32_t>> callees(program.functions.size());
    for (const auto& [caller, callee] : kernel.call_edges) {
        if (callee >= 0) callees[caller].insert(static_cast<uint32_t>(callee));
        else kernel.recursive = true;
    }
    std::vector<int> state(program.functions.size(), 0);
    std::vector<uint32_t> need(program.functions.size(), 0);
    const std::function<void(uint32_t)> visit = [&](uint32_t f) {
        state[f] = 1;
        uint32_t deepest = 0;
        for (const uint32_t callee : callees[f]) {
            if (state[callee] == 1) kernel.recursive = true;
            else if (state[callee] == 0) visit(callee);
            deepest = std::max(deepest, need[callee]);
        }
        state[f] = 2;
        need[f] = (program.functions[f].local_bytes + 15) / 16 * 16 + deepest;
    };
    visit(0);
    kernel.stack_bytes = need[0];
    if (kernel.recursive)
        for (const machine::ProgramFunction& function : program.functions)
            kernel.stack_bytes = std::max(kernel.stack_bytes, function.local_bytes);
}

void read_directives(const ptx::Function& function, Kernel& kernel) {
    for (const auto& [name, arguments] : function.directives) {
        std::vector<uint32_t> extents;
        for (std::string_view part : split(arguments, ','))
            if (!trim(part).empty()) extents.push_back(static_cast<uint32_t>(std::strtoul(std::string(trim(part)).c_str(), nullptr, 0)));
        if (name == ".reqnctapercluster" && !extents.empty()) kernel.cluster = std::move(extents);
        if (name != ".maxntid" && name != ".reqntid") continue;
        kernel.max_threads = std::move(extents);
        kernel.exact_threads = name == ".reqntid";
    }
}

}  // namespace

std::vector<KernelParam> kernel_params(const ptx::Function& kernel) {
    std::vector<KernelParam> params;
    uint64_t end = 0;
    for (const ptx::Variable& variable : kernel.params) {
        const uint64_t align = std::max<uint64_t>(variable.alignment(), 1);
        end = (end + align - 1) / align * align;
        params.push_back({variable.name, static_cast<uint32_t>(end), static_cast<uint32_t>(variable.bytes()), static_cast<uint32_t>(align)});
        end += variable.bytes();
    }
    return params;
}

Result<std::unique_ptr<Kernel>> decode(std::shared_ptr<const ptx::Module> module, const std::string& name,
                                       const ModuleMemory& memory) {
    const ptx::Function* function = module->function(name);
    if (!function || !function->entry) return fail(fmt::format("{} has no kernel '{}'", module->name, name));
    auto kernel = std::make_unique<Kernel>();
    kernel->module = module;
    kernel->program.kernel = name;
    kernel->params = kernel_params(*function);
    if (!kernel->params.empty()) kernel->param_bytes = kernel->params.back().offset + kernel->params.back().size;
    Diagnostics diagnostics;
    ProgramContext context{.module = *module, .memory = memory, .kernel = *kernel, .diagnostics = diagnostics};
    for (const std::string& each : module->targets)  // "debug" is none
        if (const Result<Target> target = parse_target(each)) context.target_sm = target->sm;
    for (const ptx::Variable& variable : module->variables) {
        const auto [it, fresh] = context.module_variables.try_emplace(variable.name, &variable);
        if (!fresh && it->second->linkage == ptx::Linkage::external) it->second = &variable;
    }
    const Reachable reachable = reach(*module, *function);
    layout_shared(*module, reachable, context);
    std::vector<std::unique_ptr<FunctionDecoder>> decoders;
    for (const ptx::Function* f : reachable.functions) {
        const uint32_t id = static_cast<uint32_t>(kernel->program.functions.size());
        context.function_ids[f->name] = id;
        if (const auto code = memory.code.find(f->name); code != memory.code.end())
            kernel->program.function_at[code->second] = id;
        machine::ProgramFunction entry{.name = f->name};
        if (!f->has_body) entry.builtin = find_builtin(f->name);
        for (const ptx::Variable& parameter : f->params)
            entry.parameters.push_back({.bytes = static_cast<uint32_t>(parameter.bytes())});
        for (const ptx::Variable& result : f->returns)
            entry.results.push_back({.bytes = static_cast<uint32_t>(result.bytes())});
        kernel->program.functions.push_back(std::move(entry));
    }
    for (uint32_t id = 0; id < reachable.functions.size(); ++id)
        if (reachable.functions[id]->has_body) FunctionDecoder(context, *reachable.functions[id], id).decode();
    if (!diagnostics.empty()) return fail(std::move(diagnostics));
    size_stack(*kernel);
    read_directives(*function, *kernel);
    return kernel;
}

static SourcePlace place_of(const ptx::Module& module, const ptx::Instruction& source) {
    SourcePlace place;
    place.text = ptx::print(source);
    std::replace(place.text.begin(), place.text.end(), '\t', ' ');
    place.ptx_line = source.place.line;
    place.ptx_col = source.place.col;
    place.call_sites = ptx::source_lines(module, source.loc);
    if (place.call_sites.empty()) return place;
    place.file = place.call_sites.front().file;
    place.line = place.call_sites.front().line;
    place.call_sites.erase(place.call_sites.begin());
    return place;
}

SourcePlace source_place(const Kernel& kernel, uint32_t inst) {
    const ptx::Instruction* source = inst < kernel.source.size() ? kernel.source[inst] : nullptr;
    if (source) return place_of(*kernel.module, *source);
    SourcePlace place;
    place.text = "ret";
    return place;
}

std::vector<SourcePlace> operand_places(const Kernel& kernel, uint32_t inst) {
    std::vector<SourcePlace> out;
    const ptx::Instruction* source = inst < kernel.source.size() ? kernel.source[inst] : nullptr;
    if (!source) return out;
    for (const ptx::Function& function : kernel.module->functions) {
        const auto& all = function.instructions;
        if (all.empty() || source < all.data() || source >= all.data() + all.size()) continue;
        for (const ptx::Instruction* each : ptx::operand_definitions(function, *source))
            out.push_back(place_of(*kernel.module, *each));
    }
    return out;
}

}  // namespace ww::emulator
