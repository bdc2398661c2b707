// SPDX-License-Identifier: Apache-2.0
// The parts of the port.toml reader, one for each kind of table. Internal to this room.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "port/fields.hpp"
#include "port/port.hpp"

namespace ww::port {

struct Reading {
    Port& port;
    Diagnostics& out;
    bool check_files = false;
    std::vector<std::string> broken{};  // tensors whose role is unknown: no follow-up errors
};

// A name for axes, scalars, tensors, stages, ...: letters, digits and _, not first a digit.
bool check_name(const Node::Field& field, std::string_view what, Diagnostics& out);

// [axes], [scalars], [tensors]
void read_axes(const Node& table, Reading& reading);
void read_types(const Node& table, Reading& reading);
void read_scalars(const Node& table, Reading& reading);
void read_tensors(const Node& table, Reading& reading);
Tolerance read_tolerance(const Node& table, const std::string& what, Reading& reading);
Distribution read_distribution(const Node& table, const std::string& what, Reading& reading);
// Whether it is a list of tables; told otherwise.
bool is_list_of_tables(const Node& list, std::string_view key, Diagnostics& out);
// Makes a path of the file absolute (beside the port.toml) and checks that it is there (must_exist).
std::filesystem::path read_path(const Node& text, const std::string& what, Reading& reading, bool must_exist = true);

// [[stage]], [[case]]
void read_stages(const Node& list, Reading& reading);
void read_cases(const Node& list, Reading& reading);

// Keys argv and timeout_s.
ProcessImpl read_process(Fields& fields);

// [implementations]
void read_implementations(const Node& table, Reading& reading);

// [bench], [[peer]]: after the rest, whose names they use
void read_bench(const Node& table, Reading& reading);
void read_peers(const Node& list, Reading& reading);

// What only the whole port can tell: references between its parts, then sizes in every case.
void check_references(Reading& reading);
void check_cases(Reading& reading);

}  // namespace ww::port
