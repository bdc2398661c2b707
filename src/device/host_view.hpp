// SPDX-License-Identifier: Apache-2.0
// A second view of an allocation's pages in the host's address space, at the device address itself: so
// that a pointer means the same to the host and to kernels.
#pragma once
#include <cstdint>
#include <utility>

#include "base/result.hpp"

namespace ww::device {

class HostView {
  public:
    // data: where the emulator keeps the allocation, whole pages; its content becomes zero.
    static Result<HostView> open(uint64_t address, uint64_t bytes, uint8_t* data);
    HostView(HostView&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;
    HostView& operator=(HostView&&) = delete;
    ~HostView();

  private:
    HostView(void* at, uint64_t bytes) : at_(at), bytes_(bytes) {}
    void* at_;
    uint64_t bytes_;
};

}  // namespace ww::device
