// SPDX-License-Identifier: Apache-2.0
// [[stage]] and [[case]] of a port.toml.
#include <fmt/format.h>

#include <set>

#include "port/read.hpp"
#include "port/suggest.hpp"

namespace ww::port {

bool is_list_of_tables(const Node& list, std::string_view key, Diagnostics& out) {
    if (list.kind == Node::Kind::array) return true;
    out.push_back(list.place.error(fmt::format(
        "'{}' must be a list of tables, not {}: write [[{}]]", key, kind_text(list.kind), key)));
    return false;
}

namespace {

template <class T>
std::vector<std::string> names_of(const std::vector<T>& list) {
    std::vector<std::string> out;
    for (const T& each : list) out.push_back(each.name);
    return out;
}

void read_case_axes(const Node& table, const std::string& what, Case& out, Reading& reading) {
    const Fields fields(table, "'axes' of " + what, reading.out);
    for (const Node::Field& field : table.fields) {
        const Axis* axis = nullptr;
        for (const Axis& each : reading.port.axes)
            if (each.name == field.key) axis = &each;
        if (!axis) {
            reading.out.push_back(
                field.place.error(unknown("axis", field.key, names_of(reading.port.axes))));
        } else if (axis->derived) {
            reading.out.push_back(
                field.place.error(fmt::format("axis '{}' is defined as '{}': no case may set it",
                                              field.key, axis->value ? axis->value->text() : "")));
        } else if (field.value.kind != Node::Kind::integer) {
            reading.out.push_back(
                field.value.place.error(fmt::format("axis '{}' of {} must be an integer, not {}",
                                                    field.key, what, kind_text(field.value.kind))));
        } else {
            out.axes[field.key] = field.value.integer;
        }
    }
}

void read_case_types(const Node& table, const std::string& what, Case& out, Reading& reading) {
    Fields fields(table, "'types' of " + what, reading.out);
    for (const Node::Field& field : table.fields) {
        const NamedType* type = reading.port.type(field.key);
        if (!type) {
            reading.out.push_back(
                field.place.error(unknown("type", field.key, names_of(reading.port.types))));
        } else if (const auto dtype = fields.dtype(field.key)) {
            if (info(*dtype).is_float != info(type->dtype).is_float)
                reading.out.push_back(field.place.error(fmt::format(
                    "type '{}' is {} elsewhere: {} is another kind", field.key,
                    name(type->dtype), name(*dtype))));
            out.types[field.key] = *dtype;
        }
    }
}

void read_case_scalars(const Node& table, const std::string& what, Case& out, Reading& reading) {
    const Fields fields(table, "'scalars' of " + what, reading.out);
    for (const Node::Field& field : table.fields) {
        const Scalar* scalar = reading.port.scalar(field.key);
        if (!scalar) {
            reading.out.push_back(
                field.place.error(unknown("scalar", field.key, names_of(reading.port.scalars))));
            continue;
        }
        const auto kind = info(scalar->dtype).is_float ? Expr::Kind::real : Expr::Kind::integer;
        auto value = read_expr(field.value, fmt::format("scalar '{}' of {}", field.key, what),
                               reading.out, kind);
        if (value) out.scalars.insert_or_assign(field.key, std::move(*value));
    }
}

// Fields of a table whose keys are tensors: for each, read(spec, value).
template <class F>
void for_tensors(const Node& table, const std::string& what, Reading& reading, F read) {
    const Fields fields(table, what, reading.out);
    for (const Node::Field& field : table.fields) {
        const TensorSpec* tensor = reading.port.tensor(field.key);
        if (tensor)
            read(*tensor, field);
        else
            reading.out.push_back(
                field.place.error(unknown("tensor", field.key, names_of(reading.port.tensors))));
    }
}

void read_case_data(const Node& table, const std::string& what, Case& out, Reading& reading) {
    for_tensors(
        table, "'data' of " + what, reading,
        [&](const TensorSpec& tensor, const Node::Field& field) {
            out.data[tensor.name] = read_distribution(
                field.value, fmt::format("the data of '{}' in {}", tensor.name, what), reading);
            if (tensor.role != Role::input)
                reading.out.push_back(field.place.error(fmt::format(
                    "tensor '{}' is {}: only inputs have data", tensor.name, name(tensor.role))));
        });
}

void read_case(const Node& table, std::set<std::string>& ids, Reading& reading) {
    Case out{.place = table.place};
    Fields fields(table, "a case", reading.out);
    out.id = fields.need_string("id").value_or("");
    const std::string what = fmt::format("case '{}'", out.id);
    if (const Node* id = fields.get("id"); id && id->kind == Node::Kind::string) {
        // Rungs are named by it: "stage/<implementation>/<stage>/<case>".
        if (out.id.empty())
            fields.error(id->place, "the id of a case is empty: give it a name, such as \"small\"");
        else if (out.id.find('/') != std::string::npos)
            fields.error(id->place,
                         fmt::format("the id '{}' has a '/', which separates the parts of "
                                     "a rung's name: write '_' or '-'",
                                     shown(out.id)));
        else if (!ids.insert(out.id).second)
            fields.error(id->place, fmt::format("two cases have the id '{}'", out.id));
    }
    if (const Node* axes = fields.get("axes")) read_case_axes(*axes, what, out, reading);
    if (const Node* types = fields.get("types")) read_case_types(*types, what, out, reading);
    if (const Node* scalars = fields.get("scalars"))
        read_case_scalars(*scalars, what, out, reading);
    if (const Node* data = fields.get("data")) read_case_data(*data, what, out, reading);
    if (const Node* tolerance = fields.get("tolerance"))
        for_tensors(
            *tolerance, "'tolerance' of " + what, reading,
            [&](const TensorSpec& tensor, const Node::Field& field) {
                out.tolerances[tensor.name] = read_tolerance(
                    field.value, fmt::format("the tolerance of '{}' in {}", tensor.name, what),
                    reading);
                if (tensor.role == Role::input || tensor.role == Role::scratch)
                    reading.out.push_back(field.place.error(fmt::format(
                        "tensor '{}' is {}: nothing compares it", tensor.name, name(tensor.role))));
            });
    if (const auto seed = fields.integer("seed")) out.seed = static_cast<uint64_t>(*seed);
    out.held_out = fields.boolean("held_out").value_or(false);
    out.slow = fields.boolean("slow").value_or(false);
    out.bench = fields.boolean("bench").value_or(false);
    out.flops = fields.expr("flops");
    out.bytes = fields.expr("bytes");
    fields.finish();
    reading.port.cases.push_back(std::move(out));
}

}  // namespace

void read_stages(const Node& list, Reading& reading) {
    if (!is_list_of_tables(list, "stage", reading.out)) return;
    for (const Node& table : list.items) {
        Stage out{.place = table.place};
        Fields fields(table, "a stage", reading.out);
        out.name = fields.need_string("name").value_or("");
        if (const Node* name = fields.get("name"); name && !out.name.empty())
            check_name(Node::Field{out.name, name->place, {}}, "a stage", reading.out);
        using Names = std::vector<std::string>;
        if (fields.need("inputs")) out.inputs = fields.strings("inputs").value_or(Names{});
        if (fields.need("outputs")) out.outputs = fields.strings("outputs").value_or(Names{});
        out.taps = fields.strings("taps").value_or(Names{});
        out.scratch = fields.strings("scratch").value_or(Names{});
        fields.finish();
        if (reading.port.stage(out.name))
            fields.error(table.place, fmt::format("two stages have the name '{}'", out.name));
        else if (out.name == "chain")
            fields.error(fields.get("name")->place,
                         "'chain' stands for all stages in one call: call the stage something else");
        else if (out.name == "description" || out.name == "baseline")
            fields.error(table.place, fmt::format("a stage cannot have the name '{}'", out.name));
        reading.port.stages.push_back(std::move(out));
    }
}

void read_cases(const Node& list, Reading& reading) {
    if (!is_list_of_tables(list, "case", reading.out)) return;
    std::set<std::string> ids;
    for (const Node& table : list.items) read_case(table, ids, reading);
}

}  // namespace ww::port
