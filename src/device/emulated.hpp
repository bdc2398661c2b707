// SPDX-License-Identifier: Apache-2.0
// An emulated device with what only the emulator can do: what a CUDA runtime of our own needs.
#pragma once
#include "device/device.hpp"

namespace ww::device {

// What a launch takes besides its dynamic shared memory.
struct KernelNeeds {
    uint32_t static_shared_bytes = 0, local_bytes = 0;  // of a block; of a thread
    uint32_t max_threads = 1024;                        // of a block, by .maxntid or .reqntid
    Dim3 cluster{0, 0, 0};                              // .reqnctapercluster; 0 without
};

struct Variable {
    Address address = 0;  // 0: in the constant bank
    uint64_t bytes = 0;
};

class EmulatedServices {
  public:
    virtual ~EmulatedServices() = default;
    virtual Result<KernelNeeds> needs(KernelId kernel) = 0;
    // Whether kernels may read shared memory that nobody wrote (emulator/launch.hpp); no at first.
    virtual void permit_garbage_in_shared(bool permit) = 0;
    // Memory of zeros that the host reaches too, at the same address, until it is released.
    virtual Result<Address> allocate_shared_with_host(uint64_t bytes) = 0;
    // Device memory to device memory; ranges may overlap. What was uninitialised stays so.
    virtual Status copy(Address to, Address from, uint64_t bytes) = 0;
    // A variable of module scope, and bytes of one from offset on.
    virtual Result<Variable> variable(ModuleId module, const std::string& name) = 0;
    virtual Status copy_to_variable(ModuleId module, const std::string& name, uint64_t offset,
                                    std::span<const std::byte> from) = 0;
    virtual Status copy_from_variable(std::span<std::byte> to, ModuleId module, const std::string& name,
                                      uint64_t offset) = 0;
};

struct Emulated {
    std::unique_ptr<Device> device;
    EmulatedServices* services = nullptr;  // the device's
};
Emulated open_emulated_with_services(const EmulatorOptions& options);

}  // namespace ww::device
