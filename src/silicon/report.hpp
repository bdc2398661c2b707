// SPDX-License-Identifier: Apache-2.0
// What `warpwright silicon` found on a GPU, and the file that it is written to. Runs nothing.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ladder/times.hpp"
#include "silicon/sums.hpp"

namespace ww::silicon {

// A part of the work that may not have come to its end. why: empty when it did.
struct Part {
    bool started = false;
    std::string why;  // "did not end within 300 s", "the program died: ..."
    bool done() const { return started && why.empty(); }
    bool needless() const {
        return !started && !why.empty();
    }  // there is nothing to run, for that reason
};

struct FailedRung {
    std::string name, message;
};
// Of one rung and tensor.
struct Accuracy {
    std::string rung, tensor, hash;
    double relative_l2 = 0, cosine = 1, max_ulp = 0;
    std::optional<double> of_reference;  // the reference algorithm's relative L2
};
struct LadderCase : Part {
    std::string id;
    bool pass = false;
    size_t rungs = 0, skipped = 0;
    std::vector<FailedRung> failed;
    std::vector<Accuracy> accuracy;  // of stages and chains
};

struct TestOutcome {
    std::string name, outcome, message, hash;
};
struct Tests : Part {
    std::vector<TestOutcome> tests;
    size_t count(std::string_view outcome) const;
};

struct Fidelity : Part {
    struct Row {
        std::string syntax, sets;
        uint64_t results = 0, mismatches = 0;
    };
    std::vector<Row> rows;
    std::vector<std::string> mismatches, failures;
};

struct Sums : Part {
    SumsReport report;
};
struct Times : Part {
    ladder::TimesReport report;
};

struct Report {
    std::string version, date, port;
    device::Info device;
    std::vector<std::pair<std::string, std::string>> toolchain;  // part, version
    std::string recorded_on;  // whose answers the instruction tests are judged by
    Sums sums;
    Tests fresh;  // tests that no recording GPU could execute
    std::vector<LadderCase> ladder;
    size_t ladder_left_out = 0;  // cases behind several that did not end
    Times times;
    Tests recorded;  // tests that were recorded on another GPU
    Fidelity fidelity;

    // Everything ran and passed that judges the port and the emulator. Recordings of another
    // generation judge neither.
    bool good() const;
};

std::string to_markdown(const Report& report);
std::string to_json(const Report& report);

}  // namespace ww::silicon
