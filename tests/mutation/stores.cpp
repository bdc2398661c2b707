// SPDX-License-Identifier: Apache-2.0
#include "stores.hpp"

#include <algorithm>
#include <filesystem>

#include "ptx/definitions.hpp"
#include "ptx_edits.hpp"

namespace ww::mutation {
namespace {

using ptx::Function;
using ptx::Instruction;

// What defines the operands of each instruction, looked for once.
class Definitions {
  public:
    explicit Definitions(const Function& function) : function_(function) {}
    const std::vector<const Instruction*>& of(const Instruction& instruction) {
        auto found = known_.find(&instruction);
        if (found == known_.end())
            found = known_.emplace(&instruction, ptx::operand_definitions(function_, instruction)).first;
        return found->second;
    }

  private:
    const Function& function_;
    std::map<const Instruction*, std::vector<const Instruction*>> known_;
};

// The tensors whose pointers go into the value of the registers that instruction reads.
void collect_tensors(Definitions& definitions, const Instruction& instruction,
                     const std::map<std::string, std::string>& tensors,
                     std::set<const Instruction*>& seen, std::set<std::string>& out) {
    for (const ptx::Operand& operand : instruction.operands)
        for (const ptx::Operand& item : operand.items)
            if (const auto found = tensors.find(item.text); found != tensors.end())
                out.insert(found->second);
    for (const Instruction* each : definitions.of(instruction))
        if (seen.insert(each).second) collect_tensors(definitions, *each, tensors, seen, out);
}

std::map<std::string, std::string> tensors_of(const Function& function, const port::KernelImpl& kernel) {
    std::vector<const port::Arg*> args;
    for (const port::Arg& arg : kernel.args) args.push_back(&arg);
    for (const port::Arg& arg : kernel.tap_args) args.push_back(&arg);
    std::map<std::string, std::string> out;  // by the parameter's name
    for (size_t i = 0; i < args.size() && i < function.params.size(); ++i)
        if (const auto* tensor = std::get_if<port::TensorArg>(&args[i]->value))
            out[function.params[i].name] = tensor->tensor;
    return out;
}

}  // namespace

std::map<std::string, Stores> stores_of(const ptx::Module& module, std::string_view entry,
                                        const port::KernelImpl& kernel) {
    const Function& function = entry_of(module, entry);
    const auto tensors = tensors_of(function, kernel);
    std::map<const Instruction*, std::string> keys;
    for (const auto& [key, i] : instruction_keys(module, function))
        keys[&function.instructions[i]] = key;
    Definitions definitions(function);
    std::map<std::string, Stores> out;
    for (const Instruction& store : function.instructions) {
        if (store.opcode.compare(0, 9, "st.global") != 0) continue;
        std::vector<const Instruction*> all = definitions.of(store);
        // Only the address leads to the pointer; the value may come from an input.
        const std::string& base = store.operands.front().items.front().text;
        std::set<const Instruction*> seen;
        std::set<std::string> into;
        for (const Instruction* each : all) {
            const std::vector<std::string> defined = ptx::defined_registers(*each);
            if (std::find(defined.begin(), defined.end(), base) != defined.end())
                collect_tensors(definitions, *each, tensors, seen, into);
        }
        all.push_back(&store);
        for (const std::string& tensor : into)
            for (const Instruction* each : all) {
                out[tensor].keys.insert(keys.at(each));
                for (const ptx::SourceLine& line : ptx::source_lines(module, each->loc))
                    out[tensor].lines.emplace(
                        std::filesystem::path(line.file).filename().string(), line.line);
            }
    }
    return out;
}

}  // namespace ww::mutation
