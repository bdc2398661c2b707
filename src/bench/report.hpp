// SPDX-License-Identifier: Apache-2.0
// What a benchmark found, and its forms: a table, JSON, a plot. Measures nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/statistics.hpp"
#include "device/device.hpp"

namespace ww::bench {

// Of sampled rows of an output against double.
struct Accuracy {
    int64_t rows = 0;
    double relative_l1 = 0, relative_l2 = 0, cosine = 1, gain = 1, max_abs = 0;
    bool finite = true;
};

// Somebody or something that was timed.
struct Subject {
    enum class Kind { kernel, whole, peer };
    enum class State { good, unavailable, failed, incorrect, invalid };
    Kind kind = Kind::kernel;
    std::string name;            // "int8, kernel", "int8, end to end", "cuDNN bf16"
    std::string implementation;  // ours
    State state = State::good;
    std::string why;              // not good: why
    uint32_t launches = 0;        // of a round
    std::vector<double> seconds;  // of each round, the median of its launches; empty: no clock
    std::optional<double> bound;  // seconds that the hardware takes at least
    std::optional<Accuracy> accuracy;
};
std::string_view name(Subject::Kind kind);
std::string_view name(Subject::State state);

// theirs / ours: above 1 ours is faster.
struct Ratio {
    std::string ours, peer;
    Interval interval;
    Judgement judgement;
};

struct Case {
    std::string id, sizes;
    std::optional<double> flops;
    uint32_t sets = 1;  // copies of the tensors that launches take in turns
    std::vector<Subject> subjects;
    std::vector<Ratio> ratios;
    std::vector<device::Condition> conditions;  // of the GPU, before the rounds and after each

    const Subject* find(const std::string& subject) const;
    double tflops(const Subject& subject) const;  // 0: unknown
    // Of our subject against the fastest good peer.
    const Ratio* against_fastest(const Subject& ours) const;
};

struct PeerState {
    std::string name, about;  // what it is made of, by its own words
    std::string unavailable;  // why; empty: it is there
};

// One kernel of ours as it ran.
struct KernelHash {
    std::string implementation, case_id, stage, entry, image;  // XXH64
};

struct Report {
    std::string version, port, port_hash, date;  // date: UTC, ISO 8601
    device::Info device;
    std::string driver;  // of the GPU, "580.159.04"; empty: unknown
    uint32_t rounds = 0;
    uint64_t seed = 0;
    double limit = 0;  // relative L1 that ours must keep
    std::vector<PeerState> peers;
    std::vector<KernelHash> kernels;
    std::vector<Case> cases;

    bool timed() const;
    // Ours ran and is right in every case.
    bool good() const;
};

std::string to_markdown(const Report& report);
std::string to_json(const Report& report);
// Bars of TFLOP/s, a group a case.
std::string to_svg(const Report& report);

}  // namespace ww::bench
