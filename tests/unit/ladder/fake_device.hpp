// SPDX-License-Identifier: Apache-2.0
// A Device for tests: memory is host memory, and "kernels" are C++ functions over it that are found
// by name; an image that says "tapped" has them under the name with "+taps" behind it. It can tell
// who wrote a byte, as the emulator does.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace ww::ladder {

class FakeDevice : public device::Device {
  public:
    static constexpr uint32_t kMaxSharedBytes = 1024;

    // What a kernel sees: its arguments, and memory that remembers the writer's thread.
    struct Context {
        FakeDevice& device;
        const device::Launch& launch;

        template <class T>
        T argument(size_t index) const {
            T value;
            std::memcpy(&value, launch.arguments.at(index).bytes.data(), sizeof(T));
            return value;
        }
        template <class T>
        T load(device::Address address) const {
            T value;
            std::memcpy(&value, device.at(address), sizeof(T));
            return value;
        }
        template <class T>
        void store(device::Address address, T value, uint32_t thread) const {
            std::memcpy(device.at(address), &value, sizeof(T));
            for (size_t i = 0; i < sizeof(T); ++i) device.writers_[address + i] = thread;
        }
    };
    struct Kernel {
        std::vector<device::Param> params;
        std::function<Status(const Context&)> body;
    };

    explicit FakeDevice(std::map<std::string, Kernel> kernels) : kernels_(std::move(kernels)) {}

    device::Info info() const override {
        return {.kind = "fake", .name = "fake device", .sm = 90, .target = "sm_90a"};
    }
    Result<device::Address> allocate(uint64_t bytes, MemoryLabel) override {
        const device::Address address = next_;
        next_ += (bytes + 1023) / 512 * 512;
        memory_[address] = std::vector<std::byte>(bytes);
        return address;
    }
    Status release(device::Address address) override {
        memory_.erase(address);
        return ok();
    }
    Status copy_in(device::Address to, std::span<const std::byte> from) override {
        std::memcpy(at(to), from.data(), from.size());
        return ok();
    }
    Status copy_out(std::span<std::byte> to, device::Address from) override {
        std::memcpy(to.data(), at(from), to.size());
        return ok();
    }
    Status fill(device::Address to, uint8_t value, uint64_t bytes, bool) override {
        std::memset(at(to), value, bytes);
        return ok();
    }
    Result<device::ModuleId> load(const device::Image& image) override {
        if (image.bytes.find("broken") != std::string::npos) return fail("this image is broken");
        return device::ModuleId{image.bytes.find("tapped") != std::string::npos};
    }
    Status unload(device::ModuleId) override { return ok(); }
    Result<std::vector<std::string>> kernels(device::ModuleId module) override {
        std::vector<std::string> names;
        for (const auto& [name, kernel] : kernels_)
            if (name.ends_with("+taps") == (module == 1)) names.push_back(name.substr(0, name.find('+')));
        return names;
    }
    Result<device::KernelId> kernel(device::ModuleId module, const std::string& name) override {
        const auto found = kernels_.find(module == 1 ? name + "+taps" : name);
        if (found == kernels_.end()) return fail("no kernel " + name);
        return static_cast<device::KernelId>(std::distance(kernels_.begin(), found));
    }
    Result<std::vector<device::Param>> params(device::KernelId id) override {
        return std::next(kernels_.begin(), id)->second.params;
    }
    Status check(device::KernelId id, const device::Launch& launch) override {
        const auto& [name, kernel] = *std::next(kernels_.begin(), id);
        if (launch.dynamic_shared_bytes > kMaxSharedBytes)
            return fail("launch of " + name + ": too much shared memory");
        return device::check_arguments(name, kernel.params, launch.arguments);
    }
    Result<device::LaunchReport> launch(device::KernelId id, const device::Launch& launch) override {
        const auto& [name, kernel] = *std::next(kernels_.begin(), id);
        WW_TRY(checked, check(id, launch));
        (void)checked;
        writers_.clear();
        WW_TRY(done, kernel.body(Context{*this, launch}));
        (void)done;
        return device::LaunchReport{};
    }
    Result<device::TensorMap> encode_tensor_map(const device::TensorMapTiled&) override {
        return fail("no tensor maps here");
    }
    void trace_writes(bool on) override { tracing_ = on; }
    std::optional<device::WriteRecord> last_write(device::Address address) const override {
        const auto found = writers_.find(address);
        if (!tracing_ || found == writers_.end()) return std::nullopt;
        return device::WriteRecord{.thread = {found->second, 0, 0},
                                   .instruction = "st.global.f32",
                                   .source_file = "fake.cu",
                                   .source_line = 7};
    }

  private:
    std::byte* at(device::Address address) {
        auto block = std::prev(memory_.upper_bound(address));
        return block->second.data() + (address - block->first);
    }

    std::map<std::string, Kernel> kernels_;
    std::map<device::Address, std::vector<std::byte>> memory_;
    std::map<device::Address, uint32_t> writers_;
    device::Address next_ = 4096;
    bool tracing_ = false;
};

}  // namespace ww::ladder
