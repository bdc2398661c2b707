// SPDX-License-Identifier: Apache-2.0
#include "bits.hpp"

#include <algorithm>

#include "port/reader.hpp"

namespace ww::mutation {
namespace {

constexpr uint64_t kBudget = 1'000'000;  // warp instructions; the largest case needs about 60,000

const port::Tensor* find(const ladder::TensorMap& tensors, const std::string& name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
}

bool same(const ladder::TensorMap& a, const ladder::TensorMap& b, const std::string& name) {
    const port::Tensor *left = find(a, name), *right = find(b, name);
    return left && right && left->bytes == right->bytes;
}

}  // namespace

std::unique_ptr<device::Device> open_bounded_device() {
    return device::open_emulated({.threads = 1, .instruction_budget = kBudget});
}

Bench::Bench(port::Port port) : port_(std::move(port)), device_(open_bounded_device()) {
    runner_.emplace(port_, *device_, libraries_, plans_);
}

Result<std::unique_ptr<Bench>> Bench::open(const std::filesystem::path& path) {
    WW_TRY(port, port::load_port(path));
    return std::unique_ptr<Bench>(new Bench(std::move(port)));
}

Result<Bits> Bench::run(const Candidate& candidate, const port::Case& c) {
    WW_TRY(scope, port::scope_of(port_, c));
    ladder::TensorMap inputs;
    for (const std::string& name : stage().inputs) {
        WW_TRY(made, port::make_input(port_, c, *port_.tensor(name), scope));
        made.name = name;
        inputs.emplace(name, std::move(made));
    }
    const port::Implementation* implementation = port_.implementation(candidate.name);
    WW_CHECK(implementation != nullptr, std::string(candidate.name));
    ladder::RunRequest request{.stage = &stage(),
                               .impl = &implementation->stages.at(stage().name),
                               .scope = &scope,
                               .inputs = &inputs,
                               .poison = 0x5B};
    Bits out;
    out.plain = runner_->run(request);
    request.poison = 0xA4;
    out.again = runner_->run(request);
    request.taps = true;
    request.poison = 0x5B;
    out.tapped = runner_->run(request);
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
