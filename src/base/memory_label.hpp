// SPDX-License-Identifier: Apache-2.0
// What a piece of device memory is called in messages. Says nothing about who may use it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace ww {

struct MemoryLabel {
    std::string name;  // "tensor 'o'"; empty: the allocation goes by its address
    // The part that the name stands for, where more was allocated (guard zones); 0 bytes: all of it.
    uint64_t offset = 0, bytes = 0;
    // What a byte of the part belongs to, "element [0, 3]"; may be null.
    std::function<std::string(uint64_t byte)> place = nullptr;
};

}  // namespace ww
