// SPDX-License-Identifier: Apache-2.0
// The lines between the benchmark and a peer, JSON each (docs/bench.md). Starts no process.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "port/expr.hpp"

namespace ww::bench {

std::string hello_line();
struct OpenRequest {
    std::string case_id;
    std::filesystem::path inputs;  // safetensors
    const port::Scope* scope = nullptr;
    std::string output;
    uint32_t sets = 1;
};
std::string open_line(const OpenRequest& request);
std::string time_line(uint32_t launches, uint32_t untimed);
std::string output_line(const std::filesystem::path& file);
std::string close_line();

struct Answer {
    enum class Kind { good, unavailable, error };
    Kind kind = Kind::good;
    std::string text;             // good: what it says about itself; else why
    std::vector<double> seconds;  // of time
};
// Anything but an object with exactly what is due fails, and the message shows the line's beginning.
Result<Answer> read_answer(std::string_view line);

}  // namespace ww::bench
