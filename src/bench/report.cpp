// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <algorithm>

namespace ww::bench {

std::string_view name(Subject::Kind kind) {
    switch (kind) {
        case Subject::Kind::kernel: return "kernel";
        case Subject::Kind::whole: return "end to end";
        case Subject::Kind::peer: return "peer";
    }
    return "";
}

std::string_view name(Subject::State state) {
    switch (state) {
        case Subject::State::good: return "good";
        case Subject::State::unavailable: return "unavailable";
        case Subject::State::failed: return "failed";
        case Subject::State::incorrect: return "incorrect";
        case Subject::State::invalid: return "invalid";
    }
    return "";
}

const Subject* Case::find(const std::string& wanted) const {
    for (const Subject& each : subjects)
        if (each.name == wanted) return &each;
    return nullptr;
}

double Case::tflops(const Subject& subject) const {
    const double seconds = median(subject.seconds);
    return flops && seconds > 0 ? *flops / seconds * 1e-12 : 0;
}

const Ratio* Case::against_fastest(const Subject& ours) const {
    const Ratio* out = nullptr;
    for (const Ratio& each : ratios) {
        const Subject* peer = find(each.peer);
        if (each.ours != ours.name || !peer || peer->state != Subject::State::good) continue;
        if (!out || each.interval.middle < out->interval.middle) out = &each;
    }
    return out;
}

bool Report::timed() const {
    for (const Case& c : cases)
        for (const Subject& each : c.subjects)
            if (!each.seconds.empty()) return true;
    return false;
}

bool Report::good() const {
    for (const Case& c : cases)
        for (const Subject& each : c.subjects)
            if (each.kind != Subject::Kind::peer && each.state != Subject::State::good) return false;
    return true;
}

}  // namespace ww::bench
