// SPDX-License-Identifier: Apache-2.0
// [implementations] of a port.toml: kernels, library functions and processes.
#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "port/read.hpp"

namespace ww::port {
namespace {

const std::vector<std::string> kKinds = {"kernel", "library", "process"};
const std::vector<std::string> kInterleaves = {"none", "16B", "32B"};
const std::vector<std::string> kSwizzles = {"none", "32B", "64B", "128B"};
const std::vector<std::string> kL2 = {"none", "64B", "128B", "256B"};
const std::vector<std::string> kOob = {"zero", "nan"};
const std::vector<std::string> kMapTypes = {"u8",  "u16", "u32", "i32",  "u64",  "i64",
                                            "f16", "f32", "f64", "bf16", "tf32", "16u4"};

// One of the enumerations above as the number that the driver gives it (0 is the first).
uint32_t enumerated(Fields& fields, std::string_view key, std::span<const std::string> values) {
    // CU_TENSOR_MAP_INTERLEAVE_NONE and its kin count from 0 in this order.
    return static_cast<uint32_t>(fields.choice(key, values).value_or(0));
}

std::optional<TensorMapArg> read_tensor_map(Fields& fields) {
    TensorMapArg out;
    const auto tensor = fields.string("tensor_map");
    out.tensor = tensor.value_or("");
    if (fields.need("box")) out.box = fields.exprs("box").value_or(std::vector<Expr>{});
    out.sizes = fields.exprs("sizes");
    out.strides = fields.exprs("strides");
    out.element_strides = fields.exprs("element_strides").value_or(std::vector<Expr>{});
    if (const auto type = fields.choice("data_type", kMapTypes)) out.data_type = kMapTypes[*type];
    out.interleave = enumerated(fields, "interleave", kInterleaves);
    out.swizzle = enumerated(fields, "swizzle", kSwizzles);
    out.l2_promotion = enumerated(fields, "l2", kL2);
    out.oob_fill = enumerated(fields, "oob", kOob);
    return tensor ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Arg> read_named_arg(const Node& node, Reading& reading) {
    const Port& port = reading.port;
    if (port.tensor(node.string)) return Arg{TensorArg{node.string}, node.place};
    if (const Scalar* scalar = port.scalar(node.string)) {
        const auto kind = info(scalar->dtype).is_float ? Expr::Kind::real : Expr::Kind::integer;
        auto value = Expr::parse(node.string, kind, node.text_place());
        if (!collect(value, reading.out)) return std::nullopt;
        return Arg{ScalarArg{scalar->dtype, std::move(*value)}, node.place};
    }
    std::vector<std::string> known;
    for (const TensorSpec& tensor : port.tensors) known.push_back(tensor.name);
    for (const Scalar& scalar : port.scalars) known.push_back(scalar.name);
    std::string message = unknown("tensor or scalar", node.string, known);
    for (const Axis& axis : port.axes)
        if (axis.name == node.string)
            message = fmt::format(
                "an axis has no type as an argument: write "
                "{{ dtype = \"i32\", value = \"{}\" }}",
                axis.name);
    reading.out.push_back(node.place.error(std::move(message)));
    return std::nullopt;
}

std::optional<Arg> read_arg(const Node& node, Reading& reading) {
    if (node.kind == Node::Kind::string) return read_named_arg(node, reading);
    if (node.kind != Node::Kind::table) {
        reading.out.push_back(node.place.error(fmt::format(
            "an argument is a name or a table, not {}: write {{ dtype = \"i32\", value = ... }}",
            kind_text(node.kind))));
        return std::nullopt;
    }
    Fields fields(node, "an argument", reading.out);
    if (node.field("tensor_map")) {
        auto map = read_tensor_map(fields);
        fields.finish();
        return map ? std::optional(Arg{std::move(*map), node.place}) : std::nullopt;
    }
    std::optional<Dtype> dtype;
    if (fields.need("dtype")) dtype = fields.dtype("dtype");
    if (dtype && info(*dtype).bits < 8)
        fields.error(node.place, fmt::format("an argument cannot be {}", name(*dtype)));
    const bool real = dtype && info(*dtype).is_float;
    fields.need("value");
    auto value = fields.expr("value", real ? Expr::Kind::real : Expr::Kind::integer);
    fields.finish();
    if (!dtype || !value) return std::nullopt;
    return Arg{ScalarArg{*dtype, std::move(*value)}, node.place};
}

std::vector<Arg> read_args(Fields& fields, Reading& reading) {
    std::vector<Arg> out;
    if (!fields.need("args")) return out;
    const Node* list = fields.get("args", Node::Kind::array);
    if (!list) return out;
    for (const Node& item : list->items)
        if (auto arg = read_arg(item, reading)) out.push_back(std::move(*arg));
    return out;
}

void read_dim3(Fields& fields, std::string_view key, bool needed, std::array<Expr, 3>& to) {
    to.fill(Expr::constant(1));
    if (needed) fields.need(key);
    const Node* node = fields.get(key);
    if (!node) return;
    if (node->kind != Node::Kind::array) {  // one size needs no brackets
        if (auto value = fields.expr(key)) to[0] = std::move(*value);
        return;
    }
    auto values = fields.exprs(key);
    if (values->empty() || values->size() > 3) {
        fields.error(node->place, fmt::format("'{}' of {} has {} sizes; one to three are due", key,
                                              fields.what(), values->size()));
        return;
    }
    for (size_t i = 0; i < values->size(); ++i) to[i] = std::move((*values)[i]);
}

void read_defines(const Node& table, const std::string& what, KernelImpl& out, Reading& reading) {
    const Fields fields(table, "'defines' of " + what, reading.out);
    for (const Node::Field& field : table.fields) {
        if (!check_name(field, "a define", reading.out)) continue;
        if (field.value.kind == Node::Kind::table) {
            Fields text(field.value, fmt::format("define '{}'", field.key), reading.out);
            const auto value = text.need_string("text");
            text.finish();
            if (value) out.defines.push_back(Define{field.key, *value});
        } else if (auto value =
                       read_expr(field.value, fmt::format("define '{}'", field.key), reading.out)) {
            out.defines.push_back(Define{field.key, std::move(*value)});
        }
    }
}

void read_source(Fields& fields, KernelImpl& out, Reading& reading) {
    fields.need("source");
    const Node* source = fields.get("source", Node::Kind::string);
    if (!source) return;
    out.source = read_path(*source, "'source' of " + fields.what(), reading);
    const std::string extension = out.source.extension().string();
    if (extension == ".ptx")
        out.kind = KernelImpl::Source::ptx;
    else if (extension == ".cubin")
        out.kind = KernelImpl::Source::cubin;
    else if (extension != ".cu")
        fields.error(source->place, fmt::format("unsupported kind of source '{}': .cu, .ptx or "
                                                ".cubin are due",
                                                extension));
}

void read_taps(const Node& table, KernelImpl& out, Reading& reading, const std::string& what) {
    Fields fields(table, "'taps' of " + what, reading.out);
    if (out.kind == KernelImpl::Source::cuda) {
        out.tap_define = fields.string("define").value_or("WW_TAPS");
    } else {
        fields.need("source");
        if (const Node* source = fields.get("source", Node::Kind::string))
            out.taps_source = read_path(*source, fields.what(), reading);
    }
    out.tap_args = read_args(fields, reading);
    fields.finish();
}

KernelImpl read_kernel(Fields& fields, Reading& reading) {
    KernelImpl out;
    if (fields.get("plan")) {  // the function gives everything
        out.plan = fields.string("plan").value_or("");
        if (out.plan.empty()) fields.error(fields.get("plan")->place, "'plan' names no function");
        for (auto* dims : {&out.grid, &out.block, &out.cluster}) dims->fill(Expr::constant(1));
        return out;
    }
    read_source(fields, out, reading);
    out.entry = fields.need_string("entry").value_or("");
    if (const Node* entry = fields.get("entry")) out.entry_place = entry->place;
    out.target = fields.string("target").value_or("");
    if (const Node* target = fields.get("target")) out.target_place = target->place;
    if (const Node* defines = fields.get("defines"))
        read_defines(*defines, fields.what(), out, reading);
    if (const Node* include = fields.get("include", Node::Kind::array))
        for (const Node& folder : include->items) {
            if (folder.kind == Node::Kind::string)
                out.include.push_back(read_path(folder, "'include' of " + fields.what(), reading));
            else
                fields.error(folder.place, "an include folder must be a string");
        }
    out.options = fields.strings("options").value_or(std::vector<std::string>{});
    if (const Node* options = fields.get("options"))
        for (const Node& option : options->items) out.option_places.push_back(option.place);
    if (out.kind != KernelImpl::Source::cuda)
        for (const char* key : {"defines", "include", "options", "target"})
            if (const Node* node = fields.get(key))
                fields.error(node->place, fmt::format("'{}' has no meaning for a kernel that is "
                                                      "already compiled",
                                                      key));
    read_dim3(fields, "grid", true, out.grid);
    read_dim3(fields, "block", true, out.block);
    read_dim3(fields, "cluster", false, out.cluster);
    out.shared_bytes = fields.expr("shared").value_or(Expr::constant(0));
    out.cooperative = fields.boolean("cooperative").value_or(false);
    out.args = read_args(fields, reading);
    if (const Node* taps = fields.get("taps")) read_taps(*taps, out, reading, fields.what());
    return out;
}

LibraryImpl read_library(Fields& fields, Reading& reading) {
    LibraryImpl out{.symbol = fields.need_string("symbol").value_or("")};
    if (const Node* path = fields.get("path", Node::Kind::string))
        out.path = read_path(*path, "'path' of " + fields.what(), reading);
    return out;
}

std::optional<StageImpl> read_stage_impl(const Node& table, const std::string& what,
                                         Reading& reading) {
    Fields fields(table, what, reading.out);
    std::optional<size_t> kind;
    if (fields.need("kind")) kind = fields.choice("kind", kKinds);
    if (!kind) return std::nullopt;
    StageImpl out{.place = table.place};
    if (*kind == 0) out.value = read_kernel(fields, reading);
    if (*kind == 1) out.value = read_library(fields, reading);
    if (*kind == 2) out.value = read_process(fields);
    out.require = fields.exprs("require").value_or(std::vector<Expr>{});
    fields.finish();
    return out;
}

}  // namespace

ProcessImpl read_process(Fields& fields) {
    ProcessImpl out;
    if (const Node* argv = fields.need("argv")) {
        out.argv = fields.strings("argv").value_or(std::vector<std::string>{});
        if (argv->kind == Node::Kind::array && out.argv.empty())
            fields.error(argv->place, "'argv' names no program");
    }
    if (const auto timeout = fields.number("timeout_s")) {
        out.timeout_s = *timeout;
        if (!(*timeout > 0 && *timeout <= 86400))
            fields.error(fields.get("timeout_s")->place, "'timeout_s' must lie in (0, 86400]");
    }
    return out;
}

void read_implementations(const Node& table, Reading& reading) {
    const Fields fields(table, "[implementations]", reading.out);
    std::vector<std::string> stages;
    for (const Stage& stage : reading.port.stages) stages.push_back(stage.name);
    for (const Node::Field& field : table.fields) {
        Implementation out{.name = field.key, .place = field.place};
        if (!check_name(field, "an implementation", reading.out)) continue;
        const std::string what = fmt::format("implementation '{}'", field.key);
        Fields implementation(field.value, what, reading.out);
        out.description = implementation.string("description").value_or("");
        out.baseline = implementation.boolean("baseline").value_or(false);
        for (const Node::Field& stage : field.value.fields) {
            if (stage.key == "description" || stage.key == "baseline") continue;
            if (!reading.port.stage(stage.key) && stage.key != "chain") {
                reading.out.push_back(
                    stage.place.error(unknown("stage", stage.key, stages, " of " + what)));
                continue;
            }
            auto impl = read_stage_impl(stage.value,
                                        fmt::format("stage '{}' of {}", stage.key, what), reading);
            if (stage.key == "chain" && !out.is_candidate() && out.name != "original")
                reading.out.push_back(stage.place.error(
                    fmt::format("'chain' is for what is judged, and {} is not", what)));
            if (impl && stage.key == "chain" && !std::holds_alternative<LibraryImpl>(impl->value))
                reading.out.push_back(stage.place.error(
                    fmt::format("'chain' of {} must be of kind library", what)));
            if (impl) out.stages.insert_or_assign(stage.key, std::move(*impl));
        }
        reading.port.implementations.push_back(std::move(out));
    }
}

}  // namespace ww::port
