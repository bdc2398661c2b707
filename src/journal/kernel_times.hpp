// SPDX-License-Identifier: Apache-2.0
// How long a port's kernels take on a GPU, each in the first of its cases that is for times.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspect/collect.hpp"
#include "ladder/check.hpp"

namespace ww::journal {

struct KernelTimes {
    std::vector<std::optional<double>> microseconds;  // medians, of each image; nothing: not timed
    std::string text;                                 // what it was timed on, or why nothing was
};
KernelTimes time_kernels(const std::filesystem::path& port, const std::vector<const inspect::Image*>& images,
                         const ladder::PlanTable& plans, const ladder::OpenDevice& open);

}  // namespace ww::journal
