// SPDX-License-Identifier: Apache-2.0
#include "driver/nvml.hpp"

#include <dlfcn.h>

#include "base/resolve.hpp"

namespace ww::driver {
namespace {

// NVML's own numbers.
constexpr unsigned kClockSm = 1, kClockMemory = 2, kSensorGpu = 0;
using Device = void*;

struct Nvml {
    int (*Init)() = nullptr;
    int (*SystemGetDriverVersion)(char* version, unsigned bytes) = nullptr;
    int (*DeviceGetHandleByPciBusId)(const char* address, Device* device) = nullptr;
    int (*DeviceGetClockInfo)(Device device, unsigned type, unsigned* mhz) = nullptr;
    int (*DeviceGetPowerUsage)(Device device, unsigned* milliwatts) = nullptr;
    int (*DeviceGetTemperature)(Device device, unsigned sensor, unsigned* celsius) = nullptr;
};

std::optional<Nvml> load() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::nullopt;
    Nvml out;
    const bool all = resolve(library, "nvmlInit_v2", out.Init) &&
                     resolve(library, "nvmlSystemGetDriverVersion", out.SystemGetDriverVersion) &&
                     resolve(library, "nvmlDeviceGetHandleByPciBusId_v2", out.DeviceGetHandleByPciBusId) &&
                     resolve(library, "nvmlDeviceGetClockInfo", out.DeviceGetClockInfo) &&
                     resolve(library, "nvmlDeviceGetPowerUsage", out.DeviceGetPowerUsage) &&
                     resolve(library, "nvmlDeviceGetTemperature", out.DeviceGetTemperature);
    if (!all || out.Init() != 0) return std::nullopt;
    return out;
}

}  // namespace

std::optional<NvmlReading> read_nvml(const std::string& pci_address) {
    static const std::optional<Nvml> nvml = load();
    Device device = nullptr;
    if (!nvml || nvml->DeviceGetHandleByPciBusId(pci_address.c_str(), &device) != 0) return std::nullopt;
    NvmlReading out;
    unsigned value = 0;
    if (nvml->DeviceGetClockInfo(device, kClockSm, &value) == 0) out.sm_mhz = value;
    if (nvml->DeviceGetClockInfo(device, kClockMemory, &value) == 0) out.memory_mhz = value;
    if (nvml->DeviceGetTemperature(device, kSensorGpu, &value) == 0) out.celsius = value;
    if (nvml->DeviceGetPowerUsage(device, &value) == 0) out.watts = value * 1e-3;
    char version[96] = {};
    if (nvml->SystemGetDriverVersion(version, sizeof version - 1) == 0) out.version = version;
    return out;
}

}  // namespace ww::driver
