// SPDX-License-Identifier: Apache-2.0
#include "bench/ours.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/truth.hpp"

namespace ww::bench {

// Of all steps or of one; sets take turns.
class Ours::Launches final : public Timed {
  public:
    Launches(Ours& ours, std::string stage) : ours_(ours), stage_(std::move(stage)) {}

    Result<std::vector<double>> time(uint32_t launches) override {
        // What this one makes is poisoned: it must come from these launches.
        const bool whole = stage_.empty();
        for (Set& set : ours_.sets_)
            for (const std::string& name : ours_.made_)
                if (whole || name == ours_.request_.port->bench->output) {
                    WW_TRY(poisoned, set.buffers->poison(name));
                    (void)poisoned;
                }
        std::vector<device::Turn> turns;
        const uint32_t untimed = untimed_before(launches);
        for (uint32_t i = 0; i < launches + untimed; ++i) {
            last_ = i % ours_.sets_.size();
            turns.emplace_back();
            for (const Step& step : ours_.sets_[last_].steps)
                if (whole || step.stage == stage_) turns.back().push_back({step.kernel, &step.launch});
        }
        return ours_.runner_.device().time_turns(turns, untimed);
    }

    Result<port::Tensor> output() override {
        const Set& set = ours_.sets_[last_];
        WW_TRY(tensor, set.buffers->read(ours_.request_.port->bench->output));
        if (const int64_t rows = poisoned_rows(tensor, set.buffers->poison()))
            return fail(fmt::format("{} rows of '{}' were not written", rows, tensor.name));
        return std::move(tensor);
    }

  private:
    Ours& ours_;
    std::string stage_;  // empty: all
    size_t last_ = 0;
};

Ours::Ours(ladder::Runner& runner, const OursRequest& request) : runner_(runner), request_(request) {}

Result<std::unique_ptr<Ours>> Ours::open(ladder::Runner& runner, const OursRequest& request) {
    std::unique_ptr<Ours> out(new Ours(runner, request));
    for (uint32_t i = 0; i < std::max(request.sets, 1U); ++i) {
        WW_TRY(added, out->add_set());
        (void)added;
    }
    WW_TRY(ran, out->run_once());
    (void)ran;
    return out;
}

Status Ours::add_set() {
    const port::Port& port = *request_.port;
    sets_.push_back({std::make_unique<ladder::Buffers>(runner_.device(), request_.poison), {}});
    Set& set = sets_.back();
    for (const auto& [name, tensor] : *request_.inputs) {
        WW_TRY(added, set.buffers->add_input(tensor));
        (void)added;
    }
    for (const port::Stage& stage : port.stages) {
        if (port.bench->is_without(stage)) continue;
        const auto found = request_.implementation->stages.find(stage.name);
        if (found == request_.implementation->stages.end() || !std::holds_alternative<port::KernelImpl>(found->second.value))
            return fail(fmt::format("{} has no kernel for stage {}: only kernels are timed", request_.implementation->name,
                                    stage.name));
        WW_TRY(broken, port::unmet(found->second, *request_.scope));
        if (broken) return fail(fmt::format("unsupported: {} requires {}", request_.implementation->name, *broken));
        for (const auto* names : {&stage.outputs, &stage.scratch})
            for (const std::string& name : *names) {
                if (port.bench->is_without(name)) continue;
                WW_TRY(layout, port::layout_of(*port.tensor(name), *request_.scope));
                WW_TRY(added, set.buffers->add_output(name, layout));
                (void)added;
                if (sets_.size() == 1) made_.push_back(name);
            }
        WW_TRY(added, add_step(set, stage, found->second));
        (void)added;
    }
    return ok();
}

Status Ours::add_step(Set& set, const port::Stage& stage, const port::StageImpl& impl) {
    const ladder::RunRequest request{.stage = &stage, .impl = &impl, .scope = request_.scope, .inputs = request_.inputs};
    const auto& kernel = std::get<port::KernelImpl>(impl.value);
    for (const port::Arg& arg : kernel.args)
        if (const auto* map = std::get_if<port::TensorMapArg>(&arg.value); map && request_.port->bench->is_without(map->tensor))
            return fail(fmt::format("[bench] is without '{}', of which stage {} is given a tensor map", map->tensor, stage.name));
    WW_TRY(ready, runner_.ready(request, kernel, [&](const std::string& name) {
        return request_.port->bench->is_without(name) ? device::Address{0} : set.buffers->address(name);
    }));
    if (sets_.size() == 1) {
        kernels_.push_back({request_.implementation->name, request_.case_id, stage.name, ready.entry, ready.image_hash});
        if (stage.name == request_.port->bench->kernel) {
            WW_TRY(planned, runner_.planned(kernel, request));
            WW_TRY(bytes, bytes_of(stage, planned));
            kernel_bytes_ = bytes;
        }
    }
    set.steps.push_back({stage.name, ready.kernel, std::move(ready.launch)});
    return ok();
}

Result<double> Ours::bytes_of(const port::Stage& stage, const port::KernelImpl& kernel) const {
    double sum = 0;
    for (const auto* names : {&stage.inputs, &stage.outputs})
        for (const std::string& name : *names) {
            const bool given = std::any_of(kernel.args.begin(), kernel.args.end(), [&](const port::Arg& arg) {
                const auto* pointer = std::get_if<port::TensorArg>(&arg.value);
                const auto* map = std::get_if<port::TensorMapArg>(&arg.value);
                return (pointer && pointer->tensor == name) || (map && map->tensor == name);
            });
            if (!given || request_.port->bench->is_without(name)) continue;
            WW_TRY(layout, port::layout_of(*request_.port->tensor(name), *request_.scope));
            sum += static_cast<double>(layout.bytes);
        }
    return sum;
}

Status Ours::run_once() {
    for (const Set& set : sets_)
        for (const Step& step : set.steps) {
            WW_TRY(done, runner_.device().launch(step.kernel, step.launch));
            (void)done;
        }
    return ok();
}

std::unique_ptr<Timed> Ours::kernel() { return std::make_unique<Launches>(*this, request_.port->bench->kernel); }
std::unique_ptr<Timed> Ours::whole() { return std::make_unique<Launches>(*this, ""); }

Result<std::string> Ours::intruded() const {
    for (const Set& set : sets_) {
        WW_TRY(found, set.buffers->intrusion());
        if (found) return found->message;
    }
    return std::string();
}

}  // namespace ww::bench
