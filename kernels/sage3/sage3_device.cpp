// SPDX-License-Identifier: Apache-2.0
// The back end over a ww::device::Device, for tests and the ladder: one call at a time, launches wait.
#include <mutex>
#include <vector>

#include "sage3/sage3_host.hpp"

namespace ww::sage3 {
namespace {

using device::Address;

class DeviceBackend final : public Backend {
  public:
    explicit DeviceBackend(device::Device& device) : device_(device), info_(device.info()) {}
    explicit DeviceBackend(std::unique_ptr<device::Device> owned)
        : owned_(std::move(owned)), device_(*owned_), info_(device_.info()) {}
    ~DeviceBackend() override {  // the device may live on
        for (const device::ModuleId each : modules_) (void)device_.unload(each);
    }

    std::vector<std::string> targets() const override { return {info_.target}; }
    Result<Entered> enter(const void*) override { return Entered{.target = info_.target, .multiprocessors = info_.multiprocessors}; }
    Status check_memory(const Entered&, std::string_view, const void*) override { return ok(); }

    Result<uint64_t> load(const toolchain::CompileRequest& request) override {
        WW_TRY(image, compile(request));
        const std::lock_guard lock(mutex_);
        WW_TRY(module, device_.load(image));
        modules_.push_back(module);
        return uint64_t{module};
    }
    Result<uint64_t> kernel(uint64_t module, const std::string& entry) override {
        const std::lock_guard lock(mutex_);
        WW_TRY(kernel, device_.kernel(static_cast<device::ModuleId>(module), entry));
        return uint64_t{kernel};
    }
    Status prepare(uint64_t) override { return ok(); }
    Status launch(uint64_t kernel, const device::Launch& launch, void*) override {
        const std::lock_guard lock(mutex_);
        WW_TRY(report, device_.launch(static_cast<device::KernelId>(kernel), launch));
        (void)report;
        return ok();
    }

    Result<void*> allocate(uint64_t bytes) override {
        const std::lock_guard lock(mutex_);
        WW_TRY(address, device_.allocate(bytes));
        return reinterpret_cast<void*>(address);
    }
    Status release(void* memory) override {
        const std::lock_guard lock(mutex_);
        return device_.release(reinterpret_cast<Address>(memory));
    }
    Status copy_in(void* to, const void* from, uint64_t bytes) override {
        const std::lock_guard lock(mutex_);
        return device_.copy_in(reinterpret_cast<Address>(to), {static_cast<const std::byte*>(from), bytes});
    }
    Status copy_out(void* to, const void* from, uint64_t bytes) override {
        const std::lock_guard lock(mutex_);
        return device_.copy_out({static_cast<std::byte*>(to), bytes}, reinterpret_cast<Address>(from));
    }

  private:
    Result<device::Image> compile(const toolchain::CompileRequest& request) const {
        if (info_.kind == "cuda") {
            WW_TRY(compiled, toolchain::compile_cubin(request));
            return device::Image{device::Image::Kind::cubin, request.name, std::move(compiled.cubin)};
        }
        WW_TRY(compiled, toolchain::compile_ptx(request));
        return device::Image{device::Image::Kind::ptx, request.name + " (PTX)", std::move(compiled.ptx)};
    }

    std::unique_ptr<device::Device> owned_;
    device::Device& device_;
    const device::Info info_;
    std::mutex mutex_;
    std::vector<device::ModuleId> modules_;
};

}  // namespace

::sage3* wrap(device::Device& device, std::filesystem::path kernels) {
    return handle_on(std::make_unique<DeviceBackend>(device), std::move(kernels));
}

Result<std::unique_ptr<Backend>> open_emulator_backend() {
    return std::unique_ptr<Backend>(
        std::make_unique<DeviceBackend>(device::open_emulated({.target = "sm_120a"})));
}

}  // namespace ww::sage3
