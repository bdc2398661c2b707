// SPDX-License-Identifier: Apache-2.0
// The C API on a device that somebody else owns. Everything else of the host is in sage3.h and
// sage3_plan.hpp.
#pragma once
#include <filesystem>

#include "device/device.hpp"
#include "sage3/sage3.h"

namespace ww::sage3 {

// device outlives the handle. kernels: the folder with the .cu files.
ww_sage3* wrap(device::Device& device, std::filesystem::path kernels);

}  // namespace ww::sage3
