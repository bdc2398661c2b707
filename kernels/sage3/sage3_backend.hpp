// SPDX-License-Identifier: Apache-2.0
// What the C API runs on: the driver API in the caller's context (sage3_cuda.cpp), or a ww::device::Device
// (sage3_device.cpp: the emulator, or the ladder's GPU). Every function may be called by many threads at once.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::sage3 {

// The calling thread is ready for calls of the back end for as long as this lives.
struct Entered {
    std::string target;  // what to compile for: "sm_120a"
    int ordinal = 0;     // of the GPU
    uint32_t multiprocessors = 1;
    std::shared_ptr<void> guard;
};

class Backend {
  public:
    virtual ~Backend() = default;

    // Of the GPUs that may be entered; all that there are kernels for where none of them is here.
    virtual std::vector<std::string> targets() const = 0;
    // memory: some tensor of the call, or null. Fails where no GPU runs these kernels.
    virtual Result<Entered> enter(const void* memory) = 0;
    // The kernels can use it: it is memory of the GPU that was entered.
    virtual Status check_memory(const Entered& entered, std::string_view argument, const void* memory) = 0;
    // Compiles and loads; by any thread, entered or not. The modules live as long as the back end.
    virtual Result<uint64_t> load(const toolchain::CompileRequest& request) = 0;
    virtual Result<uint64_t> kernel(uint64_t module, const std::string& entry) = 0;
    // Loads the kernel into what was entered, so that a launch need not.
    virtual Status prepare(uint64_t kernel) = 0;
    virtual Status launch(uint64_t kernel, const device::Launch& launch, void* stream) = 0;

    virtual Result<void*> allocate(uint64_t bytes) = 0;
    virtual Status release(void* memory) = 0;
    virtual Status copy_in(void* to, const void* from, uint64_t bytes) = 0;
    virtual Status copy_out(void* to, const void* from, uint64_t bytes) = 0;
};

// The driver, loaded when it is here; no context is made or changed.
Result<std::unique_ptr<Backend>> open_cuda_backend();
// The library that ships has none (library/no_emulator.cpp).
Result<std::unique_ptr<Backend>> open_emulator_backend();

}  // namespace ww::sage3
