// SPDX-License-Identifier: Apache-2.0
// Compares one output with what it should be, under a tolerance. Knows nothing of devices.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "ladder/report.hpp"
#include "port/tensor.hpp"
#include "port/tolerance.hpp"

namespace ww::ladder {

struct Expected {
    const port::Tensor* reference = nullptr;  // in the output's own type: exact mode, NaN places
    const port::Tensor* truth = nullptr;      // what errors are measured against; may be f64
    const port::Tensor* baseline = nullptr;   // relative_to: the output of the baseline
};

struct Comparison {
    Metrics metrics;
    bool pass = true;
    FailureKind kind = FailureKind::wrong;
    std::string message;  // why it did not pass
    std::optional<Element> first, worst;
    int64_t first_linear = 0;
};

// All tensors have the shape of got.
Comparison compare(const port::Tensor& got, const Expected& expected,
                   const port::Tolerance& tolerance);

// XXH64 of the bytes, as 16 hex digits.
std::string hash_text(std::span<const std::byte> bytes);
// Row-major index of the first element whose bits differ, or nothing.
std::optional<int64_t> first_difference(const port::Tensor& a, const port::Tensor& b);
Element element_at(const port::Tensor& got, const port::Tensor& expected, int64_t linear);

}  // namespace ww::ladder
