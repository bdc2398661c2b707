// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/protocol.hpp"

namespace ww::bench {
namespace {

using nlohmann::json;

constexpr int kProtocol = 1;
constexpr size_t kShown = 80;

std::string line_of(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string hello_line() { return line_of({{"do", "hello"}, {"protocol", kProtocol}}); }

std::string open_line(const OpenRequest& request) {
    json values = json::object();
    for (const auto& [name, value] : request.scope->integers) values[name] = value;
    for (const auto& [name, value] : request.scope->reals) values[name] = value;
    return line_of({{"do", "open"},
                    {"case", request.case_id},
                    {"inputs", request.inputs.string()},
                    {"values", values},
                    {"output", request.output},
                    {"sets", request.sets}});
}

std::string time_line(uint32_t launches, uint32_t untimed) {
    return line_of({{"do", "time"}, {"launches", launches}, {"untimed", untimed}});
}

std::string output_line(const std::filesystem::path& file) { return line_of({{"do", "output"}, {"file", file.string()}}); }

std::string close_line() { return line_of({{"do", "close"}}); }

Result<Answer> read_answer(std::string_view line) {
    const auto refuse = [&] {
        return fail(fmt::format("it answered '{}'{}, which is no answer of the protocol", line.substr(0, kShown),
                                line.size() > kShown ? "..." : ""));
    };
    const json answer = json::parse(line, nullptr, false);
    if (!answer.is_object()) return refuse();
    const auto text = [&](const char* key) -> const std::string* {
        const auto found = answer.find(key);
        return found == answer.end() ? nullptr : found->get_ptr<const std::string*>();
    };
    if (const std::string* why = text("unavailable")) return Answer{Answer::Kind::unavailable, *why, {}};
    if (const std::string* why = text("error")) return Answer{Answer::Kind::error, *why, {}};
    const auto good = answer.find("ok");
    if (good == answer.end() || *good != true) return refuse();
    Answer out;
    if (const std::string* about = text("about")) out.text = *about;
    if (const auto seconds = answer.find("seconds"); seconds != answer.end()) {
        if (!seconds->is_array()) return refuse();
        for (const json& each : *seconds) {
            if (!each.is_number()) return refuse();
            out.seconds.push_back(each.get<double>());
        }
    }
    return out;
}

}  // namespace ww::bench
