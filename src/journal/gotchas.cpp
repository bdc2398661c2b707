// SPDX-License-Identifier: Apache-2.0
#include "journal/gotchas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "records/records.hpp"
#include "records/section.hpp"
#include "toolchain/found.hpp"

namespace ww::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::array<records::FieldRule, 7> kFields{{{"says", true},
                                                     {"file", true},
                                                     {"printed", false, true},
                                                     {"target", true},
                                                     {"device", false},
                                                     {"toolchain", false},
                                                     {"date", true}}};
constexpr records::Schema kSchema{
    .what = "gotcha",
    .title = "# Gotchas that probes prove: warpwright probe keep, check, render. Lines are NAME FIELD VALUE.",
    .fields = kFields};
constexpr records::Section kSection{
    .name = "gotchas", .heading = "## Gotchas", .by = "warpwright probe render"};

fs::path folder_of(const fs::path& port) { return port / "probes"; }
fs::path file_of(const fs::path& port) { return folder_of(port) / "gotchas.txt"; }

// As it is read back: lines without blanks at their ends.
std::string printed_lines(const std::string& printed) {
    records::Record lines;
    lines.add_lines("printed", printed);
    std::string out;
    for (const records::Field& field : lines.fields) out += field.value + "\n";
    return printed.empty() ? "" : out;
}

Gotcha gotcha_of(const records::Record& record) {
    Gotcha out{.name = record.key, .says = record.get("says"), .file = record.get("file"), .target = record.get("target"),
               .device = record.get("device"), .toolchain = record.get("toolchain"), .date = record.get("date")};
    for (const std::string& line : record.all("printed")) out.printed += line + "\n";
    return out;
}

records::Record record_of(const Gotcha& gotcha) {
    records::Record out{gotcha.name, 0, {}};
    out.add("says", gotcha.says);
    out.add("file", gotcha.file);
    out.add("target", gotcha.target);
    if (!gotcha.printed.empty()) out.add_lines("printed", gotcha.printed);
    out.add("device", gotcha.device);
    out.add("toolchain", gotcha.toolchain);
    out.add("date", gotcha.date);
    return out;
}

// The probe's file in <port>/probes; one from elsewhere is copied there, but never over another.
Result<fs::path> probe_file(const KeepRequest& request) {
    const fs::path folder = folder_of(request.port);
    std::error_code code;
    if (request.file.empty()) {
        for (const char* extension : {".cu", ".ptx"})
            if (fs::exists(folder / (request.name + extension), code)) return folder / (request.name + extension);
        return fail(fmt::format("there is no {} or .ptx: write it, or name one with --file", (folder / (request.name + ".cu")).string()));
    }
    if (!fs::exists(request.file, code)) return fail(fmt::format("{}: there is no such file", request.file.string()));
    const fs::path target = folder / (request.name + request.file.extension().string());
    if (fs::exists(target, code) && fs::equivalent(request.file, target, code)) return target;
    if (fs::weakly_canonical(request.file.parent_path(), code) == fs::weakly_canonical(folder, code)) return request.file;
    WW_TRY(text, read_file(request.file));
    if (fs::exists(target, code)) {
        WW_TRY(there, read_file(target));
        if (there != text) return fail(fmt::format("{} is another probe: choose another name", target.string()));
        return target;
    }
    fs::create_directories(folder, code);
    if (code) return fail(Diagnostic{.file = folder.string(), .message = "cannot make the folder: " + code.message()});
    WW_TRY(written, write_file(target, text));
    (void)written;
    return target;
}

// By the probe's file and target. Several gotchas may stand on one probe: it runs once, for them all.
using Outcomes = std::map<std::pair<std::string, std::string>, Result<ProbeRun>>;

Result<ProbeRun> outcome_of(const Gotcha& gotcha, const GotchaCheck& request) {
    WW_TRY(probe, read_probe(folder_of(request.port) / gotcha.file));
    return run_probe(probe, {.target = gotcha.target, .on_cuda = request.on_cuda});
}

CheckedGotcha check_one(const Gotcha& gotcha, const GotchaCheck& request, Outcomes& outcomes) {
    CheckedGotcha out{gotcha, GotchaStatus::fails, "", "", false};
    auto known = outcomes.find({gotcha.file, gotcha.target});
    if (known == outcomes.end())
        known = outcomes.emplace(std::pair(gotcha.file, gotcha.target), outcome_of(gotcha, request)).first;
    const Result<ProbeRun>& run = known->second;
    if (!run) {
        out.reason = std::string(trim(format(run.error())));
        return out;
    }
    if (!run->skipped.empty()) {
        out.status = GotchaStatus::skipped;
        out.reason = run->skipped;
        out.needs_hardware = run->needs_hardware;
        return out;
    }
    out.printed = printed_lines(run->printed);
    if (out.printed == gotcha.printed) out.status = GotchaStatus::holds;
    return out;
}

std::string indented(std::string_view text, std::string_view label) {
    std::string out;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (const std::string_view line : split(text, '\n')) out += fmt::format("    {:<9} {}\n", label, line);
    return out;
}

}  // namespace

std::string_view name(GotchaStatus status) {
    switch (status) {
        case GotchaStatus::holds: return "holds";
        case GotchaStatus::fails: return "fails";
        case GotchaStatus::skipped: return "skipped";
    }
    return "fails";
}

Result<std::vector<Gotcha>> load_gotchas(const fs::path& port) {
    WW_TRY(file, records::File::read(file_of(port), kSchema));
    std::vector<Gotcha> out;
    for (const records::Record& record : file.records()) {
        if (fs::path(record.get("file")).has_parent_path())
            return file.error(record, "file", "a probe lies beside this file: give its name without a folder");
        out.push_back(gotcha_of(record));
    }
    return out;
}

Result<Gotcha> keep(const KeepRequest& request) {
    if (!records::is_key(request.name) || request.name.find('/') != std::string::npos)
        return fail(fmt::format("'{}' is no name: letters, digits, _ - . +", request.name));
    if (records::one_line(request.says).empty()) return fail("say in one sentence what it proves: --says \"...\"");
    WW_TRY(known, load_gotchas(request.port));
    (void)known;
    WW_TRY(path, probe_file(request));
    WW_TRY(probe, read_probe(path));
    WW_TRY(run, run_probe(probe, request.options));
    if (!run.skipped.empty()) return fail("it did not run, so nothing is proved: " + run.skipped);
    if (trim(run.printed).empty())
        return fail(Diagnostic{.file = path.string(), .message = "it printed nothing, so nothing can be compared: use printf, or "
                                                                 "a '// probe: out NAME TYPE COUNT' line"});
    Gotcha out{.name = request.name, .says = records::one_line(request.says), .file = path.filename().string(),
               .printed = printed_lines(run.printed),
               .target = request.options.target.empty() ? probe.target : request.options.target,
               .device = run.device, .toolchain = toolchain_text(), .date = records::now().substr(0, 10)};
    WW_TRY(merged, records::merge_by_union(request.port, "probes/gotchas.txt"));
    (void)merged;
    WW_TRY(updated, records::update(file_of(request.port), kSchema, [&](records::File& file) -> Status {
               file.replace(record_of(out));
               return ok();
           }));
    (void)updated;
    WW_TRY(rendered, render_gotchas(request.port));
    (void)rendered;
    return out;
}

Result<GotchaReport> check_gotchas(const GotchaCheck& request) {
    WW_TRY(all, load_gotchas(request.port));
    GotchaReport out;
    const toolchain::ToolchainStays stays;
    Outcomes outcomes;
    for (const Gotcha& gotcha : all) {
        if (!request.pattern.empty() && !glob_match(request.pattern, gotcha.name)) continue;
        CheckedGotcha checked = check_one(gotcha, request, outcomes);
        if (checked.status == GotchaStatus::fails && out.toolchain_now.empty()) out.toolchain_now = toolchain_text();
        if (request.on_gotcha) request.on_gotcha(checked);
        out.gotchas.push_back(std::move(checked));
    }
    if (out.gotchas.empty() && !request.pattern.empty()) {
        std::vector<std::string> names;
        for (const Gotcha& gotcha : all) names.push_back(gotcha.name);
        return fail(fmt::format("no gotcha of {} matches '{}'; it has: {}", request.port.string(), request.pattern, join(names, ", ")));
    }
    return out;
}

int GotchaReport::exit_code() const {
    const auto is = [](GotchaStatus status) { return [status](const CheckedGotcha& each) { return each.status == status; }; };
    if (std::any_of(gotchas.begin(), gotchas.end(), is(GotchaStatus::fails))) return 1;
    const bool no_hardware = !gotchas.empty() && std::all_of(gotchas.begin(), gotchas.end(),
                                                             [](const CheckedGotcha& each) { return each.needs_hardware; });
    return no_hardware ? 77 : 0;
}

Result<size_t> render_gotchas(const fs::path& port) {
    WW_TRY(all, load_gotchas(port));
    std::string text;
    for (const Gotcha& gotcha : all)
        text += fmt::format("- **{}**: {} ([probes/{}](probes/{}), {}, {})\n", gotcha.name, gotcha.says, gotcha.file, gotcha.file,
                            gotcha.device.empty() ? gotcha.target : gotcha.device, gotcha.date);
    std::error_code code;
    const std::string title = "# " + fs::canonical(port, code).filename().string() + "\n";
    WW_TRY(updated, records::update_section(port / "README.md", title, kSection,
                                            [&](const records::Found&) -> Result<std::string> { return text; }));
    (void)updated;
    return all.size();
}

std::string to_text(const CheckedGotcha& checked) {
    std::string out = fmt::format("{:<8} {}: {}\n", name(checked.status), checked.gotcha.name, checked.gotcha.says);
    if (!checked.reason.empty()) out += indented(checked.reason, "because");
    if (checked.status != GotchaStatus::fails) return out;
    out += indented(checked.gotcha.printed, "kept");
    if (checked.reason.empty()) out += indented(checked.printed, "now");
    return out + fmt::format("    kept on  {}: {}, {}\n", checked.gotcha.date, checked.gotcha.device, checked.gotcha.toolchain);
}

std::string to_text(const GotchaReport& report) {
    std::array<int, 3> counts{};
    for (const CheckedGotcha& each : report.gotchas) ++counts[static_cast<size_t>(each.status)];
    std::string out = fmt::format("{} gotchas: {} hold, {} fail, {} skipped\n", report.gotchas.size(), counts[0], counts[1], counts[2]);
    if (counts[1] > 0) out += fmt::format("compilers here: {}\n", report.toolchain_now);
    return out;
}

}  // namespace ww::journal
