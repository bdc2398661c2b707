// SPDX-License-Identifier: Apache-2.0
// What the text of a compiled kernel says about a place where something is missing: its stores into
// a tensor, what a store takes its value from, which source lines left code. Nothing runs.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "ptx/module.hpp"

namespace ww::ladder {

using SourceLines = std::vector<device::SourceLine>;  // a line, then its call sites, outwards

class KernelText {
  public:
    // Fails on text that is no PTX, or has no such kernel.
    static Result<KernelText> read(std::string_view ptx, const std::string& entry);

    // Stores, reductions and atomics through pointers that come from the parameter; one a place in
    // the source, in text order.
    std::vector<device::WriteRecord::Definition> stores_to(size_t parameter) const;
    // What last defined the registers that the instruction on that PTX line stores.
    std::vector<SourceLines> value_definitions(int ptx_line) const;
    // Registers that the instruction on that PTX line reads though nothing before it sets them.
    std::vector<std::string> unset_registers(int ptx_line) const;
    // Instructions whose results nobody reads, at most limit.
    std::vector<device::WriteRecord::Definition> unused_results(size_t limit) const;
    // Some instruction comes from the line, or from a call on it.
    bool has_code(const device::SourceLine& line) const;

  private:
    KernelText() = default;
    const ptx::Function& function() const { return module_.functions[function_]; }
    const ptx::Instruction* at(int ptx_line) const;
    device::WriteRecord::Definition place_of(const ptx::Instruction& instruction) const;
    bool is_declared(const std::string& name) const;
    // By register: the parameters, as bits, that pointers in it come from. The first 64 count.
    std::map<std::string, uint64_t> pointers() const;

    ptx::Module module_;
    size_t function_ = 0;
    std::set<std::pair<std::string, int>> code_;
};

}  // namespace ww::ladder
