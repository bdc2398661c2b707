// SPDX-License-Identifier: Apache-2.0
#include "port/reader.hpp"

#include <algorithm>
#include <system_error>
#include <tuple>

#include "base/files.hpp"
#include "base/target.hpp"
#include "port/read.hpp"

namespace ww::port {
namespace {

// A port's own flops and bytes hold for every case that gives none.
void read_head(const Node& table, Reading& reading, std::optional<Expr>& flops,
               std::optional<Expr>& bytes) {
    Fields fields(table, "[port]", reading.out);
    reading.port.name = fields.need_string("name").value_or("");
    reading.port.description = fields.string("description").value_or("");
    reading.port.require = fields.exprs("require").value_or(std::vector<Expr>{});
    reading.port.target = fields.string("target").value_or("");
    if (const Node* node = fields.get("target"))
        if (const auto target = parse_target(reading.port.target); !target)
            fields.error(node->place, target.error().front().message);
    flops = fields.expr("flops");
    bytes = fields.expr("bytes");
    fields.finish();
}

// Far above any real port: they keep the work of the checks, which is a product of them, bounded.
void count_parts(const Port& port, Diagnostics& out) {
    struct Limit {
        size_t count, most;
        const char* what;
    };
    for (const Limit& limit :
         {Limit{port.tensors.size(), 256, "tensors"},
          Limit{port.axes.size() + port.scalars.size(), 256, "axes and scalars"},
          Limit{port.stages.size(), 64, "stages"},
          Limit{port.implementations.size(), 64, "implementations"},
          Limit{port.cases.size(), 4096, "cases"}, Limit{port.peers.size(), 64, "peers"}})
        if (limit.count > limit.most)
            out.push_back(Diagnostic{.file = port.file.string(),
                                     .message = std::to_string(limit.count) + " " + limit.what +
                                                "; at most " + std::to_string(limit.most) +
                                                " are supported"});
}

void read_document(const Node& document, Reading& reading) {
    Fields fields(document, "a port.toml", reading.out);
    std::optional<Expr> flops, bytes;
    if (const Node* node = fields.need("port")) read_head(*node, reading, flops, bytes);
    if (const Node* node = fields.get("axes")) read_axes(*node, reading);
    if (const Node* node = fields.get("types")) read_types(*node, reading);
    if (const Node* node = fields.get("scalars")) read_scalars(*node, reading);
    if (const Node* node = fields.need("tensors")) read_tensors(*node, reading);
    if (const Node* node = fields.need("stage")) read_stages(*node, reading);
    if (const Node* node = fields.need("implementations")) read_implementations(*node, reading);
    if (const Node* node = fields.need("case")) read_cases(*node, reading);
    if (const Node* node = fields.get("bench")) read_bench(*node, reading);
    if (const Node* node = fields.get("peer")) read_peers(*node, reading);
    fields.finish();
    count_parts(reading.port, reading.out);
    for (const char* key : {"stage", "case"})
        if (const Node* list = fields.get(key, Node::Kind::array); list && list->items.empty())
            fields.error(list->place, std::string("there must be at least one [[") + key + "]]");
    for (Case& each : reading.port.cases) {
        if (!each.flops) each.flops = flops;
        if (!each.bytes) each.bytes = bytes;
    }
    reading.port.chain.name = "chain";
    for (const TensorSpec& tensor : reading.port.tensors) {
        if (tensor.role == Role::input) reading.port.chain.inputs.push_back(tensor.name);
        if (tensor.role == Role::output) reading.port.chain.outputs.push_back(tensor.name);
    }
    for (Stage& stage : reading.port.stages)
        for (TensorSpec& tensor : reading.port.tensors)
            for (const auto* list : {&stage.taps, &stage.scratch})
                if (std::find(list->begin(), list->end(), tensor.name) != list->end())
                    tensor.stage = stage.name;
}

// In file order, each message once (the flops of the port are looked at in every case).
Diagnostics tidied(Diagnostics diagnostics) {
    const auto key = [](const Diagnostic& d) { return std::tie(d.line, d.col, d.message); };
    std::stable_sort(diagnostics.begin(), diagnostics.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
    diagnostics.erase(
        std::unique(diagnostics.begin(), diagnostics.end(),
                    [&](const Diagnostic& a, const Diagnostic& b) { return key(a) == key(b); }),
        diagnostics.end());
    return diagnostics;
}

Result<Port> read(std::string_view text, const std::filesystem::path& path, bool check_files) {
    WW_TRY(document, parse_toml(text, path.string()));
    std::error_code code;
    const std::filesystem::path absolute =
        check_files ? std::filesystem::absolute(path, code) : path;
    Port port{.folder = absolute.parent_path(), .file = path};
    Diagnostics out;
    Reading reading{port, out, check_files};
    read_document(document, reading);
    check_references(reading);
    // Sizes are only worth computing where every name and type is right.
    if (!has_error(out)) check_cases(reading);
    if (has_error(out)) return fail(tidied(std::move(out)));
    return port;
}

}  // namespace

Result<Port> load_port(const std::filesystem::path& path) {
    if (path.empty()) return fail("no port is named: give the folder of a port, or its port.toml");
    std::error_code code;
    std::filesystem::path file = path;
    if (std::filesystem::is_directory(file, code)) file /= "port.toml";
    WW_TRY(text, read_file(file));
    return read(text, file, true);
}

Result<Port> parse_port(std::string_view text, const std::filesystem::path& path) {
    return read(text, path, false);
}

}  // namespace ww::port
