// SPDX-License-Identifier: Apache-2.0
// The tensors of one launch in device memory, each between guard zones, outputs poisoned.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "port/tensor.hpp"

namespace ww::ladder {

// Where a launch wrote though it must not have.
struct Intrusion {
    std::string message;
    device::Address address = 0;
    bool is_input = false;  // inside an input, rather than in a guard zone
};

class Buffers {
  public:
    static constexpr uint64_t kGuardBytes = 4096;  // on each side of a tensor

    Buffers(device::Device& device, uint8_t poison) : device_(device), poison_(poison) {}
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;
    ~Buffers();

    // pristine must outlive this object: it is compared with after the launch.
    Status add_input(const port::Tensor& pristine);
    // Poisoned, and uninitialised in the eyes of a device that tells.
    Status add_output(const std::string& name, const port::Layout& layout);

    // Again as it was before anything wrote it; not for inputs.
    Status poison(const std::string& name);
    uint8_t poison() const { return poison_; }

    device::Address address(const std::string& name) const;
    device::Address address(const std::string& name, int64_t linear) const;
    const std::vector<int64_t>& shape(const std::string& name) const { return find(name).layout.shape; }
    // Both are asked after the launch.
    Result<std::optional<Intrusion>> intrusion() const;
    Result<port::Tensor> read(const std::string& name) const;

  private:
    struct Buffer {
        std::string name;
        port::Layout layout;
        device::Address base = 0;  // of the guard zone before the tensor
        uint64_t bytes = 0;        // of the tensor
        const port::Tensor* pristine = nullptr;  // null: not an input
    };
    Result<Buffer*> allocate(const std::string& name, const port::Layout& layout);
    const Buffer& find(const std::string& name) const;
    Result<std::optional<Intrusion>> check_guards(const Buffer& buffer) const;
    Result<std::optional<Intrusion>> check_input(const Buffer& buffer) const;

    device::Device& device_;
    uint8_t poison_;
    std::vector<Buffer> buffers_;
};

}  // namespace ww::ladder
