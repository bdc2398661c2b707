// SPDX-License-Identifier: Apache-2.0
// What each rung judges. Finding the place of a failure is in localise.cpp.
#include "ladder/climber.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace ww::ladder {
namespace {

std::string key_of(const Target& target) {
    return target.implementation->name + "/" + target.stage->name + "/" + target.c->id;
}

void fail_with(Rung& rung, Failure failure) {
    rung.status = RungStatus::fail;
    rung.failure = std::move(failure);
}

void skip(Rung& rung, std::string why) {
    rung.status = RungStatus::skip;
    rung.note = std::move(why);
}

// Neither 0 nor all ones, which kernels write by themselves.
uint8_t poison_of(uint64_t seed) {
    const uint64_t mixed = (seed + 1) * 0x9E3779B97F4A7C15u;
    return static_cast<uint8_t>(mixed >> 56 | 1) % 254 + 1;
}

}  // namespace

Climber::Climber(const port::Port& port, device::Device& device, const CheckOptions& options)
    : port_(port),
      options_(options),
      poison_(poison_of(options.seed)),
      runner_(port, device, options.libraries, options.plans, options.on_printf),
      references_(port, runner_, options.seed) {}

RunRequest Climber::request_for(const Target& target, const CaseData& data) const {
    return RunRequest{.stage = target.stage, .impl = &target.impl(), .scope = &data.scope,
                      .inputs = &data.values, .poison = poison_};
}

bool Climber::has_taps(const Target& target) const {
    return runner_.has_taps(target.impl(), *target.stage);
}

CaseData* Climber::data_for(Rung& rung, const Target& target) {
    if (unusable_.count(target.implementation->name + "/" + target.stage->name)) {
        skip(rung, fmt::format("{} has no kernel to run", target.implementation->name));
        return nullptr;
    }
    References::Found found = references_.get(*target.c);
    if (found.failure) {
        fail_with(rung, std::move(*found.failure));
        return nullptr;
    }
    const auto broken = port::unmet(target.impl(), found.data->scope);
    if (!broken) {
        fail_with(rung, failure_of(FailureKind::arguments, target.stage->name, broken.error()));
        return nullptr;
    }
    if (*broken) {
        skip(rung, fmt::format("unsupported: {} requires {}", target.implementation->name, **broken));
        return nullptr;
    }
    return found.data;
}

void Climber::reference_rung(Rung& rung, const port::Case& c) {
    References::Found found = references_.get(c);
    if (found.failure) return fail_with(rung, std::move(*found.failure));
    for (const auto& [name, tensor] : found.data->truth) {
        const auto reference = found.data->values.find(name);
        if (reference == found.data->values.end()) continue;
        // The reference's own error against double: what relative tolerances build on.
        port::Tolerance any{.mode = port::Tolerance::Mode::ulp, .max_ulp = 0};
        Comparison own = compare(reference->second,
                                 Expected{.reference = &reference->second, .truth = &tensor}, any);
        own.metrics.mismatches = 0;
        const port::Tolerance& tolerance = port::tolerance_of(c, *port_.tensor(name));
        if (tolerance.has_baseline())  // its ulp say nothing
            own.metrics.baseline_relative_l2 = own.metrics.relative_l2;
        rung.metrics.push_back(std::move(own.metrics));
    }
}

void Climber::each_build(Rung& rung, const port::Implementation& implementation,
                         const port::Stage& stage, const std::vector<const port::Case*>& cases,
                         const std::function<std::optional<Failure>(const RunRequest&)>& step) {
    for (const port::Case* c : cases) {
        auto scope = port::scope_of(port_, *c);
        if (!scope)
            return fail_with(rung, failure_of(FailureKind::arguments, stage.name, scope.error()));
        RunRequest request{.stage = &stage, .impl = &implementation.stages.at(stage.name),
                           .scope = &scope.value()};
        const auto broken = port::unmet(*request.impl, scope.value());
        if (broken && *broken) continue;
        for (const bool taps : {false, true}) {
            if (taps && !runner_.has_taps(*request.impl, stage)) continue;
            request.taps = taps;
            if (auto failure = step(request)) {
                failure->case_id = c->id;
                unusable_.insert(implementation.name + "/" + stage.name);
                return fail_with(rung, std::move(*failure));
            }
        }
    }
}

void Climber::compile_rung(Rung& rung, const port::Implementation& implementation,
                           const port::Stage& stage, const std::vector<const port::Case*>& cases) {
    each_build(rung, implementation, stage, cases, [&](const RunRequest& request) {
        auto failure = runner_.prepare(request);
        if (failure && request.taps) failure->message = "with taps on: " + failure->message;
        return failure;
    });
}

void Climber::arguments_rung(Rung& rung, const port::Implementation& implementation,
                             const port::Stage& stage,
                             const std::vector<const port::Case*>& cases) {
    if (unusable_.count(implementation.name + "/" + stage.name))
        return skip(rung, fmt::format("{} has no kernel to run", implementation.name));
    each_build(rung, implementation, stage, cases,
               [&](const RunRequest& request) { return runner_.check_launch(request); });
}

Expected Climber::expected_of(const CaseData& data, const std::string& tensor,
                              const port::Tolerance& tolerance) const {
    Expected out;
    const auto reference = data.values.find(tensor);
    if (reference != data.values.end()) out.reference = &reference->second;
    if (const auto truth = data.truth.find(tensor); truth != data.truth.end())
        out.truth = &truth->second;
    if (!tolerance.has_baseline()) return out;
    if (tolerance.baseline == "reference") {
        out.baseline = out.reference;
    } else if (const auto made = data.baselines.find(tolerance.baseline);
               made != data.baselines.end()) {
        const auto found = made->second.find(tensor);
        if (found != made->second.end()) out.baseline = &found->second;
    }
    return out;
}

Result<Expected> Climber::expected_of_given(const Target& target, const CaseData& data,
                                            const std::string& tensor,
                                            const port::Tolerance& tolerance, Tapped& tapped) {
    Expected out = expected_of(data, tensor, tolerance);
    const std::vector<std::string>& given = port_.tensor(tensor)->given;
    if (given.empty()) return out;
    const std::string key = join(given, ",");
    if (!tapped.made.count(key)) {
        WW_TRY(made, references_.given_truth(data, *target.stage, given, tapped.taps));
        tapped.made.emplace(key, std::move(made));
    }
    out.truth = &tapped.made.at(key).at(tensor);
    return out;
}

const port::Tolerance& Climber::tapped_tolerance(const port::Case& c,
                                                 const port::TensorSpec& tensor) const {
    return tensor.role == port::Role::tap ? port::tolerance_of(c, tensor) : tensor.given_tolerance;
}

bool Climber::judge(Rung& rung, const Target& target, CaseData& data, const port::Tensor& got,
                    Tapped* tapped, const port::Tensor* against) {
    const port::TensorSpec& spec = *port_.tensor(got.name);
    const port::Tolerance& tolerance =
        tapped ? tapped_tolerance(*target.c, spec) : port::tolerance_of(*target.c, spec);
    if (!judge_by(rung, target, data, got, tolerance, tapped, against)) return false;
    if (!spec.also || tapped || against) return true;
    const size_t before = rung.metrics.size();
    const bool good = judge_by(rung, target, data, got, *spec.also, nullptr, nullptr);
    if (rung.metrics.size() > before) {  // one entry an output
        const Metrics second = std::move(rung.metrics.back());
        rung.metrics.pop_back();
        rung.metrics.back().baseline_relative_l1 = second.baseline_relative_l1;
        rung.metrics.back().l1_baseline = second.l1_baseline;
    }
    return good;
}

bool Climber::judge_by(Rung& rung, const Target& target, CaseData& data, const port::Tensor& got,
                       port::Tolerance tolerance, Tapped* tapped, const port::Tensor* against) {
    const port::TensorSpec& spec = *port_.tensor(got.name);
    if (tolerance.has_baseline()) {
        if (auto failure = references_.add_baseline(data, tolerance.baseline, *target.stage)) {
            fail_with(rung, std::move(*failure));
            return false;
        }
    }
    auto found = tapped ? expected_of_given(target, data, got.name, tolerance, *tapped)
                        : Result<Expected>(expected_of(data, got.name, tolerance));
    if (!found) {
        fail_with(rung, failure_of(FailureKind::reference, target.stage->name, found.error()));
        return false;
    }
    Expected expected = std::move(found).value();
    if (against) {  // another implementation is the yardstick; both may be off by the tolerance
        expected.reference = against;
        if (tolerance.has_baseline()) expected.baseline = against;
        else expected.truth = against;
        tolerance.max_ulp *= 2;
    }
    if (!expected.reference || (tolerance.has_baseline() && !expected.baseline)) {
        rung.note = fmt::format("{} is not compared: the reference does not make it", got.name);
        return true;
    }
    Comparison comparison = compare(got, expected, tolerance);
    rung.metrics.push_back(comparison.metrics);
    if (comparison.pass) return true;
    if (rung.failure) return false;  // the first one is the place
    Failure failure{.kind = comparison.kind, .message = comparison.message,
                    .stage = target.stage->name, .output = got.name, .case_id = target.c->id,
                    .first = comparison.first, .worst = comparison.worst};
    if (spec.role == port::Role::tap) failure.tap = got.name;
    if (comparison.first)
        localise(failure, target, data, got.name, comparison.first_linear, tapped != nullptr);
    fail_with(rung, std::move(failure));
    return false;
}

bool Climber::fail_for_race(Rung& rung, const Target& target) {
    for (const device::RaceRecord& race : rung.races) {
        if (race.level != RaceLevel::error) continue;
        Failure failure{.kind = FailureKind::race, .stage = target.stage->name, .case_id = target.c->id};
        failure.message = fmt::format("{} at {}: {}", race.rule, race.where, race.missing);
        fail_with(rung, std::move(failure));
        return true;
    }
    return false;
}

void Climber::stage_rung(Rung& rung, const Target& target) {
    CaseData* data = data_for(rung, target);
    if (!data) return;
    RunRequest request = request_for(target, *data);
    request.races = options_.races;
    RunResult first = runner_.run(request);
    request.races.reset();  // once is enough: they do not depend on the poison
    rung.races = std::move(first.races);
    if (first.failure) return fail_run(rung, target, request, std::move(*first.failure));
    request.poison = static_cast<uint8_t>(~poison_);
    RunResult second = runner_.run(request);
    if (second.failure) return fail_run(rung, target, request, std::move(*second.failure));
    if (auto failure = find_unwritten(target, first.outputs, second.outputs)) {
        const std::string& name = failure->output;
        find_other_writers(*failure, target, *data, first.outputs.at(name).layout, false);
        if (has_taps(target)) first_bad_tap(*failure, target, *data);
        return fail_with(rung, std::move(*failure));
    }
    for (const std::string& name : target.stage->outputs)
        judge(rung, target, *data, first.outputs.at(name), nullptr);
    if (rung.failure) {
        if (has_taps(target)) first_bad_tap(*rung.failure, target, *data);
        return;
    }
    if (fail_for_race(rung, target)) return;
    if (auto failure = find_changed(target, first.outputs, second.outputs,
                                    FailureKind::not_deterministic, "two runs on the same inputs"))
        return fail_with(rung, std::move(*failure));
    outputs_.insert_or_assign(key_of(target), std::move(first.outputs));
}

const TensorMap* Climber::outputs_of(Rung& rung, const Target& target, CaseData& data) {
    const std::string key = key_of(target);
    if (const auto found = outputs_.find(key); found != outputs_.end()) return &found->second;
    RunRequest request = request_for(target, data);
    RunResult result = runner_.run(request);
    if (result.failure) {
        fail_run(rung, target, request, std::move(*result.failure));
        return nullptr;
    }
    return &outputs_.insert_or_assign(key, std::move(result.outputs)).first->second;
}

void Climber::taps_rung(Rung& rung, const Target& target) {
    CaseData* data = data_for(rung, target);
    if (!data) return;
    const TensorMap* plain = outputs_of(rung, target, *data);
    if (!plain) return;
    RunRequest request = request_for(target, *data);
    request.taps = true;
    RunResult tapped = runner_.run(request);
    if (tapped.failure) return fail_run(rung, target, request, std::move(*tapped.failure));
    request.poison = static_cast<uint8_t>(~poison_);
    RunResult again = runner_.run(request);
    if (again.failure) return fail_run(rung, target, request, std::move(*again.failure));
    if (auto failure = find_changed(target, *plain, tapped.outputs, FailureKind::taps_change_output,
                                    "the kernel with taps and the one without"))
        return fail_with(rung, std::move(*failure));
    if (auto failure = find_unwritten(target, tapped.taps, again.taps)) {
        failure->tap = failure->output;
        const std::string& name = failure->output;
        find_other_writers(*failure, target, *data, tapped.taps.at(name).layout, true);
        return fail_with(rung, std::move(*failure));
    }
    Tapped run{tapped.taps};
    for (const std::string& name : target.stage->taps)  // in program order
        judge(rung, target, *data, tapped.taps.at(name), &run);
    for (const std::string& name : target.stage->outputs)
        if (!port_.tensor(name)->given.empty())
            judge(rung, target, *data, tapped.outputs.at(name), &run);
}

Runner* Climber::single_threaded(Rung& rung) {
    if (second_runner_) return second_runner_.get();
    auto opened = options_.open_device(port_.target, 1);
    if (!opened) {
        fail_with(rung, failure_of(FailureKind::stopped, "", opened.error()));
        return nullptr;
    }
    second_device_ = std::move(opened).value();
    second_runner_ = std::make_unique<Runner>(port_, *second_device_, options_.libraries, options_.plans);
    return second_runner_.get();
}

void Climber::determinism_rung(Rung& rung, const Target& target) {
    CaseData* data = data_for(rung, target);
    if (!data) return;
    const TensorMap* before = outputs_of(rung, target, *data);
    Runner* other = before ? single_threaded(rung) : nullptr;
    if (!other) return;
    RunRequest request = request_for(target, *data);
    RunResult again = other->run(request);
    if (again.failure) return fail_run(rung, target, request, std::move(*again.failure));
    if (auto failure = find_changed(target, *before, again.outputs, FailureKind::not_deterministic,
                                    "runs with one and with all host threads"))
        fail_with(rung, std::move(*failure));
}

void Climber::chain_rung(Rung& rung, const port::Implementation& implementation,
                         const port::Case& c) {
    TensorMap values;  // grows stage by stage, from the implementation's own results
    for (const port::Stage& stage : port_.stages) {
        const bool covered = implementation.stages.count(stage.name) > 0;
        const port::Implementation* made_by =
            covered ? &implementation : port_.implementation("reference");
        const Target target{.implementation = made_by, .stage = &stage, .c = &c};
        CaseData* data = data_for(rung, target);
        if (!data) return;
        if (values.empty()) values = data->values;
        RunRequest request = request_for(target, *data);
        request.inputs = &values;
        RunResult result = runner_.run(request);
        if (result.failure) return fail_run(rung, target, request, std::move(*result.failure));
        for (const std::string& name : stage.outputs) {
            port::Tensor& tensor = result.outputs.at(name);
            const bool is_result = port_.tensor(name)->role == port::Role::output;
            if (is_result) judge(rung, target, *data, tensor, nullptr);
            values.insert_or_assign(name, std::move(tensor));
        }
    }
    if (!rung.failure && implementation.stages.count(port_.chain.name))
        one_call(rung, implementation, c, values);
}

// The implementation's own host code: the port's outputs in one call, with the bits that its stages
// give one by one.
void Climber::one_call(Rung& rung, const port::Implementation& implementation, const port::Case& c,
                       const TensorMap& one_by_one) {
    const Target target{.implementation = &implementation, .stage = &port_.chain, .c = &c};
    CaseData* data = data_for(rung, target);
    if (!data) return;
    const RunRequest request = request_for(target, *data);
    RunResult result = runner_.run(request);
    if (result.failure) return fail_run(rung, target, request, std::move(*result.failure));
    TensorMap expected;
    for (const std::string& name : port_.chain.outputs) expected.emplace(name, one_by_one.at(name));
    if (auto failure = find_changed(target, expected, result.outputs, FailureKind::wrong,
                                    "the stages one by one and the chain in one call"))
        fail_with(rung, std::move(*failure));
}

void Climber::compare_rung(Rung& rung, const Target& target, const port::Implementation& other) {
    CaseData* data = data_for(rung, target);
    if (!data) return;
    const Target yardstick{.implementation = &other, .stage = target.stage, .c = target.c};
    const auto broken = port::unmet(yardstick.impl(), data->scope);
    if (broken && *broken)
        return skip(rung, fmt::format("unsupported: {} requires {}", other.name, **broken));
    const TensorMap* mine = outputs_of(rung, target, *data);
    const TensorMap* theirs = mine ? outputs_of(rung, yardstick, *data) : nullptr;
    if (!theirs) return;
    int64_t different = 0;
    for (const std::string& name : target.stage->outputs) {
        judge(rung, target, *data, mine->at(name), nullptr, &theirs->at(name));
        different += mine->at(name).bytes != theirs->at(name).bytes;
    }
    if (different == 0) rung.note = "the same bits";
}

}  // namespace ww::ladder
