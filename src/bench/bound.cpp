// SPDX-License-Identifier: Apache-2.0
#include "bench/bound.hpp"

#include <algorithm>

#include "sass/rates.hpp"

namespace ww::bench {
namespace {

std::optional<sass::TensorType> type_of(const std::string& products) {
    if (products == "f16") return sass::TensorType::f16_f32;
    if (products == "tf32") return sass::TensorType::tf32;
    if (products == "int8") return sass::TensorType::int8;
    if (products == "fp8") return sass::TensorType::fp8_f32;
    if (products == "fp4") return sass::TensorType::fp4_scaled;
    return std::nullopt;
}

// Kernels may add up in the narrower or the scaled form where that is faster.
int multiply_adds(const sass::Rates& rates, sass::TensorType type) {
    int most = 0;
    const auto look = [&](sass::TensorType each) {
        const auto index = static_cast<size_t>(each);
        most = std::max({most, rates.mma[index], rates.wgmma[index]});
    };
    look(type);
    if (type == sass::TensorType::f16_f32) look(sass::TensorType::f16_f16);
    if (type == sass::TensorType::fp8_f32) {
        look(sass::TensorType::fp8_f16);
        look(sass::TensorType::fp8_scaled);
    }
    return most;
}

}  // namespace

Peaks peaks_of(const device::Info& device, const std::string& products) {
    Peaks out{.bytes_per_second = device.memory_bytes_per_second};
    const auto type = type_of(products);
    const auto rates = sass::rates_of(device.target);
    if (type && rates)
        out.flops_per_second = 2.0 * multiply_adds(*rates, *type) * device.multiprocessors * device.clock_hz;
    return out;
}

std::optional<double> bound_of(const Peaks& peaks, std::optional<double> flops, std::optional<double> bytes) {
    std::optional<double> out;
    if (flops && peaks.flops_per_second > 0) out = *flops / peaks.flops_per_second;
    if (bytes && peaks.bytes_per_second > 0) out = std::max(out.value_or(0), *bytes / peaks.bytes_per_second);
    return out;
}

}  // namespace ww::bench
