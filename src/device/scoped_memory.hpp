// SPDX-License-Identifier: Apache-2.0
// Device memory that is released at the end of a scope.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace ww::device {

class ScopedMemory {
  public:
    explicit ScopedMemory(Device& device) : device_(device) {}
    ScopedMemory(const ScopedMemory&) = delete;
    ScopedMemory& operator=(const ScopedMemory&) = delete;
    ~ScopedMemory() {
        for (const Address each : addresses_) (void)device_.release(each);
    }
    // name: for the messages of faults.
    Result<Address> allocate(std::string name, uint64_t bytes) {
        WW_TRY(address, device_.allocate(bytes, MemoryLabel{.name = std::move(name)}));
        addresses_.push_back(address);
        return address;
    }

  private:
    Device& device_;
    std::vector<Address> addresses_;
};

}  // namespace ww::device
