// SPDX-License-Identifier: Apache-2.0
// `asm gate`: what each kernel of a port may use, as resources.txt beside port.toml records it, and
// whether a build of now uses more. docs/asm.md has the file's grammar.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inspect/asm_info.hpp"

namespace ww::inspect {

struct Allowance {
    int line = 0;  // of resources.txt
    int64_t registers = 0;
    int64_t spill_bytes = 0;  // stores and loads
    struct Loop {
        int depth = 1;
        int64_t instructions = 0;  // inner loops' too
        bool operator==(const Loop&) const = default;
    };
    // For 64 tensor instructions, rounded up; nothing where the kernel's main loop has none.
    struct MainLoop {
        int64_t instructions = 0, mufu = 0;
        bool operator==(const MainLoop&) const = default;
    };
    std::optional<MainLoop> main_loop;
    std::vector<Loop> loops;  // as in asm_info: an outer loop first
    bool operator==(const Allowance&) const = default;
};

struct Allowances {
    std::string made_with;                    // "nvrtc 13.0.88, ptxas 13.0.88"
    std::map<std::string, Allowance> kernels;  // "softmax_plain.sm_90a softmax_plain"
};

Result<Allowances> read_allowances(const std::string& text, const std::string& file);
std::string to_text(const Allowances& allowances);

// What a build uses. A kernel without a listing, or that ptxas did not make here, cannot be judged.
Result<Allowances> used_by(const AsmInfo& info);

struct Exceeded {
    std::string what;  // "registers", "spill_bytes", "loop 2 (depth 1)", "not recorded", ...
    int64_t recorded = 0, now = 0;
};
struct GateReport {
    std::string file;
    struct Kernel {
        std::string name;
        std::vector<Exceeded> exceeded;
        std::vector<std::string> notes;  // uses less; its loops are others
    };
    std::vector<Kernel> kernels;
    std::vector<std::string> notes;
    bool ok() const;
};
GateReport judge(const Allowances& recorded, const Allowances& now);

// A compilation's figures: the trial's number (toolchain::CompileRequest), and of which files, "softmax_plain.sm_90a"; empty: of all.
using Build = std::function<Result<Allowances>(int trial, const std::set<std::string>& files)>;
// NVRTC does not always make the same of the same text. So a kernel fails if each of kTrials compilations exceeds its figures, and what
// two of them agree on is recorded (the first's, where no two do).
constexpr int kTrials = 6;
Result<GateReport> judge_trials(const Allowances& recorded, const Build& build);
Result<Allowances> agreed(const Build& build);

// Builds the port for the targets that its resources.txt names, and judges it.
Result<GateReport> gate(const Request& request);
// Writes resources.txt from a build; returns its path.
Result<std::filesystem::path> record_gate(const Request& request);

std::string to_text(const GateReport& report);
std::string to_json(const GateReport& report);

}  // namespace ww::inspect
