// SPDX-License-Identifier: Apache-2.0
// Gotchas and the log as JSON; docs/probes.md and docs/log.md name the fields.
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "journal/gotchas.hpp"
#include "journal/log.hpp"

namespace ww::journal {
namespace {

using nlohmann::ordered_json;

std::string text(const ordered_json& json) { return json.dump(1, ' ', false, ordered_json::error_handler_t::replace); }

ordered_json measured_json(const std::vector<Measured>& all) {
    ordered_json out = ordered_json::array();
    for (const Measured& each : all) {
        ordered_json one{{"kernel", each.kernel}};
        for (const auto& [metric, value] : each.metrics) one[metric] = value;
        out.push_back(std::move(one));
    }
    return out;
}

ordered_json entry_json(const Entry& entry) {
    ordered_json out{{"key", entry.key}, {"idea", entry.idea}, {"predict", entry.predict}, {"started", entry.started},
                     {"commit_before", entry.commit_before}, {"before", measured_json(entry.before)}};
    out["verdict"] = entry.open() ? ordered_json(nullptr) : ordered_json(entry.verdict);
    if (entry.open()) return out;
    out["finished"] = entry.finished;
    out["commit"] = entry.commit;
    out["after"] = measured_json(entry.after);
    out["measured"] = entry.measured;
    out["check"] = entry.check;
    out["device"] = entry.device;
    out["bench"] = entry.bench;
    out["because"] = entry.because;
    return out;
}

}  // namespace

std::string to_json(const GotchaReport& report) {
    ordered_json gotchas = ordered_json::array();
    for (const CheckedGotcha& each : report.gotchas)
        gotchas.push_back({{"name", each.gotcha.name}, {"says", each.gotcha.says}, {"status", name(each.status)}});
    return text({{"gotchas", gotchas}});
}

std::string rendered_json(const std::filesystem::path& port, std::string_view what, size_t count) {
    return text({{"file", display_path(port / "README.md")}, {what, count}});
}

std::string to_json(const Gotcha& gotcha) {
    return text({{"name", gotcha.name}, {"says", gotcha.says}, {"file", gotcha.file}, {"printed", gotcha.printed},
                 {"target", gotcha.target}, {"device", gotcha.device}, {"toolchain", gotcha.toolchain}, {"date", gotcha.date}});
}

std::string to_json(const ProbeRun& run) {
    return text({{"printed", run.printed}, {"device", run.device},
                 {"skipped", run.skipped.empty() ? ordered_json(nullptr) : ordered_json(run.skipped)}});
}

std::string to_json(const Entry& entry) { return text(entry_json(entry)); }

std::string to_json(const Log& log) {
    ordered_json entries = ordered_json::array();
    for (const Entry& entry : log.entries) entries.push_back(entry_json(entry));
    return text({{"entries", entries}});
}

}  // namespace ww::journal
