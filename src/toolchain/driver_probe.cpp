// SPDX-License-Identifier: Apache-2.0
// The few driver calls that need no context, by dlopen.
#include "toolchain/driver_probe.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/resolve.hpp"

namespace ww::toolchain {
namespace {

// CUdevice_attribute values.
constexpr int kMultiprocessorCount = 16, kComputeMajor = 75, kComputeMinor = 76;

struct Driver {
    int (*init)(unsigned) = nullptr;
    int (*driver_version)(int*) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_get)(int*, int) = nullptr;
    int (*device_name)(char*, int, int) = nullptr;
    int (*device_attribute)(int*, int, int) = nullptr;
    int (*device_memory)(size_t*, int) = nullptr;
    int (*error_string)(int, const char**) = nullptr;
};

bool resolve_all(void* library, Driver& driver) {
    return resolve(library, "cuInit", driver.init) &&
           resolve(library, "cuDriverGetVersion", driver.driver_version) &&
           resolve(library, "cuDeviceGetCount", driver.device_count) &&
           resolve(library, "cuDeviceGet", driver.device_get) &&
           resolve(library, "cuDeviceGetName", driver.device_name) &&
           resolve(library, "cuDeviceGetAttribute", driver.device_attribute) &&
           resolve(library, "cuDeviceTotalMem_v2", driver.device_memory) &&
           resolve(library, "cuGetErrorString", driver.error_string);
}

Gpu describe(const Driver& driver, int ordinal) {
    Gpu gpu;
    int device = 0, major = 0, minor = 0;
    char name[256] = {};
    size_t bytes = 0;
    if (driver.device_get(&device, ordinal) != 0) return gpu;
    if (driver.device_name(name, sizeof name - 1, device) == 0) gpu.name = name;
    driver.device_attribute(&major, kComputeMajor, device);
    driver.device_attribute(&minor, kComputeMinor, device);
    driver.device_attribute(&gpu.multiprocessors, kMultiprocessorCount, device);
    if (driver.device_memory(&bytes, device) == 0) gpu.memory_bytes = bytes;
    gpu.sm = major * 10 + minor;
    gpu.features = features_of(gpu.sm);
    return gpu;
}

}  // namespace

std::vector<std::string> features_of(int sm) {
    // Of each feature, the first compute capability, and the last where a later one dropped it.
    struct Row {
        const char* feature;
        int first, last;
    };
    constexpr int kStill = 1 << 20;
    constexpr std::array<Row, 10> kRows{{{"mma f16", 70, kStill},
                                         {"mma bf16, tf32", 80, kStill},
                                         {"cp.async", 80, kStill},
                                         {"mma fp8", 89, kStill},
                                         {"mbarrier, TMA", 90, kStill},
                                         {"clusters", 90, kStill},
                                         {"wgmma", 90, 90},
                                         {"tcgen05", 100, 119},
                                         {"mma fp4, fp6", 120, 129},
                                         {"mma block-scaled", 120, 129}}};
    std::vector<std::string> features;
    for (const Row& row : kRows)
        if (sm >= row.first && sm <= row.last) features.emplace_back(row.feature);
    return features;
}

DriverProbe probe_driver() {
    DriverProbe probe;
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        probe.problem = "no NVIDIA driver: libcuda.so.1 was not found";
        return probe;
    }
    Driver driver;
    if (!resolve_all(library, driver)) {
        probe.problem = "libcuda.so.1 lacks functions of a CUDA 12 driver or later";
        return probe;
    }
    probe.found = true;
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(driver.init), &info) && info.dli_fname)
        probe.path = info.dli_fname;
    int version = 0;
    if (driver.driver_version(&version) == 0 && version > 0)
        probe.version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    int count = 0;
    int error = driver.init(0);
    if (error == 0) error = driver.device_count(&count);
    if (error != 0) {
        const char* text = nullptr;
        driver.error_string(error, &text);
        probe.problem = fmt::format("the driver reports: {}", text ? text : "unknown error");
        return probe;
    }
    for (int i = 0; i < count; ++i) probe.gpus.push_back(describe(driver, i));
    if (count == 0) probe.problem = "the driver sees no GPU";
    return probe;
}

}  // namespace ww::toolchain
