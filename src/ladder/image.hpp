// SPDX-License-Identifier: Apache-2.0
// CUDA C++ or PTX as an image that a device loads: PTX for the emulator, a cubin for a GPU where
// ptxas is there.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::ladder {

Result<device::Image> compile_image(const device::Info& device, const toolchain::CompileRequest& request);

// What NVRTC made of the source called name.
device::Image ptx_image(const std::string& name, std::string ptx);

// options: the compiler's; --fmad=false among them holds for ptxas, too.
Result<device::Image> image_for(const device::Info& device, device::Image ptx, const std::string& target,
                                const std::vector<std::string>& options);

}  // namespace ww::ladder
