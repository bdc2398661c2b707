// SPDX-License-Identifier: Apache-2.0
#include "journal/log_file.hpp"

#include <algorithm>
#include <array>

namespace ww::journal {
namespace {

constexpr std::array<records::FieldRule, 18> kFields{{{"started", true},
                                                      {"idea", true},
                                                      {"predict", true},
                                                      {"kernels", false},
                                                      {"commit_was", true},
                                                      {"tools_were", false},
                                                      {"before", true, true},
                                                      {"finished", false},
                                                      {"commit", false},
                                                      {"tools", false},
                                                      {"after", false, true},
                                                      {"measured", false, true},
                                                      {"check", false},
                                                      {"device", false},
                                                      {"bench", false},
                                                      {"verdict", false},
                                                      {"because", false},
                                                      {"note", false, true}}};
constexpr records::Schema kSchema{
    .what = "log entry",
    .title = "# Optimisation log: warpwright log start, finish, show, render. Lines are KEY FIELD VALUE; the numbers are measured.",
    .fields = kFields};

Result<std::vector<Measured>> measured_of(const records::File& file, const records::Record& record, std::string_view name) {
    std::vector<Measured> out;
    for (const records::Field& field : record.fields) {
        if (field.name != name) continue;
        auto one = parse_measured(field.value);
        if (!one)
            return fail(Diagnostic{.file = file.shown_path(), .line = field.line, .message = one.error().front().message});
        out.push_back(std::move(*one));
    }
    return out;
}

}  // namespace

const records::Schema& log_schema() { return kSchema; }

std::filesystem::path log_file(const std::filesystem::path& port) { return port / "log.txt"; }

Result<Log> log_of(const records::File& file) {
    Log out;
    for (const records::Record& record : file.records()) {
        Entry entry{.key = record.key, .idea = record.get("idea"), .predict = record.get("predict"),
                    .kernels = record.get("kernels"), .started = record.get("started"),
                    .commit_before = record.get("commit_was"), .toolchain_before = record.get("tools_were"),
                    .finished = record.get("finished"), .commit = record.get("commit"), .toolchain = record.get("tools"),
                    .check = record.get("check"), .device = record.get("device"), .bench = record.get("bench"),
                    .verdict = record.get("verdict"), .because = record.get("because")};
        const auto predictions = parse_predictions(entry.predict);
        if (!predictions) return file.error(record, "predict", predictions.error().front().message);
        if (entry.open() != entry.verdict.empty())
            return file.error(record, entry.open() ? "verdict" : "finished", "log entry '" + record.key + "' has only one of the lines finished and verdict");
        if (!entry.open() && entry.verdict != "kept" && entry.verdict != "reverted")
            return file.error(record, "verdict", "the verdict is kept or reverted");
        WW_TRY(before, measured_of(file, record, "before"));
        WW_TRY(after, measured_of(file, record, "after"));
        entry.before = std::move(before);
        entry.after = std::move(after);
        entry.measured = record.all("measured");
        out.entries.push_back(std::move(entry));
    }
    std::stable_sort(out.entries.begin(), out.entries.end(),
                     [](const Entry& a, const Entry& b) { return a.started < b.started; });
    return out;
}

records::Record start_record(const Entry& entry) {
    records::Record out{entry.key, 0, {}};
    out.add("started", entry.started);
    out.add("idea", entry.idea);
    out.add("predict", entry.predict);
    if (!entry.kernels.empty()) out.add("kernels", entry.kernels);
    out.add("commit_was", entry.commit_before);
    out.add("tools_were", entry.toolchain_before);
    for (const Measured& each : entry.before) out.add("before", measured_text(each));
    return out;
}

records::Record finish_record(const Entry& entry) {
    records::Record out{entry.key, 0, {}};
    out.add("finished", entry.finished);
    out.add("commit", entry.commit);
    out.add("tools", entry.toolchain);
    for (const Measured& each : entry.after) out.add("after", measured_text(each));
    for (const std::string& each : entry.measured) out.add("measured", each);
    out.add("check", entry.check);
    out.add("device", entry.device);
    out.add("bench", entry.bench);
    out.add("verdict", entry.verdict);
    if (!entry.because.empty()) out.add("because", entry.because);
    return out;
}

}  // namespace ww::journal
