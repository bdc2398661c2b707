// SPDX-License-Identifier: Apache-2.0
// Gotchas: sentences that a probe proves, kept in <port>/probes/gotchas.txt with what the probe
// printed when it was kept. docs/probes.md describes the file.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/probe_run.hpp"

namespace ww::journal {

struct Gotcha {
    std::string name, says;
    std::string file;     // of the probe, in <port>/probes
    std::string printed;  // lines
    std::string target, device, toolchain, date;
};

Result<std::vector<Gotcha>> load_gotchas(const std::filesystem::path& port);

struct KeepRequest {
    std::filesystem::path port;
    std::string name, says;
    std::filesystem::path file;  // empty: NAME.cu or NAME.ptx in <port>/probes; else copied there
    ProbeOptions options;
};
// Runs the probe, records the gotcha (an older one of that name is replaced) and renders.
Result<Gotcha> keep(const KeepRequest& request);

enum class GotchaStatus { holds, fails, skipped };
std::string_view name(GotchaStatus status);

struct CheckedGotcha {
    Gotcha gotcha;
    GotchaStatus status = GotchaStatus::holds;
    std::string reason;   // why it was skipped, or failed without an outcome
    std::string printed;  // fails: what the probe prints now
    bool needs_hardware = false;
};
struct GotchaReport {
    std::vector<CheckedGotcha> gotchas;
    std::string toolchain_now;  // where something failed
    // 1: some fail; 77: there are some, and all lack hardware; else 0.
    int exit_code() const;
};
struct GotchaCheck {
    std::filesystem::path port;
    std::string pattern;  // of names; empty: all
    bool on_cuda = false;
    std::function<void(const CheckedGotcha&)> on_gotcha;  // each as it ends
};
Result<GotchaReport> check_gotchas(const GotchaCheck& request);

// Writes the gotchas into <port>/README.md under "## Gotchas"; how many they are.
Result<size_t> render_gotchas(const std::filesystem::path& port);

std::string to_text(const CheckedGotcha& checked);  // its lines
std::string to_text(const GotchaReport& report);    // the last line
std::string to_json(const GotchaReport& report);
std::string to_json(const Gotcha& gotcha);
// Of render_gotchas and render_log: {"file": README.md, what: count}.
std::string rendered_json(const std::filesystem::path& port, std::string_view what, size_t count);

}  // namespace ww::journal
