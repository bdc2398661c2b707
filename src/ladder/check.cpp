// SPDX-License-Identifier: Apache-2.0
// Which rungs a port has, in what order, and climbing them.
#include "ladder/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/target.hpp"
#include "base/text.hpp"
#include "ladder/climber.hpp"
#include "ladder/seconds.hpp"
#include "ladder/selection.hpp"
#include "port/reader.hpp"
#include "toolchain/found.hpp"

namespace ww::ladder {
namespace {

using Clock = std::chrono::steady_clock;

struct PlannedRung {
    std::string name;
    std::function<void(Rung&)> judge;
};

// The first parts of the rungs' names, each once.
std::string kinds_of(const std::vector<PlannedRung>& plan) {
    std::vector<std::string> kinds;
    for (const PlannedRung& each : plan) {
        std::string kind = each.name.substr(0, each.name.find('/') + 1);
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(std::move(kind));
    }
    return join(kinds, ", ");
}

// What other implementations are compared with: the original, or the first candidate.
const port::Implementation* yardstick_of(const port::Port& port) {
    if (const port::Implementation* original = port.implementation("original")) return original;
    for (const port::Implementation& each : port.implementations)
        if (each.is_candidate()) return &each;
    return nullptr;
}

class Plan {
  public:
    Plan(const port::Port& port, Climber& climber) : port_(port), climber_(climber) {}

    std::vector<PlannedRung> make(const std::vector<const port::Implementation*>& implementations,
                                  const std::vector<const port::Case*>& cases) {
        std::vector<const port::Case*> open, held_out;
        for (const port::Case* c : cases) (c->held_out ? held_out : open).push_back(c);
        host_rungs(implementations, cases);
        for (const port::Case* c : open) stage_rungs("stage", implementations, *c);
        for (const port::Case* c : open) taps_rungs("taps", implementations, *c);
        if (!open.empty()) determinism_rungs(implementations, *open.back());
        if (port_.stages.size() > 1)
            for (const port::Case* c : open) chain_rungs(implementations, *c);
        for (const port::Case* c : open) compare_rungs(implementations, *c);
        for (const port::Case* c : held_out) stage_rungs("held_out", implementations, *c);
        return std::move(rungs_);
    }

  private:
    using Implementations = std::vector<const port::Implementation*>;

    void add(std::string name, std::function<void(Rung&)> judge) {
        rungs_.push_back(PlannedRung{std::move(name), std::move(judge)});
    }

    // Calls with(target, "implementation/stage") for each stage that an implementation covers.
    template <class With>
    void each_target(const Implementations& implementations, const port::Case* c, With with) {
        for (const port::Implementation* implementation : implementations)
            for (const port::Stage& stage : port_.stages)
                if (implementation->stages.count(stage.name))
                    with(Target{.implementation = implementation, .stage = &stage, .c = c},
                         implementation->name + "/" + stage.name);
    }

    void host_rungs(const Implementations& implementations,
                    const std::vector<const port::Case*>& cases) {
        for (const port::Case* c : cases)
            add("reference/" + c->id, [this, c](Rung& rung) { climber_.reference_rung(rung, *c); });
        each_target(implementations, nullptr, [&](const Target& t, const std::string& name) {
            add("compile/" + name, [this, t, cases](Rung& rung) {
                climber_.compile_rung(rung, *t.implementation, *t.stage, cases);
            });
        });
        each_target(implementations, nullptr, [&](const Target& t, const std::string& name) {
            add("arguments/" + name, [this, t, cases](Rung& rung) {
                climber_.arguments_rung(rung, *t.implementation, *t.stage, cases);
            });
        });
    }

    void stage_rungs(const std::string& kind, const Implementations& implementations,
                     const port::Case& c) {
        each_target(implementations, &c, [&](const Target& t, const std::string& name) {
            add(kind + "/" + name + "/" + c.id,
                [this, t](Rung& rung) {
                    climber_.stage_rung(rung, t);
                    climber_.explain(rung, *t.implementation);
                });
        });
    }

    void taps_rungs(const std::string& kind, const Implementations& implementations,
                    const port::Case& c) {
        each_target(implementations, &c, [&](const Target& t, const std::string& name) {
            if (!climber_.has_taps(t)) return;
            add(kind + "/" + name + "/" + c.id,
                [this, t](Rung& rung) {
                    climber_.taps_rung(rung, t);
                    climber_.explain(rung, *t.implementation);
                });
        });
    }

    // The largest case: the most blocks to run in another order.
    void determinism_rungs(const Implementations& implementations, const port::Case& c) {
        each_target(implementations, &c, [&](const Target& t, const std::string& name) {
            if (!std::holds_alternative<port::KernelImpl>(t.impl().value)) return;
            add("determinism/" + name + "/" + c.id,
                [this, t](Rung& rung) {
                    climber_.determinism_rung(rung, t);
                    climber_.explain(rung, *t.implementation);
                });
        });
    }

    void chain_rungs(const Implementations& implementations, const port::Case& c) {
        for (const port::Implementation* implementation : implementations)
            add("chain/" + implementation->name + "/" + c.id, [this, implementation, &c](Rung& rung) {
                climber_.chain_rung(rung, *implementation, c);
                climber_.explain(rung, *implementation);
            });
    }

    void compare_rungs(const Implementations& implementations, const port::Case& c) {
        const port::Implementation* other = yardstick_of(port_);
        each_target(implementations, &c, [&](const Target& t, const std::string& name) {
            if (!other || other == t.implementation || !other->stages.count(t.stage->name)) return;
            add("compare/" + name + "/" + other->name + "/" + c.id,
                [this, t, other](Rung& rung) {
                    climber_.compare_rung(rung, t, *other);
                    climber_.explain(rung, *t.implementation);
                });
        });
    }

    const port::Port& port_;
    Climber& climber_;
    std::vector<PlannedRung> rungs_;
};

// Kernels in CUDA C++ need NVRTC: its absence is no fault of the kernel.
Status need_compiler(const std::vector<const port::Implementation*>& implementations) {
    for (const port::Implementation* implementation : implementations)
        for (const auto& [stage, impl] : implementation->stages) {
            const auto* kernel = std::get_if<port::KernelImpl>(&impl.value);
            if (!kernel || kernel->kind != port::KernelImpl::Source::cuda) continue;
            WW_TRY(found, toolchain::need_part("nvrtc"));
            (void)found;
            return ok();
        }
    return ok();
}

void climb(const CheckOptions& options, std::vector<PlannedRung>& plan, CheckReport& report) {
    bool compared = false;
    for (size_t i = 0; i < plan.size(); ++i) {
        Rung rung{.name = plan[i].name};
        if (options.on_start) options.on_start(rung.name);
        const auto start = Clock::now();
        plan[i].judge(rung);
        rung.seconds = seconds_since(start);
        compared |= rung.status == RungStatus::pass && !rung.metrics.empty() &&
                    !rung.name.starts_with("reference/");
        const bool failed = rung.status == RungStatus::fail;
        if (failed && report.reason.empty()) report.reason = rung.name + " failed";
        if (options.on_rung) options.on_rung(rung);
        report.rungs.push_back(std::move(rung));
        if (failed && !options.keep_going) {
            report.not_run = plan.size() - i - 1;
            break;
        }
    }
    if (report.reason.empty() && !compared) report.reason = "no output was compared";
    report.pass = report.reason.empty();
}

}  // namespace

Result<CheckReport> check(const CheckOptions& options) {
    WW_CHECK(options.open_device != nullptr, "check without a device");
    const auto start = Clock::now();
    WW_TRY(port, port::load_port(options.port));
    WW_TRY(implementations, pick_implementations(port, options.implementation));
    WW_TRY(cases, pick_cases(port, options.case_glob));
    WW_TRY(compiler, need_compiler(implementations));
    (void)compiler;
    WW_TRY(device, options.open_device(port.target, 0));
    CheckReport report{.port = port.name, .device = device->info(), .seed = options.seed};
    Climber climber(port, *device, options);
    Plan maker(port, climber);  // the rungs refer to it
    std::vector<PlannedRung> plan = maker.make(implementations, cases);
    if (!options.rung_glob.empty()) {
        std::vector<PlannedRung> picked;
        for (PlannedRung& each : plan)
            if (glob_match(options.rung_glob, each.name)) picked.push_back(std::move(each));
        if (picked.empty())
            return fail(fmt::format("--rung {} matches none of the {} rungs; they begin with {}",
                                    options.rung_glob, plan.size(), kinds_of(plan)));
        plan = std::move(picked);
    }
    climb(options, plan, report);
    report.seconds = seconds_since(start);
    return report;
}
Result<std::unique_ptr<device::Device>> open_emulator(const std::string& target, device::EmulatorOptions options) {
    if (!target.empty()) options.target = target;
    WW_TRY(sound, parse_target(options.target));
    (void)sound;
    return device::open_emulated(options);
}

Result<std::unique_ptr<device::Device>> open_usual_emulator(const std::string& target, uint32_t threads) {
    return open_emulator(target, {.threads = threads, .instruction_budget = uint64_t{1} << 32,
                                  .async = {AsyncPolicy::Kind::lazy}});
}


}  // namespace ww::ladder
