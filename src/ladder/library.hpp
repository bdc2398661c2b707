// SPDX-License-Identifier: Apache-2.0
// `library` implementations: a C++ function behind a C symbol that makes a stage's outputs from its
// inputs, in this process. References are written this way.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "port/expr.hpp"
#include "port/tensor.hpp"

namespace ww::ladder {

// What a library stage gets. Outputs and taps have their layouts and are to be filled; taps that
// nobody asked for are not there. Names are those of port.toml.
struct LibraryCall {
    const port::Scope* scope = nullptr;
    device::Device* device = nullptr;
    std::map<std::string, const port::Tensor*, std::less<>> inputs;
    std::map<std::string, port::Tensor*, std::less<>> outputs;
    std::map<std::string, port::Tensor*, std::less<>> taps;

    // Axes and scalars by name; an unknown one is a bug of the caller.
    int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    const port::Tensor& input(std::string_view name) const;
    // Null when the caller does not want it.
    port::Tensor* output(std::string_view name) const;
    port::Tensor* tap(std::string_view name) const;
};

using LibraryFunction = Status (*)(const LibraryCall& call);
using LibraryTable = std::map<std::string, LibraryFunction, std::less<>>;

// The function of a symbol: from table, or from the shared object at path when path is not empty.
Result<LibraryFunction> find_library(const LibraryTable& table, const std::string& symbol,
                                     const std::filesystem::path& path);

}  // namespace ww::ladder
