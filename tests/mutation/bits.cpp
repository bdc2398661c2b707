// SPDX-License-Identifier: Apache-2.0
#include "bits.hpp"

#include <algorithm>

#include "port/reader.hpp"
#include "references.hpp"

namespace ww::mutation {
namespace {

std::optional<PlantedPtx> planted_now;  // plans are plain functions: they can hold nothing

const port::Tensor* find(const ladder::TensorMap& tensors, const std::string& name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
}

bool same(const ladder::TensorMap& a, const ladder::TensorMap& b, const std::string& name) {
    const port::Tensor *left = find(a, name), *right = find(b, name);
    return left && right && left->bytes == right->bytes;
}

}  // namespace

void plant(std::optional<PlantedPtx> planted) { planted_now = std::move(planted); }

ladder::PlanTable plans_with_mutant() {
    return {{"sage3_plan", [](const port::Scope& scope, std::string_view stage) -> Result<port::KernelImpl> {
        WW_TRY(made, kernels::sage3_plan(scope, stage));
        if (!planted_now) return std::move(made);
        const auto& stages = planted_now->stages;
        WW_TRY(defines, port::defines_of(made, scope));
        if (std::find(stages.begin(), stages.end(), stage) == stages.end() || defines != planted_now->defines)
            return std::move(made);
        made.kind = port::KernelImpl::Source::ptx;
        made.source = planted_now->folder / "mutant.ptx";
        made.taps_source = planted_now->folder / "mutant_taps.ptx";
        return std::move(made);
    }}};
}

std::unique_ptr<device::Device> open_bounded_device(const Subject& subject, const std::string& target) {
    device::EmulatorOptions options{.threads = 1, .instruction_budget = subject.budget};
    if (!target.empty()) options.target = target;
    return device::open_emulated(options);
}

Bench::Bench(const Subject& subject, port::Port port)
    : port_(std::move(port)),
      libraries_(kernels::references()),
      plans_(plans_with_mutant()),
      device_(open_bounded_device(subject, port_.target)) {
    runner_.emplace(port_, *device_, libraries_, plans_);
    references_.emplace(port_, *runner_, 0);
}

Result<std::unique_ptr<Bench>> Bench::open(const Subject& subject, const std::filesystem::path& path) {
    WW_TRY(port, port::load_port(path));
    return std::unique_ptr<Bench>(new Bench(subject, std::move(port)));
}

Result<const ladder::CaseData*> Bench::data(const port::Case& c) {
    ladder::References::Found found = references_->get(c);
    if (found.failure) return fail(c.id + ": " + found.failure->message);
    return found.data;
}

Result<port::KernelImpl> Bench::kernel(std::string_view implementation, const port::Stage& stage,
                                       const port::Scope& scope) const {
    const port::StageImpl& impl = port_.implementation(implementation)->stages.at(stage.name);
    const ladder::RunRequest request{.stage = &stage, .impl = &impl, .scope = &scope};
    return runner_->planned(std::get<port::KernelImpl>(impl.value), request);
}

Bits Bench::run(std::string_view implementation, const port::Stage& stage, const ladder::CaseData& data) {
    const port::StageImpl& impl = port_.implementation(implementation)->stages.at(stage.name);
    ladder::RunRequest request{.stage = &stage,
                               .impl = &impl,
                               .scope = &data.scope,
                               .inputs = &data.values,
                               .poison = 0x5B};
    Bits out;
    out.plain = runner_->run(request);
    request.poison = 0xA4;
    out.again = runner_->run(request);
    request.taps = runner_->has_taps(impl, stage);
    request.poison = 0x5B;
    out.tapped = request.taps ? runner_->run(request) : out.plain;
    return out;
}

std::vector<std::string> differing(const port::Stage& stage, const Bits& clean, const Bits& mutant) {
    std::vector<std::string> out;
    if (mutant.stops()) out.push_back("stop");
    if (!mutant.tapped.failure)
        for (const std::string& name : stage.taps)
            if (!same(clean.tapped.taps, mutant.tapped.taps, name)) out.push_back(name);
    for (const std::string& name : stage.outputs) {
        const bool plain = mutant.plain.failure || same(clean.plain.outputs, mutant.plain.outputs, name);
        const bool again = mutant.again.failure || same(clean.again.outputs, mutant.again.outputs, name);
        const bool tapped =
            mutant.tapped.failure || same(clean.tapped.outputs, mutant.tapped.outputs, name);
        if (!plain || !again || !tapped) out.push_back(name);
    }
    return out;
}

bool really_wrong(const std::string& tensor, const ladder::Element& element, const Bits& clean,
                  const Bits& mutant) {
    const port::Tensor* want = find(clean.tapped.taps, tensor);
    if (!want) want = find(clean.plain.outputs, tensor);
    if (!want || element.coordinates.size() != want->layout.rank()) return false;
    int64_t linear = 0;
    for (size_t i = 0; i < want->layout.rank(); ++i)
        linear = linear * want->layout.shape[i] + element.coordinates[i];
    for (const ladder::TensorMap* made : {&mutant.tapped.taps, &mutant.plain.outputs,
                                          &mutant.again.outputs, &mutant.tapped.outputs}) {
        const port::Tensor* got = find(*made, tensor);
        if (got && got->code(linear) != want->code(linear)) return true;
    }
    return false;
}

}  // namespace ww::mutation
