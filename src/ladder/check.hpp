// SPDX-License-Identifier: Apache-2.0
// The verb `check`: climbs the ladder of a port and says where the first failure is.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"
#include "ladder/library.hpp"
#include "ladder/report.hpp"

namespace ww::ladder {

// Opens the device that kernels run on. target: what an emulator is to be ("sm_120a"; empty: the
// caller's choice); threads: its host threads (0: one a core).
using OpenDevice = std::function<Result<std::unique_ptr<device::Device>>(const std::string& target,
                                                                         uint32_t threads)>;

// An emulator of the target (the emulator's own choice where that is empty), which may be wrong.
Result<std::unique_ptr<device::Device>> open_emulator(const std::string& target, device::EmulatorOptions options);
// As `check` opens it where nothing else is asked for: completions as late as they may be.
Result<std::unique_ptr<device::Device>> open_usual_emulator(const std::string& target, uint32_t threads);

struct CheckOptions {
    std::filesystem::path port;  // the port.toml or its folder
    std::string implementation;  // glob; empty: all but reference and float64
    std::string case_glob;       // empty: every case that is neither slow nor bench
    std::string rung_glob;       // empty: every rung
    uint64_t seed = 0;           // added to the cases' own seeds; also draws the poison
    bool keep_going = false;
    std::optional<RaceLevel> races = RaceLevel::warning;  // of the emulator; nullopt: not looked for
    OpenDevice open_device;
    LibraryTable libraries;                       // symbols that are part of this program
    PlanTable plans;                              // likewise
    std::function<void(const std::string&)> on_start;  // a rung's name, before it runs
    std::function<void(const Rung&)> on_rung;          // each rung as it ends
    std::function<void(const std::string&)> on_printf;  // what a launch printed
};

// Fails on wrong input only (port, globs that match nothing, no device); a kernel that is wrong is
// a report that does not pass.
Result<CheckReport> check(const CheckOptions& options);

}  // namespace ww::ladder
