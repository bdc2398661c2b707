// SPDX-License-Identifier: Apache-2.0
// Questions to a Port: look-ups, and the values that expressions have in one case.
#include "port/port.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ww::port {
namespace {

template <class T>
const T* find_named(const std::vector<T>& list, std::string_view name) {
    for (const T& each : list)
        if (each.name == name) return &each;
    return nullptr;
}

bool fits(Dtype dtype, int64_t value) {
    const DtypeInfo& type = info(dtype);
    if (dtype == Dtype::boolean) return value == 0 || value == 1;
    if (!type.is_signed && value < 0) return false;
    if (type.bits == 64) return true;
    const uint32_t magnitude = type.bits - (type.is_signed ? 1 : 0);
    return value < int64_t{1} << magnitude && value >= -(int64_t{1} << magnitude);
}

Failure does_not_fit(Dtype dtype, const Expr& value, const std::string& number) {
    return fail(value.place().error(
        fmt::format("'{}' = {} does not fit in {}", value.text(), number, name(dtype))));
}

// Rounded to the type; a finite value that would overflow is a failure.
Result<uint64_t> encode_real(Dtype dtype, const Expr& value, const Scope& scope) {
    WW_TRY(number, value.eval_real(scope));
    const uint64_t code = encode(dtype, number);
    const double back = decode(dtype, code);
    if (std::isfinite(number) &&
        (!std::isfinite(back) || std::fabs(number - back) > ulp(dtype, back)))
        return does_not_fit(dtype, value, fmt::format("{}", number));
    return code;
}

Status add_scalar(const Scalar& scalar, const Expr& value, Scope& scope) {
    if (info(scalar.dtype).is_float) {
        WW_TRY(code, encode_real(scalar.dtype, value, scope));
        scope.reals[scalar.name] = decode(scalar.dtype, code);
        return ok();
    }
    WW_TRY(integer, value.eval(scope));
    if (!fits(scalar.dtype, integer))
        return does_not_fit(scalar.dtype, value, fmt::format("{}", integer));
    scope.integers[scalar.name] = integer;
    return ok();
}

Result<std::vector<int64_t>> eval_all(const std::vector<Expr>& exprs, const Scope& scope,
                                      int64_t low, std::string_view what) {
    std::vector<int64_t> out;
    for (const Expr& expr : exprs) {
        WW_TRY(value, expr.eval_between(scope.integers, low, kMaxTensorBytes * 2, what));
        out.push_back(value);
    }
    return out;
}

}  // namespace

std::string_view name(Role role) {
    switch (role) {
        case Role::input:
            return "input";
        case Role::output:
            return "output";
        case Role::intermediate:
            return "intermediate";
        case Role::tap:
            return "tap";
        case Role::scratch:
            return "scratch";
    }
    return "";
}

const TensorSpec* Port::tensor(std::string_view wanted) const {
    return find_named(tensors, wanted);
}
const Stage* Port::stage(std::string_view wanted) const { return find_named(stages, wanted); }
const Implementation* Port::implementation(std::string_view wanted) const {
    return find_named(implementations, wanted);
}
const Scalar* Port::scalar(std::string_view wanted) const { return find_named(scalars, wanted); }
const NamedType* Port::type(std::string_view wanted) const { return find_named(types, wanted); }
const Case* Port::find_case(std::string_view id) const {
    for (const Case& each : cases)
        if (each.id == id) return &each;
    return nullptr;
}

Result<Scope> scope_of(const Port& port, const Case& c) {
    Scope scope;
    for (const Axis& axis : port.axes) {
        const auto given = c.axes.find(axis.name);
        if (given != c.axes.end()) {
            scope.integers[axis.name] = given->second;
        } else if (axis.value) {
            WW_TRY(value, axis.value->eval(scope));
            scope.integers[axis.name] = value;
        } else {
            return fail(
                c.place.error(fmt::format("case '{}' gives axis '{}' no value", c.id, axis.name)));
        }
    }
    for (const NamedType& type : port.types) {
        const auto given = c.types.find(type.name);
        scope.types[type.name] = given != c.types.end() ? given->second : type.dtype;
    }
    for (const Scalar& scalar : port.scalars) {
        const auto given = c.scalars.find(scalar.name);
        if (given == c.scalars.end() && !scalar.value)
            return fail(c.place.error(
                fmt::format("case '{}' gives scalar '{}' no value", c.id, scalar.name)));
        const Expr& value = given != c.scalars.end() ? given->second : *scalar.value;
        WW_TRY(added, add_scalar(scalar, value, scope));
        (void)added;
    }
    return scope;
}

Dtype dtype_of(const TensorSpec& tensor, const Scope& scope) {
    const auto named = scope.types.find(tensor.type);
    return named != scope.types.end() ? named->second : tensor.dtype;
}

Result<Layout> layout_of(const TensorSpec& tensor, const Scope& scope, std::optional<Dtype> as) {
    const std::string what = fmt::format("an extent of tensor '{}'", tensor.name);
    WW_TRY(shape, eval_all(tensor.shape, scope, 1, what));
    std::optional<std::vector<int64_t>> strides;
    if (tensor.strides && !as) {
        const std::string stride = fmt::format("a stride of tensor '{}'", tensor.name);
        WW_TRY(values, eval_all(*tensor.strides, scope, 0, stride));
        strides = std::move(values);
    }
    auto layout = make_layout(as.value_or(dtype_of(tensor, scope)), std::move(shape), std::move(strides));
    if (!layout)
        return fail(tensor.place.error(
            fmt::format("tensor '{}': {}", tensor.name, layout.error().front().message)));
    return layout;
}

Result<Tensor> make_input(const Port& port, const Case& c, const TensorSpec& tensor,
                          const Scope& scope, uint64_t seed) {
    WW_CHECK(tensor.role == Role::input && port.tensor(tensor.name) == &tensor,
             "make_input of '" + tensor.name + "'");
    WW_TRY(layout, layout_of(tensor, scope));
    const auto given = c.data.find(tensor.name);
    const Distribution fallback{.place = tensor.place};
    const Distribution& data = given != c.data.end() ? given->second
                               : tensor.data         ? *tensor.data
                                                     : fallback;
    return generate(data, tensor.name, layout, c.seed + seed, scope);
}

const Tolerance& tolerance_of(const Case& c, const TensorSpec& tensor) {
    const auto given = c.tolerances.find(tensor.name);
    return given != c.tolerances.end() ? given->second : tensor.tolerance;
}

Result<std::vector<int64_t>> tile_of(const TensorSpec& tensor, const Scope& scope) {
    if (tensor.tile.empty()) return std::vector<int64_t>{};
    WW_TRY(tile, eval_all(tensor.tile, scope, 1, fmt::format("a tile of '{}'", tensor.name)));
    WW_TRY(layout, layout_of(tensor, scope));
    for (size_t i = 0; i < tile.size() && i < layout.rank(); ++i)
        tile[i] = std::min(tile[i], layout.shape[i]);
    return std::move(tile);
}

std::span<const std::string> product_names() {
    static const std::vector<std::string> names = {"f16", "tf32", "int8", "fp8", "fp4"};
    return names;
}

Result<std::optional<std::string>> unmet(const StageImpl& impl, const Scope& scope) {
    return unmet(impl.require, scope);
}

Result<std::optional<std::string>> unmet(const std::vector<Expr>& require, const Scope& scope) {
    for (const Expr& condition : require) {
        WW_TRY(holds, condition.eval(scope));
        if (holds == 0) return std::optional<std::string>(condition.text());
    }
    return std::optional<std::string>();
}

Result<LaunchSize> launch_size(const KernelImpl& kernel, const Scope& scope) {
    LaunchSize out;
    struct Part {
        const std::array<Expr, 3>& exprs;
        std::array<uint32_t, 3>& to;
        const char* what;
        std::array<int64_t, 3> limit;
    };
    const Part parts[] = {
        {kernel.grid, out.grid, "a grid size", {2147483647, 65535, 65535}},
        {kernel.block, out.block, "a block size", {1024, 1024, 64}},
        {kernel.cluster, out.cluster, "a cluster size", {16, 16, 16}},
    };
    for (const Part& part : parts)
        for (size_t i = 0; i < 3; ++i) {
            WW_TRY(value, part.exprs[i].eval_between(scope.integers, 1, part.limit[i], part.what));
            part.to[i] = static_cast<uint32_t>(value);
        }
    const uint64_t threads = uint64_t{out.block[0]} * out.block[1] * out.block[2];
    if (threads > 1024)
        return fail(kernel.block[0].place().error(
            fmt::format("a block of {} threads; at most 1024 are allowed", threads)));
    for (size_t i = 0; i < 3; ++i)
        if (out.grid[i] % out.cluster[i] != 0)
            return fail(kernel.cluster[i].place().error(
                fmt::format("a grid size of {} is not a multiple of the cluster size {}",
                            out.grid[i], out.cluster[i])));
    WW_TRY(shared,
           kernel.shared_bytes.eval_between(scope.integers, 0, 1 << 20, "shared memory in bytes"));
    out.shared_bytes = static_cast<uint32_t>(shared);
    return out;
}

Result<std::vector<std::byte>> scalar_bytes(const ScalarArg& arg, const Scope& scope) {
    uint64_t code = 0;
    if (info(arg.dtype).is_float) {
        WW_TRY(encoded, encode_real(arg.dtype, arg.value, scope));
        code = encoded;
    } else {
        WW_TRY(value, arg.value.eval(scope));
        if (!fits(arg.dtype, value))
            return does_not_fit(arg.dtype, arg.value, fmt::format("{}", value));
        code = static_cast<uint64_t>(value);
    }
    std::vector<std::byte> bytes(info(arg.dtype).bits / 8);
    std::memcpy(bytes.data(), &code, bytes.size());
    return bytes;
}

Result<std::vector<std::pair<std::string, std::string>>> defines_of(const KernelImpl& kernel,
                                                                    const Scope& scope) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Define& define : kernel.defines) {
        if (const auto* text = std::get_if<std::string>(&define.value)) {
            out.emplace_back(define.name, *text);
            continue;
        }
        WW_TRY(value, std::get<Expr>(define.value).eval(scope));
        out.emplace_back(define.name, fmt::format("{}", value));
    }
    return out;
}

}  // namespace ww::port
