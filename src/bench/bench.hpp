// SPDX-License-Identifier: Apache-2.0
// The verb `bench`: a port's cases on a device, ours beside its peers, timed in turns, judged afterwards.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/report.hpp"
#include "ladder/check.hpp"

namespace ww::bench {

struct Options {
    std::filesystem::path port;
    std::string implementation;  // glob; empty: all candidates
    std::vector<std::string> case_globs;  // empty: those marked bench
    std::vector<std::string> peer_globs;  // empty: all
    bool peers = true;
    uint32_t rounds = 15;
    uint64_t seed = 0;  // added to the cases' own; draws the rows that are judged, too
    std::string version;
    ladder::OpenDevice open_device;
    ladder::LibraryTable libraries;
    ladder::PlanTable plans;
    std::function<void(const std::string&)> on_progress;
};

// Whether the port can be read, and says what is timed.
Status check_port(const std::filesystem::path& port);
// The port for the device: port itself, or the first of its bench.other_gpus that is for such a GPU. Fails where none is.
Result<std::filesystem::path> port_for(const std::filesystem::path& port, const device::Info& device);

// Fails on wrong input only; what does not run, or is wrong, is in the report.
Result<Report> run(const Options& options);

}  // namespace ww::bench
