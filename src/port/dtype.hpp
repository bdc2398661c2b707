// SPDX-License-Identifier: Apache-2.0
// Element types of tensors and scalars: their names, sizes, and values as double.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ww::port {

enum class Dtype : uint8_t {
    f64,
    f32,
    f16,
    bf16,
    tf32,
    e4m3,
    e5m2,
    e2m1,
    ue4m3,
    ue8m0,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    boolean
};

struct DtypeInfo {
    std::string_view name;         // as port.toml spells it
    std::string_view safetensors;  // name in a safetensors header; empty: it has none
    uint32_t bits;                 // 4: two elements a byte, the first in the low nibble
    bool is_float;                 // the float formats, the scales among them
    bool is_signed;
};

const DtypeInfo& info(Dtype dtype);
inline std::string_view name(Dtype dtype) { return info(dtype).name; }
std::optional<Dtype> dtype_named(std::string_view name);
std::span<const std::string> dtype_names();

// The value of a stored code (the low bits of code). 64-bit integers round to the nearest double.
double decode(Dtype dtype, uint64_t code);
// The code nearest to value: round to nearest even; integers and formats without infinity
// saturate; NaN becomes the format's NaN where it has one, else 0. ue4m3 and ue8m0 take no sign.
uint64_t encode(Dtype dtype, double value);
// Distance from |value| to the next larger value of the format: the unit of "ulp" tolerances.
// 1 for integers; the smallest subnormal around 0.
double ulp(Dtype dtype, double value);
double largest(Dtype dtype);          // largest finite value
double smallest_normal(Dtype dtype);  // 1 for integers

}  // namespace ww::port
