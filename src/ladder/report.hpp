// SPDX-License-Identifier: Apache-2.0
// What a check found: rungs with metrics and failures, and its three printed forms. No judging here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "device/device.hpp"

namespace ww::ladder {

// One element of an output: where it is, what was there and what should have been.
struct Element {
    std::vector<int64_t> coordinates;
    std::string got_bits;  // "0x3f80"
    double got = 0;
    double expected = 0;
    double error = 0;  // |got - expected|
    double ulp = 0;    // the same in units in the last place of the output's type
};

// How far an output is from what it should be. Errors are over all elements, in double.
struct Metrics {
    std::string output;
    int64_t elements = 0;
    int64_t mismatches = 0;  // elements that break the tolerance
    double max_abs = 0, max_ulp = 0;
    double relative_l1 = 0, relative_l2 = 0;
    double cosine = 1;
    double gain = 1;  // <got, expected> / <expected, expected>
    double rmse = 0;
    // Tolerance relative_to: the baseline's own errors.
    std::optional<double> baseline_max_abs, baseline_relative_l2;
    // l1_relative_to: likewise, and whose.
    std::optional<double> baseline_relative_l1;
    std::string l1_baseline;
    std::string output_hash;                 // XXH64 of the output's bytes, 16 hex digits
};

enum class FailureKind {
    compile,          // the compiler or the loader refused the code
    arguments,        // port.toml and what it names (kernel, function, data) do not fit: wrong input
    stopped,          // the launch or the process ended with an error
    wrong,            // an element breaks the tolerance
    not_a_number,     // NaN where none is expected
    unwritten,        // an output element still holds the poison
    out_of_bounds,    // a guard zone around a tensor was written
    input_modified,   // an input differs after the launch
    not_deterministic,
    taps_change_output,
    race,             // accesses that nothing orders (docs/memory_model.md)
    reference,        // the reference itself failed or is not a number: nothing can be judged
};
std::string_view name(FailureKind kind);

// Lines first to last of a source file.
struct LineRange {
    std::string file;
    int first = 0, last = 0;
};

// The stage, then the tap, the element, the tile and the instruction: as far as it is known.
struct Failure {
    FailureKind kind = FailureKind::wrong;
    std::string message;  // one line
    std::string stage, tap, output, case_id;
    std::optional<Element> first, worst;
    std::optional<Element> tap_first;  // first wrong element of the first bad tap
    std::vector<int64_t> tile, tile_first;  // index of the tile; coordinates of its first element
    std::vector<int64_t> tile_extents;
    std::optional<device::WriteRecord> written_by;      // the first wrong element of the output
    std::optional<device::WriteRecord> tap_written_by;  // tap_first
    // unwritten: the stores that wrote other elements of the tensor, nearest first; one of them may
    // have missed its element. Each with the nearest element that it was the last to write. Where
    // there are none: who wrote the same element of the stage's other tensors.
    struct OtherWriter {
        std::string tensor;
        std::vector<int64_t> coordinates;
        device::WriteRecord written_by;
    };
    std::vector<OtherWriter> other_writers;
    // Nobody wrote the element: further stores into the tensor that the kernel's text has.
    std::vector<device::WriteRecord::Definition> stores;
    // Lines that left no code where a statement may be missing: next to the stores above, or from
    // the last definition of a wrong value to its store.
    std::vector<LineRange> without_code;
    std::vector<device::WaitRecord> waits;  // stopped: because its warps could not go on
    Diagnostics diagnostics;
};

enum class RungStatus { pass, fail, skip };
std::string_view name(RungStatus status);

struct Rung {
    std::string name;  // "stage/plain/softmax/minilm"
    RungStatus status = RungStatus::pass;
    double seconds = 0;
    std::string note;  // why it was skipped, or what it looked at
    std::vector<Metrics> metrics;
    std::optional<Failure> failure;
    std::vector<device::RaceRecord> races;  // of every level; one of level error fails the rung
};

// Whether what the device does was seen on a GPU: the emulator is judged by one up to sm_90.
bool on_silicon(const device::Info& device);

struct CheckReport {
    std::string port;
    device::Info device;
    uint64_t seed = 0;
    double seconds = 0;
    std::vector<Rung> rungs;
    size_t not_run = 0;    // rungs after the one that stopped the check
    bool pass = false;     // no rung failed, and at least one compared something
    std::string reason;    // one line: why it did not pass; empty when it did

    // 0 pass, 1 a rung failed, 2 the port's own arguments are wrong.
    int exit_code() const;
};

std::string rung_line(const Rung& rung);      // one line, no newline
std::string failure_text(const Rung& rung);   // indented lines, empty without a failure and races
std::string summary_text(const CheckReport& report);
std::string to_json(const CheckReport& report);
std::string to_junit(const CheckReport& report);

}  // namespace ww::ladder
