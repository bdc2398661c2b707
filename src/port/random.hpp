// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox 4x32-10): element i of a stream is a function of
// (seed, stream, i) alone, so any order and any number of threads give the same values.
#pragma once
#include <array>
#include <cstdint>

namespace ww::port {

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t index);
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
// Uniform in [0, 1), a multiple of 2^-53.
double random_unit(uint64_t seed, uint64_t stream, uint64_t index);
// Uniform in [0, bound), bound >= 1.
uint64_t random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t bound);
// Standard normal by inversion of the distribution function (rational approximation, tails to
// +-8.2); only exactly rounded operations.
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);

}  // namespace ww::port
