// SPDX-License-Identifier: Apache-2.0
#include "journal/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "base/text.hpp"
#include "journal/log_file.hpp"
#include "records/section.hpp"

namespace ww::journal {
namespace {

namespace fs = std::filesystem;

constexpr records::Section kSection{
    .name = "log", .heading = "## Optimisation log", .by = "warpwright log render"};

// Drawn, so that two branches do not take the same; not one of this log.
std::string new_key(const records::File& file) {
    std::random_device source;
    std::string key;
    do key = fmt::format("{:08x}", static_cast<uint32_t>(source()));
    while (file.find(key));
    return key;
}

Result<Entry> open_entry(const Log& log, const std::string& key) {
    std::vector<std::string> open;
    for (const Entry& entry : log.entries) {
        if (!key.empty() && entry.key == key) {
            if (entry.open()) return entry;
            return fail(fmt::format("entry {} was finished on {}: {}", key, entry.finished, entry.verdict));
        }
        if (entry.open()) open.push_back(fmt::format("{} ({})", entry.key, entry.idea));
    }
    if (!key.empty()) return fail(fmt::format("the log has no entry '{}'; open ones: {}", key, open.empty() ? "none" : join(open, ", ")));
    if (open.empty()) return fail("no entry is open: warpwright log start \"hypothesis\" --predict \"...\" before the change");
    if (open.size() > 1) return fail("several entries are open, choose one with --entry KEY: " + join(open, ", "));
    return open_entry(log, open[0].substr(0, open[0].find(' ')));
}

// Which kernel of now is which of before: of the same name, or the only one on both sides.
Result<std::vector<std::pair<const Measured*, const Measured*>>> pairs_of(const Entry& entry) {
    std::vector<std::pair<const Measured*, const Measured*>> out;
    for (const Measured& after : entry.after)
        for (const Measured& before : entry.before)
            if (before.kernel == after.kernel) out.emplace_back(&before, &after);
    if (out.empty() && entry.before.size() == 1 && entry.after.size() == 1) out.emplace_back(&entry.before[0], &entry.after[0]);
    if (!out.empty()) return out;
    std::vector<std::string> before, after;
    for (const Measured& each : entry.before) before.push_back(each.kernel);
    for (const Measured& each : entry.after) after.push_back(each.kernel);
    return fail(fmt::format("no kernel has the name that one had before: {} became {}; name one on each side with --kernels",
                            join(before, ", "), join(after, ", ")));
}

Result<std::vector<Judged>> judge_all(const Entry& entry) {
    WW_TRY(predictions, parse_predictions(entry.predict));
    WW_TRY(pairs, pairs_of(entry));
    std::vector<Judged> out;
    for (const Prediction& prediction : predictions)
        for (const auto& [before, after] : pairs) out.push_back(judge(prediction, after->kernel, before->metrics, after->metrics));
    return out;
}

std::string judged_line(const Judged& judged, const std::string& bench, bool one_kernel) {
    std::string out = judged.text();
    if (!judged.measured && judged.prediction.metric == "time_us") out += ": " + bench;
    if (!one_kernel) out += " of " + judged.kernel;
    return out;
}

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string table_row(const Entry& entry) {
    std::string verdict = entry.open() ? "open" : entry.verdict == "kept" ? "yes" : "reverted";
    if (!entry.because.empty()) verdict += ": " + entry.because;
    const std::string device = entry.open() ? "" : fmt::format("{}; {}; bench: {}; commit {}", entry.check, entry.device, entry.bench, entry.commit);
    return fmt::format("| {} | {} | {} | {} | {} |\n", cell(entry.idea), cell(entry.predict), cell(join(entry.measured, "; ")),
                       cell(device), cell(verdict));
}

}  // namespace

Result<Log> load_log(const fs::path& port) {
    WW_TRY(file, records::File::read(log_file(port), log_schema()));
    return log_of(file);
}

Result<Entry> start(const StartRequest& request) {
    Entry out;
    out.idea = records::one_line(request.idea);
    out.predict = records::one_line(request.predict);
    out.kernels = request.kernels;
    if (out.idea.empty()) return fail("say what the idea is");
    WW_TRY(predictions, parse_predictions(out.predict));
    (void)predictions;
    WW_TRY(log, load_log(request.port));
    (void)log;
    WW_TRY(now, measure(request.port, request.kernels, request.plans));
    out.before = now.kernels;
    out.commit_before = now.commit;
    out.toolchain_before = now.toolchain;
    out.started = records::now();
    WW_TRY(merged, records::merge_by_union(request.port, "log.txt"));
    (void)merged;
    WW_TRY(updated, records::update(log_file(request.port), log_schema(), [&](records::File& file) -> Status {
               out.key = new_key(file);
               file.append(start_record(out));
               return ok();
           }));
    (void)updated;
    return out;
}

Result<Finished> finish(const FinishRequest& request) {
    WW_TRY(log, load_log(request.port));
    WW_TRY(entry, open_entry(log, request.entry));
    Finished out;
    out.entry = entry;
    Entry& made = out.entry;
    WW_TRY(now, measure(request.port, request.kernels.empty() ? entry.kernels : request.kernels, request.plans));
    made.after = now.kernels;
    made.commit = now.commit;
    made.toolchain = now.toolchain;
    made.bench = now.bench;
    made.because = records::one_line(request.because);
    made.verdict = request.kept ? "kept" : "reverted";
    WW_TRY(judged, judge_all(made));
    out.judged = judged;
    const bool one_kernel = made.after.size() == 1;
    std::vector<std::string> missed;
    for (const Judged& each : out.judged) {
        made.measured.push_back(judged_line(each, made.bench, one_kernel));
        if (each.missed) missed.push_back(fmt::format("predicted {}, measured {}", each.prediction.text, made.measured.back()));
    }
    if (!missed.empty() && made.because.empty()) {
        out.refused = fmt::format("missed by more than half: {}; say why with --because \"...\"", join(missed, "; "));
        return out;
    }
    WW_TRY(verdict, check_port(request.port, request.on_cuda, request.libraries, request.plans));
    made.check = verdict.text;
    made.device = verdict.device;
    if (request.kept && !verdict.pass) {
        out.check_failed = true;
        out.refused = "the check does not pass, so this cannot be kept: " + verdict.text;
        return out;
    }
    made.finished = records::now();
    WW_TRY(updated, records::update(log_file(request.port), log_schema(), [&](records::File& file) -> Status {
               WW_TRY(current, log_of(file));
               WW_TRY(still_open, open_entry(current, made.key));
               (void)still_open;
               file.append(finish_record(made));
               return ok();
           }));
    (void)updated;
    return out;
}

Result<size_t> render_log(const fs::path& port) {
    WW_TRY(log, load_log(port));
    std::string text = "| idea | predicted | measured | where | kept |\n|---|---|---|---|---|\n";
    for (const Entry& entry : log.entries) text += table_row(entry);
    std::error_code code;
    const std::string title = "# " + fs::canonical(port, code).filename().string() + "\n";
    WW_TRY(updated, records::update_section(port / "README.md", title, kSection,
                                            [&](const records::Found&) -> Result<std::string> { return text; }));
    (void)updated;
    return log.entries.size();
}

std::string to_text(const Entry& entry) {
    std::string out = fmt::format("{} {}: {}\n    predicted {}\n", entry.key, entry.started, entry.idea, entry.predict);
    for (const Measured& each : entry.before) out += fmt::format("    before    {}\n", measured_text(each));
    if (entry.open()) return out + fmt::format("    open      at commit {}\n", entry.commit_before);
    for (const Measured& each : entry.after) out += fmt::format("    after     {}\n", measured_text(each));
    for (const std::string& each : entry.measured) out += fmt::format("    measured  {}\n", each);
    out += fmt::format("    check     {} on {}\n    bench     {}\n    {:<9} {} at commit {}\n", entry.check, entry.device, entry.bench,
                       entry.verdict, entry.finished, entry.commit);
    if (!entry.because.empty()) out += fmt::format("    because   {}\n", entry.because);
    return out;
}

std::string to_text(const Log& log) {
    std::string out;
    for (const Entry& entry : log.entries) out += to_text(entry);
    size_t open = 0, kept = 0;
    for (const Entry& entry : log.entries) open += entry.open(), kept += entry.verdict == "kept";
    return out + fmt::format("{} entries: {} kept, {} reverted, {} open\n", log.entries.size(), kept, log.entries.size() - kept - open, open);
}

}  // namespace ww::journal
