// SPDX-License-Identifier: Apache-2.0
// Input data of a case: a distribution and a seed give the same bits on every machine (a
// counter-based generator and exactly rounded arithmetic; nothing of libm or <random>).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "port/expr.hpp"
#include "port/tensor.hpp"

namespace ww::port {

struct Distribution {
    enum class Kind {
        normal,      // mean + std * N(0, 1)
        uniform,     // [low, high); for integer types [low, high]
        constant,    // value
        outliers,    // normal; a share of the indices of the last axis is multiplied by scale
        sinks,       // normal; at the first count indices of axis times scale, plus value
        one_hot,     // value at one random index of axis for each line along it, else 0
        equal_rows,  // one random normal row of the last axis, repeated
        ramp,        // value + step * index, along axis, or row-major without axis
        special,     // normal, with the format's zeros, subnormals and extremes mixed in
        biased,      // normal; a share of the last axis's indices, the same in all tensors of the
                     // case, gets +value or -value added
        correlated,  // normal along axis with correlation rho between neighbours
        student_t,   // mean + std * t with count degrees of freedom: heavy tails
        file,        // a tensor of a safetensors file
        values,      // as many expressions of integers as the tensor has elements
    };
    Kind kind = Kind::normal;
    double mean = 0, std = 1;
    double low = 0, high = 1;
    double value = 0, step = 1;
    double scale = 10;       // outliers, sinks: factor
    double fraction = 0.02;  // outliers, biased: share of channels; special: share of elements
    double rho = 0.97;       // correlated
    int64_t axis = -1;       // counted from the end when negative
    bool axis_given = false;
    int64_t count = 1;  // sinks: how many leading indices; student_t: degrees of freedom
    std::filesystem::path file;  // absolute, or relative to the working directory
    std::string tensor;          // file: name inside it
    std::vector<Expr> slice;     // file: leading indices to pick; what is left has the shape
    std::vector<Expr> values;    // values: row-major
    Place place;
};

std::string_view name(Distribution::Kind kind);

// stream keeps tensors of one case apart: pass stream_of(tensor name).
Result<Tensor> generate(const Distribution& distribution, std::string tensor_name,
                        const Layout& layout, uint64_t seed, const Scope& scope = {});
uint64_t stream_of(std::string_view tensor_name);

}  // namespace ww::port
