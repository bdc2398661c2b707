// SPDX-License-Identifier: Apache-2.0
#include "sass/rates.hpp"

#include <fmt/format.h>

#include "base/target.hpp"

namespace ww::sass {
namespace {

constexpr std::array<int, kPipes> lanes(int xu, int fma, int imad, int alu, int fp16, int fp64) {
    return {0, 0, xu, fma, imad, alu, fp16, fp64, 0, 0};
}

// In the order of TensorType: f16 (f16 sums), f16 (f32 sums), tf32, f64, int8, int4, bit, fp8 (f16
// sums), fp8 (f32 sums), fp8 with block scales, fp4 with block scales.
using Tensor = std::array<int, kTensorTypes>;
constexpr Tensor kNone{};

constexpr Rates kRates[] = {
    {75, lanes(16, 64, 64, 64, 64, 2), 128, Tensor{512, 256, 0, 0, 1024, 2048, 8192, 0, 0, 0, 0}, kNone,
     "CUDA C++ Programming Guide, arithmetic throughput; Turing whitepaper (GeForce: f32 sums at half rate)"},
    {80, lanes(16, 64, 64, 64, 128, 32), 128, Tensor{1024, 1024, 512, 64, 2048, 4096, 16384, 0, 0, 0, 0}, kNone,
     "CUDA C++ Programming Guide, arithmetic throughput; A100 whitepaper"},
    {86, lanes(16, 128, 64, 64, 64, 2), 128, Tensor{512, 256, 128, 0, 1024, 2048, 8192, 0, 0, 0, 0}, kNone,
     "CUDA C++ Programming Guide, arithmetic throughput; GA102 whitepaper (GeForce: f32 sums at half rate)"},
    {89, lanes(16, 128, 64, 64, 64, 2), 128, Tensor{512, 256, 128, 0, 1024, 2048, 0, 1024, 512, 0, 0}, kNone,
     "CUDA C++ Programming Guide, arithmetic throughput; Ada whitepaper (GeForce: f32 sums at half rate)"},
    {90, lanes(16, 128, 64, 64, 128, 64), 128, Tensor{1352, 1345, 673, 64, 2695, 0, 0, 0, 0, 0, 0},
     Tensor{2048, 2048, 1024, 0, 4096, 0, 0, 4096, 4096, 0, 0},
     "measured on an H200, 2026-11-30 (tests/bench/sass_rates.cu); f64 mma: Hopper whitepaper, not measured"},
    {100, lanes(16, 128, 64, 64, 128, 64), 128, kNone, kNone,
     "CUDA C++ Programming Guide, arithmetic throughput; tensor cores: tcgen05 keeps its shape in a descriptor, "
     "and no rate of mma.sync is published"},
    {103, lanes(16, 128, 64, 64, 128, 2), 128, kNone, kNone, "as sm_100, with fewer f64 units"},
    {120, lanes(16, 128, 64, 64, 64, 2), 128, Tensor{512, 256, 128, 0, 1024, 0, 0, 1024, 512, 1024, 2048}, kNone,
     "RTX Blackwell whitepaper (RTX 5090, dense; GeForce: f32 sums at half rate); fp8 with block scales: "
     "published mma measurements, twice its f32 rate without"},
};

}  // namespace

Result<Rates> rates_of(std::string_view target) {
    WW_TRY(read, parse_target(target));
    const int sm = read.sm == 121 ? 120 : read.sm;
    for (const Rates& row : kRates)
        if (row.sm == sm) return row;
    std::string known;
    for (const Rates& row : kRates)
        known += fmt::format("{}sm_{}", known.empty() ? "" : ", ", row.sm);
    return fail(fmt::format("no rates are known for {}; known: {}", read.text(), known));
}

}  // namespace ww::sass
