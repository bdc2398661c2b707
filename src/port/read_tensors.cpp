// SPDX-License-Identifier: Apache-2.0
// [axes], [scalars] and [tensors] of a port.toml.
#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "port/read.hpp"
#include "port/suggest.hpp"

namespace ww::port {
namespace {

std::vector<std::string> axis_names(const Port& port) {
    std::vector<std::string> out;
    for (const Axis& axis : port.axes) out.push_back(axis.name);
    return out;
}

const std::vector<std::string> kRoles = {"input", "output", "intermediate", "tap", "scratch"};
const std::vector<std::string> kModes = {"exact", "ulp", "row_ulp", "relative_to",
                                         "l1_relative_to"};
const std::vector<std::string> kDistributions = {"normal",  "uniform", "constant",   "outliers",
                                                 "sinks",   "one_hot", "equal_rows", "ramp",
                                                 "special", "biased",  "correlated", "student_t",
                                                 "file",    "values"};

// A number that must be finite, and at least low.
void bounded(Fields& fields, std::string_view key, double low, double& to) {
    const auto value = fields.number(key);
    if (!value) return;
    if (!std::isfinite(*value) || *value < low)
        fields.error(fields.get(key)->place,
                     fmt::format("'{}' of {} must be a finite number{}", key, fields.what(),
                                 low > -1e300 ? fmt::format(" of at least {}", low) : ""));
    else
        to = *value;
}
constexpr double kAny = -1.7976931348623157e308;

}  // namespace

bool check_name(const Node::Field& field, std::string_view what, Diagnostics& out) {
    bool good = !field.key.empty() && field.key.size() <= 64 &&
                !(field.key[0] >= '0' && field.key[0] <= '9');
    for (const char c : field.key)
        good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_');
    if (!good)
        out.push_back(field.place.error(
            fmt::format("'{}' cannot name {}: at most 64 letters, digits and _, the first no digit",
                        shown(field.key), what)));
    return good;
}

void read_axes(const Node& table, Reading& reading) {
    const Fields fields(table, "[axes]", reading.out);
    for (const Node::Field& field : table.fields) {
        if (!check_name(field, "an axis", reading.out)) continue;
        Axis axis{.name = field.key, .place = field.place};
        if (field.value.kind == Node::Kind::table) {
            Fields(field.value, fmt::format("axis '{}'", field.key), reading.out).finish();
        } else {
            axis.value = read_expr(field.value, fmt::format("axis '{}'", field.key), reading.out);
            if (axis.value) {
                axis.derived = field.value.kind == Node::Kind::string;
                const auto wrong = axis.value->unknown_names(axis_names(reading.port));
                reading.out.insert(reading.out.end(), wrong.begin(), wrong.end());
                if (!wrong.empty()) axis.value.reset();
            }
        }
        reading.port.axes.push_back(std::move(axis));
    }
}

void read_types(const Node& table, Reading& reading) {
    Fields fields(table, "[types]", reading.out);
    for (const Node::Field& field : table.fields) {
        if (!check_name(field, "a type", reading.out)) continue;
        if (dtype_named(field.key)) {
            reading.out.push_back(field.place.error(
                fmt::format("'{}' is the name of a dtype: call the type something else", field.key)));
            continue;
        }
        const auto dtype = fields.dtype(field.key);
        reading.port.types.push_back(
            NamedType{field.key, dtype.value_or(Dtype::f32), field.place});
    }
}

void read_scalars(const Node& table, Reading& reading) {
    const Fields fields(table, "[scalars]", reading.out);
    std::vector<std::string> known = axis_names(reading.port), integers = known;
    for (const Node::Field& field : table.fields) {
        if (!check_name(field, "a scalar", reading.out)) continue;
        Fields scalar(field.value, fmt::format("scalar '{}'", field.key), reading.out);
        Scalar out{.name = field.key, .place = field.place};
        if (scalar.need("dtype")) out.dtype = scalar.dtype("dtype").value_or(Dtype::f32);
        const bool real = info(out.dtype).is_float;
        if (info(out.dtype).bits < 8)
            scalar.error(field.place, fmt::format("a scalar cannot be {}", name(out.dtype)));
        out.value = scalar.expr("value", real ? Expr::Kind::real : Expr::Kind::integer);
        scalar.finish();
        if (out.value) {
            const auto wrong = out.value->unknown_names(real ? known : integers);
            reading.out.insert(reading.out.end(), wrong.begin(), wrong.end());
        }
        known.push_back(field.key);
        if (!real) integers.push_back(field.key);
        reading.port.scalars.push_back(std::move(out));
    }
}

Tolerance read_tolerance(const Node& table, const std::string& what, Reading& reading) {
    Fields fields(table, what, reading.out);
    Tolerance out;
    size_t mode = 0;
    if (fields.need("mode")) mode = fields.choice("mode", kModes).value_or(kModes.size());
    out.mode = static_cast<Tolerance::Mode>(mode < kModes.size() ? mode : 0);  // in that order
    if (out.mode == Tolerance::Mode::ulp || out.mode == Tolerance::Mode::row_ulp) {
        if (fields.need("max")) bounded(fields, "max", 0, out.max_ulp);
        if (out.mode == Tolerance::Mode::row_ulp) out.row_axes = fields.integer("axes").value_or(1);
        if (out.row_axes < 1 || out.row_axes > static_cast<int64_t>(kMaxRank))
            fields.error(fields.get("axes")->place, fmt::format("'axes' must lie between 1 and {}", kMaxRank));
    } else if (out.has_baseline()) {
        out.baseline = fields.string("baseline").value_or("reference");
        bounded(fields, "factor", 0, out.factor);
        bounded(fields, "floor_ulp", 0, out.floor_ulp);
    }
    if (mode < kModes.size()) fields.finish();  // an unknown mode has no known keys
    return out;
}

std::filesystem::path read_path(const Node& text, const std::string& what, Reading& reading, bool must_exist) {
    const std::filesystem::path path = reading.port.folder / text.string;
    std::error_code code;
    if (text.string.empty() || text.string.find('\0') != std::string::npos)
        reading.out.push_back(text.place.error(fmt::format("{} is no file name", what)));
    else if (must_exist && reading.check_files && !std::filesystem::exists(path, code))
        reading.out.push_back(text.place.error(
            fmt::format("{}: there is no file '{}' beside the port.toml", what, text.string)));
    return path;
}

Distribution read_distribution(const Node& table, const std::string& what, Reading& reading) {
    using Kind = Distribution::Kind;
    Fields fields(table, what, reading.out);
    Distribution out{.place = table.place};
    std::optional<size_t> kind;
    if (fields.need("distribution")) kind = fields.choice("distribution", kDistributions);
    if (!kind) return out;
    out.kind = static_cast<Kind>(*kind);
    const bool normal = out.kind == Kind::normal || out.kind == Kind::outliers ||
                        out.kind == Kind::sinks || out.kind == Kind::equal_rows ||
                        out.kind == Kind::special || out.kind == Kind::biased ||
                        out.kind == Kind::correlated || out.kind == Kind::student_t;
    if (normal) {
        bounded(fields, "mean", kAny, out.mean);
        bounded(fields, "std", 0, out.std);
    }
    if (out.kind == Kind::uniform) {
        bounded(fields, "low", kAny, out.low);
        bounded(fields, "high", kAny, out.high);
        if (out.low > out.high) fields.error(table.place, what + ": low is above high");
    }
    if (out.kind == Kind::constant) out.value = fields.number("value").value_or(0);
    if (out.kind == Kind::sinks || out.kind == Kind::biased) out.value = 10;
    if (out.kind == Kind::one_hot) out.value = 1;
    if (out.kind == Kind::biased) bounded(fields, "value", kAny, out.value);
    if (out.kind == Kind::correlated) {
        out.axis = fields.integer("axis").value_or(-2);
        bounded(fields, "rho", -1, out.rho);
        if (out.rho > 1) fields.error(fields.get("rho")->place, "'rho' must be at most 1");
    }
    if (out.kind == Kind::student_t) {
        out.count = fields.integer("degrees").value_or(3);
        if (out.count < 1 || out.count > 32)
            fields.error(fields.get("degrees")->place, "'degrees' must lie between 1 and 32");
    }
    if (out.kind == Kind::sinks || out.kind == Kind::one_hot || out.kind == Kind::ramp) {
        bounded(fields, "value", kAny, out.value);
        const auto axis = fields.integer("axis");
        out.axis_given = axis.has_value();
        out.axis = axis.value_or(-1);
    }
    if (out.kind == Kind::sinks) {
        out.scale = 1;
        bounded(fields, "scale", kAny, out.scale);
        out.count = fields.integer("count").value_or(1);
        if (out.count < 1) fields.error(fields.get("count")->place, "'count' must be at least 1");
    }
    if (out.kind == Kind::ramp) bounded(fields, "step", kAny, out.step);
    if (out.kind == Kind::outliers) bounded(fields, "scale", kAny, out.scale);
    if (out.kind == Kind::special || out.kind == Kind::biased) out.fraction = 0.1;
    if (out.kind == Kind::outliers || out.kind == Kind::special || out.kind == Kind::biased) {
        bounded(fields, "fraction", 0, out.fraction);
        if (out.fraction > 1)
            fields.error(fields.get("fraction")->place, "'fraction' must be at most 1");
    }
    if (out.kind == Kind::file) {
        fields.need("file");
        if (const Node* file = fields.get("file", Node::Kind::string))
            out.file = read_path(*file, what, reading);
        out.tensor = fields.need_string("tensor").value_or("");
        out.slice = fields.exprs("slice").value_or(std::vector<Expr>{});
    }
    if (out.kind == Kind::values && fields.need("values"))
        out.values = fields.exprs("values").value_or(std::vector<Expr>{});
    fields.finish();
    return out;
}

void read_tensors(const Node& table, Reading& reading) {
    const Fields fields(table, "[tensors]", reading.out);
    for (const Node::Field& field : table.fields) {
        if (!check_name(field, "a tensor", reading.out)) continue;
        const std::string what = fmt::format("tensor '{}'", field.key);
        Fields tensor(field.value, what, reading.out);
        TensorSpec out{.name = field.key, .place = field.place};
        tensor.need("dtype");
        const Node* spelled = tensor.get("dtype");
        const NamedType* type = spelled ? reading.port.type(spelled->string) : nullptr;
        if (type) out.type = type->name, out.dtype = type->dtype;
        else if (spelled) out.dtype = tensor.dtype("dtype").value_or(Dtype::f32);
        if (tensor.need("shape")) out.shape = tensor.exprs("shape").value_or(std::vector<Expr>{});
        std::optional<size_t> role;
        if (tensor.need("role")) role = tensor.choice("role", kRoles);
        if (!role) reading.broken.push_back(field.key);
        out.role = static_cast<Role>(role.value_or(0));
        out.strides = tensor.exprs("strides");
        out.tile = tensor.exprs("tile").value_or(std::vector<Expr>{});
        out.description = tensor.string("description").value_or("");
        out.given = tensor.strings("given").value_or(std::vector<std::string>{});
        if (out.shape.size() > kMaxRank)
            tensor.error(tensor.get("shape")->place,
                         fmt::format("{} has {} axes; at most {} are supported", what,
                                     out.shape.size(), kMaxRank));
        for (const char* key : {"strides", "tile"}) {
            const Node* list = tensor.get(key);
            if (list && list->kind == Node::Kind::array && list->items.size() != out.shape.size())
                tensor.error(list->place,
                             fmt::format("'{}' of {} has {} entries, its shape {}", key, what,
                                         list->items.size(), out.shape.size()));
        }
        if (const Node* given = tensor.get("given_tolerance"))
            out.given_tolerance = read_tolerance(*given, "the tolerance of " + what, reading);
        if (const Node* given = tensor.get("given")) out.given_place = given->place;
        const Node* tolerance = tensor.get("tolerance");
        const Node* data = tensor.get("data");
        if (tolerance) {
            out.tolerance = read_tolerance(*tolerance, "the tolerance of " + what, reading);
            if (out.role == Role::input || out.role == Role::scratch)
                tensor.error(tolerance->place,
                             fmt::format("{} is {}: nothing compares it", what, name(out.role)));
        }
        if (const Node* also = tensor.get("also")) {
            out.also = read_tolerance(*also, "the second tolerance of " + what, reading);
            if (out.also->mode != Tolerance::Mode::l1_relative_to)
                tensor.error(also->place, fmt::format("'also' of {} must have the mode l1_relative_to", what));
            if (out.role != Role::output)
                tensor.error(also->place,
                             fmt::format("{} is {}: only outputs have 'also'", what, name(out.role)));
        }
        if (data) {
            out.data = read_distribution(*data, "the data of " + what, reading);
            if (out.role != Role::input)
                tensor.error(data->place,
                             fmt::format("{} is {}: only inputs have data", what, name(out.role)));
        }
        tensor.finish();
        reading.port.tensors.push_back(std::move(out));
    }
}

}  // namespace ww::port
