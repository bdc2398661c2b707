// SPDX-License-Identifier: Apache-2.0
// A module loaded into an emulated device: its global variables allocated and initialised, its
// constant bank filled. Kernels are decoded when they are first asked for.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/decode.hpp"
#include "machine/memory.hpp"

namespace ww::emulator {

class ModuleImage {
  public:
    // serial: the module's number on its device, part of its functions' addresses.
    static Result<std::unique_ptr<ModuleImage>> load(std::string_view ptx, const std::string& name,
                                                     machine::GlobalMemory& global, uint32_t serial = 0);
    ~ModuleImage();
    Result<std::shared_ptr<const Kernel>> kernel(const std::string& name);
    std::vector<std::string> kernel_names() const;
    machine::Region constant_bank();
    // A variable of module scope; base 0: it is in the constant bank.
    Result<machine::Region> variable(const std::string& name);

  private:
    explicit ModuleImage(machine::GlobalMemory& global) : global_(global) {}
    Status place_variables();
    Status initialise(const ptx::Variable& variable, uint8_t* to);
    Result<uint64_t> address_of(const ptx::Initial& initial, ptx::Place place) const;

    machine::GlobalMemory& global_;
    std::shared_ptr<const ptx::Module> module_;
    ModuleMemory memory_;
    std::vector<uint8_t> constant_;
    std::map<std::string, std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace ww::emulator
