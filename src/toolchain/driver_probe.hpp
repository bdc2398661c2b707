// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA driver says about this machine, for doctor. Makes no context.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ww::toolchain {

struct Gpu {
    std::string name;
    int sm = 0;  // 90 for compute capability 9.0
    uint64_t memory_bytes = 0;
    int multiprocessors = 0;
    std::vector<std::string> features;  // what its kernels may use, as features_of(sm)
};

struct DriverProbe {
    bool found = false;   // libcuda could be loaded
    std::string path;     // of libcuda
    std::string version;  // newest CUDA that the driver supports, "13.0"
    std::string problem;  // why there are no GPUs; empty when there are
    std::vector<Gpu> gpus;
};

DriverProbe probe_driver();
// The asynchronous and tensor-core machinery of a compute capability.
std::vector<std::string> features_of(int sm);

}  // namespace ww::toolchain
