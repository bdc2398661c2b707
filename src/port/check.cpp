// SPDX-License-Identifier: Apache-2.0
// What only the whole port.toml can tell: whether names resolve and every tensor has one maker.
// The values that expressions have in each case: check_cases.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "port/read.hpp"

namespace ww::port {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

class Checker {
  public:
    explicit Checker(Reading& reading)
        : port_(reading.port), out_(reading.out), broken_(reading.broken) {
        for (const Axis& axis : port_.axes) sizes_.push_back(axis.name);
        for (const Scalar& scalar : port_.scalars)
            (info(scalar.dtype).is_float ? reals_ : sizes_).push_back(scalar.name);
        reals_.insert(reals_.end(), sizes_.begin(), sizes_.end());
        for (const TensorSpec& tensor : port_.tensors) tensor_names_.push_back(tensor.name);
    }

    void run() {
        unique_names();
        for (const TensorSpec& tensor : port_.tensors) tensor_exprs(tensor);
        for (const Expr& condition : port_.require) expr(condition);
        for (const Peer& peer : port_.peers) {
            exprs(peer.require);
            if (peer.bytes) expr(*peer.bytes);
        }
        for (const Stage& stage : port_.stages) this->stage(stage);
        for (const TensorSpec& tensor : port_.tensors) used(tensor);
        for (const TensorSpec& tensor : port_.tensors) given(tensor);
        for (const Implementation& impl : port_.implementations)
            for (const auto& [name, stage_impl] : impl.stages) {
                const Stage* stage = port_.stage(name);  // none of the name "chain"
                implementation(stage ? *stage : port_.chain, stage_impl);
            }
        reference();
        for (const Case& each : port_.cases) one_case(each);
    }

  private:
    void error(const Place& place, std::string message) {
        out_.push_back(place.error(std::move(message)));
    }
    void expr(const Expr& expr) {
        const bool real = expr.kind() == Expr::Kind::real;
        for (const std::string& name : expr.names())
            if (const Scalar* scalar = port_.scalar(name);
                scalar && !real && info(scalar->dtype).is_float)
                return error(expr.place(), fmt::format("'{}' is {}: an integer expression cannot "
                                                       "use it",
                                                       name, ww::port::name(scalar->dtype)));
        const Diagnostics wrong = expr.unknown_names(real ? reals_ : sizes_);
        out_.insert(out_.end(), wrong.begin(), wrong.end());
    }
    template <class List>
    void exprs(const List& list) {
        for (const Expr& each : list) expr(each);
    }

    void unique_names() {
        std::map<std::string, std::string_view> seen;
        const auto add = [&](const std::string& name, const Place& place, std::string_view what) {
            const auto [at, added] = seen.emplace(name, what);
            if (!added)
                error(place, fmt::format("{} '{}' has the name of {}", what, name, at->second));
        };
        for (const Axis& axis : port_.axes) add(axis.name, axis.place, "an axis");
        for (const Scalar& scalar : port_.scalars) add(scalar.name, scalar.place, "a scalar");
        for (const NamedType& type : port_.types) add(type.name, type.place, "a type");
        for (const TensorSpec& tensor : port_.tensors) add(tensor.name, tensor.place, "a tensor");
    }

    void tensor_exprs(const TensorSpec& tensor) {
        exprs(tensor.shape);
        exprs(tensor.tile);
        if (tensor.strides) exprs(*tensor.strides);
        if (tensor.data) exprs(tensor.data->slice);
        if (tensor.role != Role::input && tensor.role != Role::scratch)
            tolerance(tensor, tensor.tolerance, tensor.place);
        if (tensor.also) tolerance(tensor, *tensor.also, tensor.place);
    }

    const TensorSpec* known(const Stage& stage, const std::string& name) {
        const TensorSpec* tensor = port_.tensor(name);
        if (tensor) return tensor;
        error(stage.place,
              unknown("tensor", name, tensor_names_, fmt::format(" in stage '{}'", stage.name)));
        broken_stages_.push_back(stage.name);
        return nullptr;
    }

    void stage(const Stage& stage) {
        for (const std::string& name : stage.inputs) {
            const TensorSpec* tensor = known(stage, name);
            if (!tensor) continue;
            read_.push_back(name);
            if (has(broken_, name) || tensor->role == Role::input || has(made_, name)) continue;
            error(stage.place, fmt::format("stage '{}' reads '{}', which no earlier stage makes",
                                           stage.name, name));
        }
        make(stage, stage.outputs, "an output", {Role::output, Role::intermediate});
        make(stage, stage.taps, "a tap", {Role::tap});
        make(stage, stage.scratch, "scratch", {Role::scratch});
        if (stage.outputs.empty())
            error(stage.place, fmt::format("stage '{}' has no outputs", stage.name));
    }

    void make(const Stage& stage, const Names& names, std::string_view what,
              std::initializer_list<Role> roles) {
        for (const std::string& name : names) {
            const TensorSpec* tensor = known(stage, name);
            if (!tensor) continue;
            if (!has(broken_, name) &&
                std::find(roles.begin(), roles.end(), tensor->role) == roles.end())
                error(stage.place,
                      fmt::format("stage '{}' has '{}' as {}, but its role is {}", stage.name, name,
                                  what, ww::port::name(tensor->role)));
            if (has(made_, name))
                error(stage.place, fmt::format("'{}' belongs to two stages, or twice to stage '{}'",
                                               name, stage.name));
            made_.push_back(name);
        }
    }

    void given(const TensorSpec& tensor) {
        if (tensor.given.empty()) return;
        const Stage* stage = maker(tensor);
        if (!stage || (tensor.role != Role::tap && tensor.role != Role::output))
            return error(tensor.given_place,
                         fmt::format("tensor '{}' is neither tap nor output: 'given' is for these",
                                     tensor.name));
        Names earlier;
        for (const std::string& tap : stage->taps) {
            if (tap == tensor.name) break;
            earlier.push_back(tap);
        }
        for (const std::string& name : tensor.given)
            if (!has(earlier, name))
                error(tensor.given_place, fmt::format("'given' of '{}': stage '{}' has no earlier tap '{}'",
                                                      tensor.name, stage->name, name));
        const Implementation* in_double = port_.implementation("float64");
        const bool has_stage = in_double && in_double->stages.count(stage->name);
        if (!has_stage || !std::holds_alternative<LibraryImpl>(in_double->stages.at(stage->name).value))
            error(tensor.given_place, fmt::format("'given' of '{}' needs a float64 implementation of stage "
                                            "'{}' of kind library",
                                            tensor.name, stage->name));
    }

    void used(const TensorSpec& tensor) {
        if (has(broken_, tensor.name) || !broken_stages_.empty()) return;
        const bool is_input = tensor.role == Role::input;
        if (!has(is_input ? read_ : made_, tensor.name))
            error(tensor.place, fmt::format("tensor '{}' is {}, but no stage {} it", tensor.name,
                                            name(tensor.role), is_input ? "reads" : "names"));
        else if (tensor.role == Role::intermediate && !has(read_, tensor.name))
            error(tensor.place, fmt::format("tensor '{}' is intermediate, but no stage reads it; "
                                            "is it an output?",
                                            tensor.name));
    }

    const Stage* maker(const TensorSpec& tensor) const {
        for (const Stage& stage : port_.stages)
            if (has(stage.outputs, tensor.name) || has(stage.taps, tensor.name)) return &stage;
        return nullptr;
    }

    void tolerance(const TensorSpec& tensor, const Tolerance& tolerance, const Place& place) {
        const Stage* stage = maker(tensor);
        if (!tolerance.has_baseline() || !stage) return;
        if (!info(tensor.dtype).is_float)
            error(place, fmt::format("tensor '{}' is {}: errors relative to another's are for float types",
                                     tensor.name, name(tensor.dtype)));
        Names names;
        for (const Implementation& each : port_.implementations) names.push_back(each.name);
        for (const std::string& needed : {tolerance.baseline, std::string("float64")}) {
            const Implementation* impl = port_.implementation(needed);
            const std::string of = fmt::format(", which the tolerance of '{}' needs", tensor.name);
            if (!impl)
                error(place, unknown("implementation", needed, names, of));
            else if (impl->stages.find(stage->name) == impl->stages.end())
                error(place, fmt::format("implementation '{}' has no stage '{}'{}", needed,
                                         stage->name, of));
        }
    }

    void argument(const Stage& stage, const Arg& arg, bool tapped) {
        if (const auto* scalar = std::get_if<ScalarArg>(&arg.value)) return expr(scalar->value);
        const auto* map = std::get_if<TensorMapArg>(&arg.value);
        const std::string& name = map ? map->tensor : std::get<TensorArg>(arg.value).tensor;
        Names allowed = stage.inputs;
        allowed.insert(allowed.end(), stage.outputs.begin(), stage.outputs.end());
        allowed.insert(allowed.end(), stage.scratch.begin(), stage.scratch.end());
        if (tapped) allowed.insert(allowed.end(), stage.taps.begin(), stage.taps.end());
        if (!has(allowed, name) && !has(broken_stages_, stage.name)) {
            const bool is_tap = has(stage.taps, name);
            error(arg.place,
                  is_tap ? fmt::format("tap '{}' can only stand in the args of 'taps'", name)
                         : unknown("tensor", name, allowed,
                                   fmt::format(" in stage '{}'", stage.name)));
        }
        if (map) tensor_map(*map, arg.place);
    }

    void tensor_map(const TensorMapArg& map, const Place& place) {
        exprs(map.box);
        exprs(map.element_strides);
        if (map.sizes) exprs(*map.sizes);
        if (map.strides) exprs(*map.strides);
        const TensorSpec* tensor = port_.tensor(map.tensor);
        if (!tensor) return;
        const size_t rank = map.sizes ? map.sizes->size() : tensor->shape.size();
        if (rank < 1 || rank > 5)
            error(place, fmt::format("a tensor map has one to five axes, not {}", rank));
        const auto same = [&](std::string_view key, size_t count) {
            if (count != rank)
                error(place,
                      fmt::format("'{}' of the tensor map of '{}' has {} entries for {} axes", key,
                                  map.tensor, count, rank));
        };
        same("box", map.box.size());
        if (map.strides) same("strides", map.strides->size());
        if (!map.element_strides.empty()) same("element_strides", map.element_strides.size());
        if (map.sizes && !map.strides && rank != tensor->shape.size())
            error(place, "a tensor map with 'sizes' of another rank needs 'strides'");
    }

    void implementation(const Stage& stage, const StageImpl& impl) {
        exprs(impl.require);
        const auto* kernel = std::get_if<KernelImpl>(&impl.value);
        if (!kernel) return;
        exprs(kernel->grid);
        exprs(kernel->block);
        exprs(kernel->cluster);
        expr(kernel->shared_bytes);
        for (const Define& define : kernel->defines)
            if (const auto* value = std::get_if<Expr>(&define.value)) expr(*value);
        for (const Arg& arg : kernel->args) argument(stage, arg, false);
        for (const Arg& arg : kernel->tap_args) argument(stage, arg, true);
        if (!kernel->tap_args.empty() && stage.taps.empty())
            error(impl.place, fmt::format("stage '{}' declares no taps", stage.name));
    }

    void reference() {
        const Implementation* reference = port_.implementation("reference");
        if (!reference && !port_.stages.empty())
            error(port_.stages[0].place,
                  "there is no [implementations.reference]: it makes the "
                  "expected values");
        for (const Stage& stage : port_.stages)
            if (reference && reference->stages.find(stage.name) == reference->stages.end())
                error(reference->place,
                      fmt::format("implementation 'reference' has no stage '{}'", stage.name));
    }

    void one_case(const Case& c) {
        if (c.flops) expr(*c.flops);
        if (c.bytes) expr(*c.bytes);
        for (const auto& [name, value] : c.scalars) expr(value);
        for (const auto& [name, data] : c.data) exprs(data.slice);
        for (const auto& [name, given] : c.tolerances)
            tolerance(*port_.tensor(name), given, c.place);
    }

    const Port& port_;
    Diagnostics& out_;
    const Names& broken_;  // tensors whose role is unknown
    Names broken_stages_;  // stages that name unknown tensors
    Names sizes_, reals_, tensor_names_;
    Names made_, read_;  // tensors, by the stages seen so far
};

}  // namespace

void check_references(Reading& reading) { Checker(reading).run(); }

}  // namespace ww::port
