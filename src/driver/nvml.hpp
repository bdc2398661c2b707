// SPDX-License-Identifier: Apache-2.0
// A GPU's clocks, power and temperature, from NVML (libnvidia-ml.so.1 by dlopen), which comes with the driver.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace ww::driver {

struct NvmlReading {
    uint32_t sm_mhz = 0, memory_mhz = 0, celsius = 0;  // 0: it does not tell
    double watts = 0;
    std::string version;  // of the driver
};

// Of the GPU at this PCI address, "00000000:3b:00.0"; nothing where there is no NVML, or it does not know it.
std::optional<NvmlReading> read_nvml(const std::string& pci_address);

}  // namespace ww::driver
