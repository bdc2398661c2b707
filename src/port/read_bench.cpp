// SPDX-License-Identifier: Apache-2.0
// [bench] and [[peer]] of a port.toml: what `warpwright bench` times, and beside whom.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "port/read.hpp"

namespace ww::port {
namespace {

constexpr double kPeerTimeout = 120;  // a first answer may load a framework and compile

template <class T>
std::vector<std::string> names_of(const std::vector<T>& list) {
    std::vector<std::string> out;
    for (const T& each : list) out.push_back(each.name);
    return out;
}

std::string read_products(Fields& fields, std::string_view key) {
    const auto chosen = fields.choice(key, product_names());
    return chosen ? product_names()[*chosen] : "";
}

std::optional<double> read_limit(Fields& fields) {
    const auto limit = fields.number("relative_l1");
    if (limit && !(*limit > 0 && std::isfinite(*limit)))
        fields.error(fields.get("relative_l1")->place, "'relative_l1' must be above 0");
    return limit;
}

void read_output(Fields& fields, Bench& out, const Reading& reading) {
    out.output = fields.need_string("output").value_or("");
    const Node* node = fields.get("output");
    if (!node || node->kind != Node::Kind::string) return;
    const TensorSpec* tensor = reading.port.tensor(out.output);
    if (!tensor)
        fields.error(node->place, unknown("tensor", out.output, names_of(reading.port.tensors)));
    else if (tensor->role != Role::output || !info(tensor->dtype).is_float || tensor->shape.size() < 2)
        fields.error(node->place, fmt::format("'output' must be an output of a float type with at least two axes, whose rows "
                                              "are judged; '{}' is not", out.output));
}

void read_without(const Node& list, Bench& out, Reading& reading) {
    for (const Node& item : list.items) {
        const auto error = [&](std::string message) { reading.out.push_back(item.place.error(std::move(message))); };
        if (item.kind != Node::Kind::string) {
            error("an entry of 'without' must be a string, the name of a tensor");
            continue;
        }
        const TensorSpec* tensor = reading.port.tensor(item.string);
        if (!tensor)
            error(unknown("tensor", item.string, names_of(reading.port.tensors)));
        else if ((tensor->role != Role::output && tensor->role != Role::intermediate) || item.string == out.output)
            error(fmt::format("'without' names outputs other than 'output', and intermediates; '{}' is not one", item.string));
        else
            out.without.push_back(item.string);
    }
    const Stage* kernel = reading.port.stage(out.kernel);
    if (kernel && out.is_without(*kernel))
        reading.out.push_back(list.place.error(fmt::format("'without' names all that stage '{}' makes, the kernel that is timed", out.kernel)));
}

void read_bench_products(const Node& table, Bench& out, Reading& reading) {
    Fields fields(table, "'products' of [bench]", reading.out);
    std::vector<std::string> candidates;
    for (const Implementation& each : reading.port.implementations)
        if (each.is_candidate()) candidates.push_back(each.name);
    for (const Node::Field& field : table.fields) {
        const Implementation* implementation = reading.port.implementation(field.key);
        if (implementation && implementation->is_candidate())
            out.products[field.key] = read_products(fields, field.key);
        else
            reading.out.push_back(
                field.place.error(unknown("candidate", field.key, candidates)));
    }
}

void read_other_gpus(const Node& list, Bench& out, Reading& reading) {
    for (const Node& item : list.items) {
        if (item.kind == Node::Kind::string)
            // Wanted on another GPU alone: a port that was copied by itself is complete.
            out.other_gpus.push_back(read_path(item, "'other_gpus' of [bench]", reading, false));
        else
            reading.out.push_back(item.place.error("an entry of 'other_gpus' must be a string, the folder of a port"));
    }
}

Peer read_peer(const Node& table, std::set<std::string>& names, Reading& reading) {
    Peer out{.place = table.place};
    Fields fields(table, "a peer", reading.out);
    out.name = fields.need_string("name").value_or("");
    if (const Node* name = fields.get("name"); name && name->kind == Node::Kind::string) {
        if (out.name.empty()) fields.error(name->place, "the name of a peer is empty");
        else if (!names.insert(out.name).second)
            fields.error(name->place, fmt::format("two peers have the name '{}'", out.name));
    }
    out.description = fields.string("description").value_or("");
    out.process = read_process(fields);
    if (!fields.get("timeout_s")) out.process.timeout_s = kPeerTimeout;
    out.products = read_products(fields, "products");
    out.bytes = fields.expr("bytes");
    out.relative_l1 = read_limit(fields).value_or(out.relative_l1);
    out.require = fields.exprs("require").value_or(std::vector<Expr>{});
    fields.finish();
    return out;
}

}  // namespace

void read_bench(const Node& table, Reading& reading) {
    Bench out{.place = table.place};
    Fields fields(table, "[bench]", reading.out);
    out.kernel = fields.need_string("kernel").value_or("");
    if (const Node* kernel = fields.get("kernel"); kernel && kernel->kind == Node::Kind::string)
        if (!reading.port.stage(out.kernel))
            fields.error(kernel->place, unknown("stage", out.kernel, names_of(reading.port.stages)));
    read_output(fields, out, reading);
    out.truth = fields.need_string("truth").value_or("");
    fields.need("relative_l1");
    out.relative_l1 = read_limit(fields).value_or(0);
    if (const Node* without = fields.get("without", Node::Kind::array)) read_without(*without, out, reading);
    if (const Node* products = fields.get("products", Node::Kind::table)) read_bench_products(*products, out, reading);
    if (const Node* others = fields.get("other_gpus", Node::Kind::array)) read_other_gpus(*others, out, reading);
    fields.finish();
    reading.port.bench = std::move(out);
}

void read_peers(const Node& list, Reading& reading) {
    std::set<std::string> names;
    if (!is_list_of_tables(list, "peer", reading.out)) return;
    for (const Node& item : list.items) reading.port.peers.push_back(read_peer(item, names, reading));
}

}  // namespace ww::port
