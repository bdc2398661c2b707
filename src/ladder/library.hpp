// SPDX-License-Identifier: Apache-2.0
// `library` implementations: a C++ function behind a C symbol that makes a stage's outputs from its
// inputs, in this process. References are written this way.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "port/expr.hpp"
#include "port/port.hpp"
#include "port/tensor.hpp"

namespace ww::ladder {

// What a library stage gets. Outputs and taps have their layouts and are to be filled; taps that
// nobody asked for are not there. Names are those of port.toml.
struct LibraryCall {
    const port::Scope* scope = nullptr;
    std::filesystem::path folder;  // of the port.toml
    device::Device* device = nullptr;
    std::map<std::string, const port::Tensor*, std::less<>> inputs;
    std::map<std::string, port::Tensor*, std::less<>> outputs;
    std::map<std::string, port::Tensor*, std::less<>> taps;

    // False once one of the two below has failed: then port.toml is wrong, not the function.
    mutable bool fits = true;

    // What the function is about to read. A port.toml that lacks one of them, or gives a real where
    // an integer is due, is told so; functions call this first.
    Status require(std::initializer_list<std::string_view> input_names,
                   std::initializer_list<std::string_view> integers,
                   std::initializer_list<std::string_view> numbers = {}) const;
    // The output or tap, where it is wanted, has this many elements.
    Status require_elements(std::string_view name, int64_t elements) const;

    // Axes and scalars by name, checked by require().
    int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    const port::Tensor& input(std::string_view name) const;
    // Null when the caller does not want it.
    port::Tensor* output(std::string_view name) const;
    port::Tensor* tap(std::string_view name) const;
};

using LibraryFunction = Status (*)(const LibraryCall& call);
using LibraryTable = std::map<std::string, LibraryFunction, std::less<>>;

// `plan` of a kernel: how a stage is compiled and launched for these sizes. Source and include
// folders are relative to the port's folder.
using PlanFunction = Result<port::KernelImpl> (*)(const port::Scope& scope, std::string_view stage);
using PlanTable = std::map<std::string, PlanFunction, std::less<>>;

// The function of a symbol: from table, or from the shared object at path when path is not empty.
Result<LibraryFunction> find_library(const LibraryTable& table, const std::string& symbol,
                                     const std::filesystem::path& path);

}  // namespace ww::ladder
