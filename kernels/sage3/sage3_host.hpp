// SPDX-License-Identifier: Apache-2.0
// Handles of the C API for what sage3_open() does not open. Everything else of the host is
// in sage3.h and sage3_plan.hpp.
#pragma once
#include <filesystem>
#include <memory>

#include "sage3/sage3.h"
#include "sage3/sage3_backend.hpp"

namespace ww::sage3 {

// kernels: the folder with the .cu files; empty: those in the library.
::sage3* handle_on(std::unique_ptr<Backend> backend, std::filesystem::path kernels);
// device outlives the handle.
::sage3* wrap(device::Device& device, std::filesystem::path kernels);

}  // namespace ww::sage3
