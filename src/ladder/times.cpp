// SPDX-License-Identifier: Apache-2.0
#include "ladder/times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ladder/runner.hpp"
#include "ladder/selection.hpp"
#include "port/reader.hpp"

namespace ww::ladder {
namespace {

std::optional<double> evaluated(const std::optional<port::Expr>& expression,
                                const port::Scope& scope) {
    if (!expression) return std::nullopt;
    const auto value = expression->eval(scope);
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

class Timer {
  public:
    Timer(const port::Port& port, device::Device& device, const TimesOptions& options)
        : port_(port),
          runner_(port, device, options.libraries, options.plans),
          repeats_(options.repeats) {}

    CaseTimes time(const port::Implementation& implementation, const port::Case& c) {
        CaseTimes out{
            .implementation = implementation.name, .case_id = c.id, .sizes = sizes_text(c)};
        if (const Status done = run_stages(implementation, c, out); !done)
            out.failure = done.error().front().message;
        return out;
    }

  private:
    Status run_stages(const port::Implementation& implementation, const port::Case& c,
                      CaseTimes& out) {
        WW_TRY(scope, port::scope_of(port_, c));
        out.flops = evaluated(c.flops, scope);
        out.bytes = evaluated(c.bytes, scope);
        TensorMap values;
        for (const port::TensorSpec& tensor : port_.tensors) {
            if (tensor.role != port::Role::input) continue;
            WW_TRY(made, port::make_input(port_, c, tensor, scope));
            made.name = tensor.name;
            values.emplace(tensor.name, std::move(made));
        }
        for (const port::Stage& stage : port_.stages) {
            const bool covered = implementation.stages.count(stage.name) > 0;
            const port::Implementation* made_by =
                covered ? &implementation : port_.implementation("reference");
            if (!made_by || !made_by->stages.count(stage.name))
                return fail(
                    fmt::format("{} does not cover stage {}", implementation.name, stage.name));
            const port::StageImpl& impl = made_by->stages.at(stage.name);
            WW_TRY(broken, port::unmet(impl, scope));
            if (broken)
                return fail(fmt::format("unsupported: {} requires {}", made_by->name, *broken));
            RunRequest request{
                .stage = &stage, .impl = &impl, .scope = &scope, .inputs = &values, .poison = 0xA5};
            request.timed = repeats_;
            RunResult result = runner_.run(request);
            if (result.failure)
                return fail(fmt::format("{}: {}", stage.name, result.failure->message));
            if (const auto* kernel = std::get_if<port::KernelImpl>(&impl.value)) {
                WW_TRY(planned, runner_.planned(*kernel, request));
                out.stages.push_back({.stage = stage.name,
                                      .kernel = planned.entry,
                                      .seconds = std::move(result.times),
                                      .bytes = bytes_of(planned, stage, values, result.outputs)});
            }
            for (auto& [name, tensor] : result.outputs)
                values.insert_or_assign(name, std::move(tensor));
        }
        return ok();
    }

    static double bytes_of(const port::KernelImpl& kernel, const port::Stage& stage,
                           const TensorMap& inputs, const TensorMap& outputs) {
        double sum = 0;
        std::vector<std::string> counted;
        for (const port::Arg& arg : kernel.args) {
            const auto* pointer = std::get_if<port::TensorArg>(&arg.value);
            const auto* map = std::get_if<port::TensorMapArg>(&arg.value);
            if (!pointer && !map) continue;
            const std::string& name = pointer ? pointer->tensor : map->tensor;
            if (std::count(counted.begin(), counted.end(), name)) continue;
            counted.push_back(name);
            const bool is_input = std::count(stage.inputs.begin(), stage.inputs.end(), name) > 0;
            const TensorMap& where = is_input ? inputs : outputs;
            if (const auto found = where.find(name); found != where.end())
                sum += static_cast<double>(found->second.layout.bytes);
        }
        return sum;
    }

    const port::Port& port_;
    Runner runner_;
    uint32_t repeats_;
};

}  // namespace

double StageTime::min() const {
    return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double StageTime::median() const {
    if (seconds.empty()) return 0;
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const size_t middle = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double CaseTimes::total() const {
    double sum = 0;
    for (const StageTime& each : stages) sum += each.median();
    return sum;
}

const StageTime* CaseTimes::longest() const {
    const StageTime* out = nullptr;
    for (const StageTime& each : stages)
        if (!each.seconds.empty() && (!out || each.median() > out->median())) out = &each;
    return out;
}

bool TimesReport::timed() const {
    return std::any_of(cases.begin(), cases.end(),
                       [](const CaseTimes& each) { return each.longest() != nullptr; });
}

Result<TimesReport> time_stages(const TimesOptions& options) {
    WW_CHECK(options.open_device != nullptr, "times without a device");
    WW_TRY(port, port::load_port(options.port));
    WW_TRY(implementations, pick_implementations(port, options.implementation));
    WW_TRY(cases, pick_bench_cases(port, options.case_glob));
    WW_TRY(device, options.open_device(port.target, 0));
    TimesReport out{.port = port.name, .device = device->info(), .repeats = options.repeats};
    Timer timer(port, *device, options);
    for (const port::Case* each : cases) {
        const port::Case sized = case_on_device(port, *each, out.device);
        for (const port::Implementation* implementation : implementations)
            out.cases.push_back(timer.time(*implementation, sized));
    }
    return out;
}

}  // namespace ww::ladder
