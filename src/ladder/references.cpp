// SPDX-License-Identifier: Apache-2.0
#include "ladder/references.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ww::ladder {
namespace {

// Above this, cases that were looked at before are made again when they come back.
constexpr uint64_t kKeptBytes = uint64_t{4} << 30;

uint64_t bytes_of(const TensorMap& tensors) {
    uint64_t out = 0;
    for (const auto& [name, tensor] : tensors) out += tensor.bytes.size();
    return out;
}

Failure reference_failure(const std::string& stage, const std::string& case_id, std::string message) {
    return Failure{.kind = FailureKind::reference,
                   .message = std::move(message),
                   .stage = stage,
                   .case_id = case_id};
}

}  // namespace

void References::make_room() {
    uint64_t total = 0;
    for (const auto& [id, data] : cases_) {
        total += bytes_of(data.values) + bytes_of(data.truth);
        for (const auto& [name, tensors] : data.baselines) total += bytes_of(tensors);
    }
    if (total > kKeptBytes) cases_.clear();
}

References::Found References::get(const port::Case& c) {
    if (const auto found = cases_.find(c.id); found != cases_.end()) return {&found->second, {}};
    make_room();
    CaseData data{.c = &c};
    if (auto failure = make(data)) return {nullptr, std::move(failure)};
    return {&cases_.emplace(c.id, std::move(data)).first->second, {}};
}

const CaseData* References::find(const std::string& case_id) const {
    const auto found = cases_.find(case_id);
    return found == cases_.end() ? nullptr : &found->second;
}

std::optional<Failure> References::make(CaseData& data) {
    const port::Case& c = *data.c;
    auto scope = port::scope_of(port_, c);
    if (!scope) return failure_of(FailureKind::reference, "", scope.error());
    data.scope = std::move(scope).value();
    for (const port::TensorSpec& tensor : port_.tensors) {
        if (tensor.role != port::Role::input) continue;
        auto made = port::make_input(port_, c, tensor, data.scope, seed_);
        if (!made) return failure_of(FailureKind::arguments, "", made.error());
        made->name = tensor.name;
        data.values.emplace(tensor.name, std::move(made).value());
    }
    const port::Implementation* reference = port_.implementation("reference");
    const port::Implementation* in_double = port_.implementation("float64");
    if (!reference) return reference_failure("", c.id, "the port has no implementation `reference`");
    for (const port::Stage& stage : port_.stages) {
        if (auto failure = run_into(*reference, stage, data, false, data.values)) return failure;
        if (auto failure = find_nan(stage, data)) return failure;
        if (in_double && in_double->stages.count(stage.name))
            if (auto failure = run_into(*in_double, stage, data, true, data.truth)) return failure;
    }
    return std::nullopt;
}

std::optional<Failure> References::run_into(const port::Implementation& implementation,
                                            const port::Stage& stage, const CaseData& data,
                                            bool in_double, TensorMap& into) {
    const auto impl = implementation.stages.find(stage.name);
    if (impl == implementation.stages.end())
        return reference_failure(stage.name, data.c->id,
                                 fmt::format("{} does not cover stage {}", implementation.name,
                                             stage.name));
    // Kernels have taps where they say so; host code is asked for all of them.
    const bool is_kernel = std::holds_alternative<port::KernelImpl>(impl->second.value);
    RunRequest request{.stage = &stage, .impl = &impl->second, .scope = &data.scope,
                       .inputs = &data.values};
    request.taps = is_kernel ? runner_.has_taps(impl->second, stage) : !stage.taps.empty();
    request.in_double = in_double;
    request.poison = 0xA5;
    RunResult result = runner_.run(request);
    if (result.failure) {
        const bool wrong_input = result.failure->kind == FailureKind::arguments;
        if (!wrong_input) result.failure->kind = FailureKind::reference;
        result.failure->case_id = data.c->id;
        result.failure->message = implementation.name + ": " + result.failure->message;
        return std::move(result.failure);
    }
    for (TensorMap* made : {&result.outputs, &result.taps})
        for (auto& [name, tensor] : *made) into.insert_or_assign(name, std::move(tensor));
    return std::nullopt;
}

std::optional<Failure> References::find_nan(const port::Stage& stage, const CaseData& data) const {
    std::vector<std::string> made = stage.outputs;
    made.insert(made.end(), stage.taps.begin(), stage.taps.end());
    for (const std::string& name : made) {
        const auto found = data.values.find(name);
        if (found == data.values.end()) continue;
        const port::Tensor& tensor = found->second;
        if (!port::info(tensor.layout.dtype).is_float) continue;
        for (int64_t i = 0; i < tensor.layout.elements; ++i)
            if (std::isnan(tensor.get(i)))
                return reference_failure(
                    stage.name, data.c->id,
                    fmt::format("the reference's {} is NaN at {}: nothing can be judged by it", name,
                                port::coordinates_text(tensor.layout.coordinates(i))));
    }
    return std::nullopt;
}

Result<TensorMap> References::given_truth(const CaseData& data, const port::Stage& stage,
                                          const std::vector<std::string>& given,
                                          const TensorMap& taps) {
    const port::Implementation* in_double = port_.implementation("float64");
    WW_CHECK(in_double && in_double->stages.count(stage.name), "given without float64");
    RunRequest request{.stage = &stage, .impl = &in_double->stages.at(stage.name),
                       .scope = &data.scope, .inputs = &data.values, .taps = true, .in_double = true};
    for (const std::string& name : given) request.given.push_back(&taps.at(name));
    RunResult result = runner_.run(request);
    if (result.failure) return fail(result.failure->message);
    result.outputs.merge(result.taps);
    return std::move(result.outputs);
}

std::optional<Failure> References::add_baseline(CaseData& data, const std::string& implementation,
                                                const port::Stage& stage) {
    if (implementation == "reference") return std::nullopt;  // already in values
    const port::Implementation* found = port_.implementation(implementation);
    WW_CHECK(found != nullptr, implementation);
    TensorMap& into = data.baselines[implementation];
    if (!stage.outputs.empty() && into.count(stage.outputs.front())) return std::nullopt;
    return run_into(*found, stage, data, false, into);
}

}  // namespace ww::ladder
