// SPDX-License-Identifier: Apache-2.0
// Every size of a port.toml evaluated in every case, so that a bad one is known before anything
// runs. One message a place: the first case that shows it.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "port/read.hpp"

namespace ww::port {
namespace {

class CaseChecker {
  public:
    explicit CaseChecker(Reading& reading) : port_(reading.port), out_(reading.out) {}

    void run() {
        for (const Case& each : port_.cases) {
            id_ = each.id;
            auto scope = scope_of(port_, each);
            if (!keep(scope)) continue;
            for (const Expr& condition : port_.require) {
                const auto holds = condition.eval(*scope);
                if (keep(holds) && *holds == 0)
                    report(
                        each.place.error(fmt::format("the port requires '{}'", condition.text())));
            }
            for (const TensorSpec& tensor : port_.tensors) check_tensor(tensor, *scope);
            for (const auto* count : {&each.flops, &each.bytes})
                if (*count) keep((*count)->eval_between(scope->integers, 0, INT64_MAX, "a count"));
            for (const Peer& peer : port_.peers) {
                keep(unmet(peer.require, *scope));
                if (peer.bytes) keep(peer.bytes->eval_between(scope->integers, 0, INT64_MAX, "a count"));
            }
            for (const Implementation& impl : port_.implementations)
                for (const auto& [stage, stage_impl] : impl.stages) check_impl(stage_impl, *scope);
        }
    }

  private:
    void report(Diagnostic diagnostic) {
        if (!seen_.insert({diagnostic.line, diagnostic.col}).second) return;
        diagnostic.message += fmt::format(" (in case '{}')", id_);
        out_.push_back(std::move(diagnostic));
    }
    template <class T>
    bool keep(const Result<T>& result) {
        for (const Diagnostic& each : result.error()) report(each);
        return result.has_value();
    }

    void check_tensor(const TensorSpec& tensor, const Scope& scope) {
        const auto layout = layout_of(tensor, scope);
        if (!keep(layout)) return;
        if (tensor.role != Role::input && layout->may_overlap())
            report(tensor.place.error(
                fmt::format("strides of tensor '{}' may put two elements of {} in one place",
                            tensor.name, layout->text())));
        keep(tile_of(tensor, scope));
    }

    void check_impl(const StageImpl& impl, const Scope& scope) {
        const auto condition = unmet(impl, scope);
        const auto* kernel = std::get_if<KernelImpl>(&impl.value);
        if (!keep(condition) || condition->has_value() || !kernel) return;
        keep(launch_size(*kernel, scope));
        keep(defines_of(*kernel, scope));
        for (const auto* list : {&kernel->args, &kernel->tap_args})
            for (const Arg& arg : *list) check_arg(arg, scope);
    }

    void check_arg(const Arg& arg, const Scope& scope) {
        if (const auto* scalar = std::get_if<ScalarArg>(&arg.value)) {
            keep(scalar_bytes(*scalar, scope));
        } else if (const auto* map = std::get_if<TensorMapArg>(&arg.value)) {
            sizes(map->box, scope, 1, 256, "a box size");
            sizes(map->element_strides, scope, 1, 8, "an element stride");
            if (map->sizes) sizes(*map->sizes, scope, 1, int64_t{1} << 32, "a tensor map size");
            if (map->strides)
                sizes(*map->strides, scope, 0, int64_t{1} << 40, "a tensor map stride");
        }
    }

    void sizes(const std::vector<Expr>& list, const Scope& scope, int64_t low, int64_t high,
               std::string_view what) {
        for (const Expr& each : list) keep(each.eval_between(scope.integers, low, high, what));
    }

    const Port& port_;
    Diagnostics& out_;
    std::string id_;
    std::set<std::pair<int, int>> seen_;
};

}  // namespace

void check_cases(Reading& reading) { CaseChecker(reading).run(); }

}  // namespace ww::port
