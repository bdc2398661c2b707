// SPDX-License-Identifier: Apache-2.0
// The speed of light: seconds that a device takes at least for so much arithmetic and so many bytes.
#pragma once
#include <optional>
#include <string>

#include "device/device.hpp"

namespace ww::bench {

struct Peaks {
    double flops_per_second = 0;  // of the tensor cores at the highest clock; 0: unknown
    double bytes_per_second = 0;
};
// products: a name of port::product_names(), or empty.
Peaks peaks_of(const device::Info& device, const std::string& products);

// Nothing where neither is known.
std::optional<double> bound_of(const Peaks& peaks, std::optional<double> flops, std::optional<double> bytes);

}  // namespace ww::bench
