// SPDX-License-Identifier: Apache-2.0
// Shown as columns on a terminal, and as JSON.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "inspect/show.hpp"

namespace ww::inspect {
namespace {

constexpr size_t kSassColumns = 58;  // of the instruction, before the PTX beside it

struct Colours {
    bool on = false;
    std::string paint(std::string_view code, std::string_view text) const {
        return on ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
    }
};

// What an eye looks for first: tensor work, then what waits for memory, then control flow.
std::string_view colour_of(sass::Class of) {
    using sass::Class;
    switch (of) {
        case Class::tensor:
        case Class::tensor_memory:
            return "1;35";
        case Class::mufu:
            return "35";
        case Class::global:
        case Class::generic:
        case Class::local:
        case Class::atomic:
            return "31";
        case Class::shared:
        case Class::matrix:
        case Class::async_copy:
        case Class::tma:
            return "33";
        case Class::barrier:
        case Class::mbarrier:
            return "1;31";
        case Class::branch:
            return "34";
        default:
            return "0";
    }
}

std::string places(const std::vector<SourceText>& source) {
    std::string out;
    for (const SourceText& each : source)
        out += fmt::format("{}{}:{}", out.empty() ? "" : " < ", std::filesystem::path(each.file).filename().string(), each.line);
    return out;
}

std::string instruction_line(const ShownInstruction& each, bool source, const Colours& colours) {
    std::string out = fmt::format("{} {:04x}  ", each.target ? ">" : " ", each.address);
    if (each.control) out += colours.paint("2", sass::text(*each.control)) + "  ";
    std::string text = each.text + " ;";
    const size_t width = text.size();
    text = colours.paint(colour_of(each.of), text);
    if (source && each.ptx_line > 0) {
        if (width < kSassColumns) text.append(kSassColumns - width, ' ');
        text += colours.paint("2", fmt::format(" | {:>4}  {}", each.ptx_line, each.ptx));
    }
    return out + text + '\n';
}

using nlohmann::json;

json control_json(const std::optional<sass::Control>& control) {
    if (!control) return nullptr;
    json wait = json::array(), reuse = json::array();
    for (int i = 0; i < 6; ++i)
        if ((control->wait >> i) & 1) wait.push_back(i);
    for (int i = 0; i < 4; ++i)
        if ((control->reuse >> i) & 1) reuse.push_back(i);
    const auto barrier = [](int number) { return number < 0 ? json(nullptr) : json(number); };
    return {{"stall", control->stall}, {"yield", control->yield}, {"wait", wait}, {"reuse", reuse},
            {"write_barrier", barrier(control->write_barrier)}, {"read_barrier", barrier(control->read_barrier)}};
}

json instruction_json(const ShownInstruction& each) {
    json source = json::array();
    for (const SourceText& line : each.source)
        source.push_back({{"file", line.file}, {"line", line.line}, {"text", line.text}});
    return {{"address", fmt::format("0x{:04x}", each.address)},
            {"text", each.text},
            {"class", name(each.of)},
            {"loop", each.loop < 0 ? json(nullptr) : json(each.loop)},
            {"branch_target", each.target},
            {"control", control_json(each.control)},
            {"ptx", each.ptx_line == 0 ? json(nullptr) : json{{"line", each.ptx_line}, {"text", each.ptx}}},
            {"source", source}};
}

}  // namespace

std::string to_text(const Shown& shown, bool source, bool colour) {
    const Colours colours{colour};
    std::string out = fmt::format("{} for {}\n{}", shown.kernel, shown.target, shown.summary);
    if (shown.scheduled >= 0)
        out += fmt::format("{} instructions, scheduled in {} cycles\n", shown.instructions.size(), shown.scheduled);
    std::string last;
    for (const ShownInstruction& each : shown.instructions) {
        const std::string place = places(each.source);
        if (source && !place.empty() && place != last)
            out += colours.paint("32", fmt::format("{}    {}", place, each.source.front().text)) + '\n';
        if (!place.empty()) last = place;
        out += instruction_line(each, source, colours);
    }
    return out;
}

std::string to_json(const Shown& shown) {
    json instructions = json::array();
    for (const ShownInstruction& each : shown.instructions) instructions.push_back(instruction_json(each));
    return json{{"kernel", shown.kernel},
                {"target", shown.target},
                {"loop", shown.loop ? json(*shown.loop) : json(nullptr)},
                {"scheduled_cycles", shown.scheduled < 0 ? json(nullptr) : json(shown.scheduled)},
                {"instructions", instructions}}
        .dump(1);
}

}  // namespace ww::inspect
