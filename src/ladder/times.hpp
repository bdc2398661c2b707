// SPDX-License-Identifier: Apache-2.0
// How long each stage of a port takes on a device: kernels alone, by the device's own clock, fed
// with what the stages before them made. Judges no output.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ladder/check.hpp"

namespace ww::ladder {

struct StageTime {
    std::string stage, kernel;
    std::vector<double> seconds;  // of each launch; empty: the device has no clock
    double bytes = 0;             // of the stage's tensors that the kernel is given, each once
    double min() const;
    double median() const;
};

struct CaseTimes {
    std::string implementation, case_id;
    std::string sizes;                   // "B=1 D=128 H=16 ...", as the case gives them
    std::optional<double> flops, bytes;  // of all stages together, where port.toml has them
    std::vector<StageTime> stages;
    std::string failure;               // why there are no more stages; empty: there are
    double total() const;              // the medians together
    const StageTime* longest() const;  // null: no times
};

struct TimesReport {
    std::string port;
    device::Info device;
    uint32_t repeats = 0;
    std::vector<CaseTimes> cases;
    bool timed() const;  // the device has a clock
};

struct TimesOptions {
    std::filesystem::path port;
    std::string implementation;  // glob; empty: all but reference and float64
    std::string case_glob;  // empty: those marked bench; where there are none, the three largest
    uint32_t repeats = 20;
    OpenDevice open_device;
    LibraryTable libraries;
    PlanTable plans;
};

// Fails on wrong input only; a kernel that does not run is a failure of its case.
Result<TimesReport> time_stages(const TimesOptions& options);

}  // namespace ww::ladder
