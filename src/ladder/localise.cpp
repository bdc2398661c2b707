// SPDX-License-Identifier: Apache-2.0
// From "this output is wrong" to the place: unwritten or changed elements, tile, last writer, tap.
#include <fmt/format.h>

#include "ladder/climber.hpp"

namespace ww::ladder {
namespace {

// The code of an element whose bytes are all this one.
uint64_t poison_code(port::Dtype dtype, uint8_t poison) {
    const uint32_t bits = port::info(dtype).bits;
    const uint64_t all = uint64_t{poison} * 0x0101010101010101u;
    return bits == 64 ? all : all & ((uint64_t{1} << bits) - 1);
}

void set_tile(Failure& failure, const port::TensorSpec& spec, const port::Scope& scope) {
    const auto extents = port::tile_of(spec, scope);
    if (!extents || extents->empty() || !failure.first) return;
    failure.tile.clear();
    failure.tile_first.clear();
    for (size_t i = 0; i < extents->size(); ++i) {
        failure.tile.push_back(failure.first->coordinates[i] / (*extents)[i]);
        failure.tile_first.push_back(failure.tile.back() * (*extents)[i]);
    }
    failure.tile_extents = *extents;
}

}  // namespace

void Climber::localise(Failure& failure, const Target& target, const CaseData& data,
                       const std::string& tensor, int64_t linear, bool taps) {
    set_tile(failure, *port_.tensor(tensor), data.scope);
    RunRequest request = request_for(target, data);
    request.taps = taps;
    request.trace = RunRequest::Trace{.tensor = tensor, .linear = linear};
    RunResult traced = runner_.run(request);
    failure.written_by = std::move(traced.written_by);
}

void Climber::first_bad_tap(Failure& failure, const Target& target, CaseData& data) {
    RunRequest request = request_for(target, data);
    request.taps = true;
    RunResult tapped = runner_.run(request);
    if (tapped.failure) return;
    Tapped run{tapped.taps};
    for (const std::string& name : target.stage->taps) {
        const port::Tolerance& tolerance = tapped_tolerance(*target.c, *port_.tensor(name));
        if (tolerance.has_baseline() &&
            references_.add_baseline(data, tolerance.baseline, *target.stage))
            continue;
        const auto found = expected_of_given(target, data, name, tolerance, run);
        if (!found) continue;
        const Expected& expected = *found;
        if (!expected.reference || (tolerance.has_baseline() && !expected.baseline)) continue;
        Comparison comparison = compare(tapped.taps.at(name), expected, tolerance);
        if (comparison.pass) continue;
        failure.tap = name;
        failure.tap_first = std::move(comparison.first);
        if (!failure.tap_first) return;
        request.trace = RunRequest::Trace{.tensor = name, .linear = comparison.first_linear};
        failure.tap_written_by = runner_.run(request).written_by;
        return;
    }
}

std::optional<Failure> Climber::find_unwritten(const Target& target, const TensorMap& a,
                                               const TensorMap& b) const {
    const auto found = references_.find(target.c->id);
    for (const auto& [name, first] : a) {
        const port::Tensor& second = b.at(name);
        const port::Dtype dtype = first.layout.dtype;
        const uint64_t poison_a = poison_code(dtype, poison_);
        const uint64_t poison_b = poison_code(dtype, static_cast<uint8_t>(~poison_));
        int64_t count = 0, at = -1;
        for (int64_t i = 0; i < first.layout.elements; ++i) {
            if (first.code(i) != poison_a || second.code(i) != poison_b) continue;
            if (count++ == 0) at = i;
        }
        if (count == 0) continue;
        Failure failure{.kind = FailureKind::unwritten, .stage = target.stage->name, .output = name,
                        .case_id = target.c->id};
        failure.message = fmt::format("{} of {} elements of {} were never written", count,
                                      first.layout.elements, name);
        if (count == first.layout.elements) failure.message += ": nothing was written to it at all";
        const port::Tensor* expected = nullptr;
        if (found && found->values.count(name)) expected = &found->values.at(name);
        failure.first = element_at(first, expected ? *expected : first, at);
        if (found) set_tile(failure, *port_.tensor(name), found->scope);
        return failure;
    }
    return std::nullopt;
}

void Climber::find_other_writers(Failure& failure, const Target& target, const CaseData& data,
                                 const port::Layout& layout, bool taps) {
    int64_t at = 0;
    for (size_t i = 0; i < layout.rank(); ++i)
        at = at * layout.shape[i] + failure.first->coordinates[i];
    RunRequest request = request_for(target, data);
    request.taps = taps;
    request.trace = RunRequest::Trace{.tensor = failure.output, .linear = at, .others = true};
    for (RunResult::Writer& each : runner_.run(request).other_writers)
        failure.other_writers.push_back(
            {each.tensor, layout.coordinates(each.linear), std::move(each.record)});
}

std::optional<Failure> Climber::find_changed(const Target& target, const TensorMap& a,
                                             const TensorMap& b, FailureKind kind,
                                             const std::string& what) const {
    for (const auto& [name, first] : a) {
        const auto at = first_difference(first, b.at(name));
        if (!at) continue;
        Failure failure{.kind = kind, .stage = target.stage->name, .output = name,
                        .case_id = target.c->id};
        failure.first = element_at(b.at(name), first, *at);
        failure.message = fmt::format("{} give different bits in {}", what, name);
        if (const CaseData* found = references_.find(target.c->id))
            set_tile(failure, *port_.tensor(name), found->scope);
        return failure;
    }
    return std::nullopt;
}

void Climber::fail_run(Rung& rung, const Target& target, RunRequest request, Failure failure) {
    failure.case_id = target.c->id;
    // A guard zone or an input that was written: run again to learn who did it.
    if (failure.kind == FailureKind::out_of_bounds || failure.kind == FailureKind::input_modified) {
        request.trace = RunRequest::Trace{};
        failure.written_by = runner_.run(request).written_by;
    }
    rung.status = RungStatus::fail;
    rung.failure = std::move(failure);
}

}  // namespace ww::ladder
