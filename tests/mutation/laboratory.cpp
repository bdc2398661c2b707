// SPDX-License-Identifier: Apache-2.0
#include "laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/files.hpp"
#include "base/text.hpp"
#include "bits.hpp"
#include "ptx_edits.hpp"
#include "references.hpp"
#include "stores.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::mutation {
namespace fs = std::filesystem;
namespace {

using ladder::Failure;
using ladder::FailureKind;

constexpr std::string_view kPort = "softmax/port.toml";

// Without the cases whose data is a file: what is left takes a fraction of a second.
std::string without_file_cases(const std::string& port) {
    const std::string mark = "[[case]]";
    std::string out = port.substr(0, port.find(mark));
    for (size_t at = port.find(mark); at != std::string::npos;) {
        const size_t next = port.find(mark, at + 1);
        const std::string part = port.substr(at, next - at);
        if (part.find("distribution = \"file\"") == std::string::npos) out += part;
        at = next;
    }
    return out;
}

void add_lines(const device::WriteRecord& record, Lines& to) {
    const auto add = [&](const std::string& file, int line) {
        if (line > 0) to.emplace(fs::path(file).filename().string(), line);
    };
    add(record.source_file, record.source_line);
    for (const device::SourceLine& each : record.call_sites) add(each.file, each.line);
    for (const device::WriteRecord::Definition& operand : record.operands)
        for (const device::SourceLine& each : operand.source) add(each.file, each.line);
}

// The source lines that a report names: of the tap's writer where a tap is named, else of the
// output's; the stores that may have missed an element; warnings; lines that left no code, unless
// those are not wanted; of a launch that stopped, those in its message.
Lines lines_named(const Failure& failure, bool without_code = true) {
    Lines out;
    if (failure.tap_written_by) add_lines(*failure.tap_written_by, out);
    else if (failure.written_by) add_lines(*failure.written_by, out);
    for (const Failure::OtherWriter& each : failure.other_writers) add_lines(each.written_by, out);
    for (const device::WriteRecord::Definition& each : failure.stores)
        for (const device::SourceLine& line : each.source)
            out.emplace(fs::path(line.file).filename().string(), line.line);
    for (const ladder::LineRange& each : failure.without_code)
        for (int line = each.first; without_code && line <= each.last; ++line)
            out.emplace(fs::path(each.file).filename().string(), line);
    for (const Diagnostic& each : failure.diagnostics) {
        const fs::path file = each.file;  // a place in the PTX has another name: "a.cu (PTX)"
        const bool is_source = file.extension() == ".cu" || file.extension() == ".cuh";
        if (is_source && each.line > 0) out.emplace(file.filename().string(), each.line);
    }
    const std::regex place("([\\w.]+\\.cuh?):(\\d+)");
    for (const Diagnostic& each : failure.diagnostics)
        for (std::sregex_iterator at(each.message.begin(), each.message.end(), place), end; at != end; ++at)
            out.emplace((*at)[1].str(), std::stoi((*at)[2].str()));
    return out;
}

bool is_tap(const port::Stage& stage, const std::string& tensor) {
    return std::find(stage.taps.begin(), stage.taps.end(), tensor) != stage.taps.end();
}

}  // namespace

struct Laboratory::State {
    fs::path folder;  // a copy of kernels/ with one mutant at a time
    std::map<std::string, std::string> texts;
    std::map<std::string, std::string> compiled;  // by candidate and taps
    std::map<std::string, std::map<std::string, Stores>> stores;  // by candidate, tensor
    std::unique_ptr<Bench> clean;
    std::map<std::string, Bits> clean_bits;  // by candidate and case

    Status load(const fs::path& kernels);
    Status compile(const Candidate& candidate, bool taps);
    Status find_stores(const Candidate& candidate);
    Status run_clean(const Candidate& candidate, const port::Case& c);
    Status write(const Mutant& mutant, bool undo) const;
    Result<ladder::CheckReport> check(const Mutant& mutant) const;
    Status find_truth(const Mutant& mutant, const ladder::Rung* failed, Outcome& outcome);
    void judge(const Mutant& mutant, const ladder::Rung& failed, const Bits& clean,
               const Bits& mutated, const std::vector<std::string>& wrong, Outcome& outcome) const;
    void classify(const Mutant& mutant, const std::vector<std::string>& wrong, Outcome& outcome) const;
    bool is_right_element(const Failure& failure, const Bits& clean, const Bits& mutated) const;
};

Laboratory::Laboratory() : state_(std::make_unique<State>()) {}
Laboratory::~Laboratory() = default;

Status Laboratory::State::load(const fs::path& kernels) {
    std::error_code code;
    for (const char* part : {"softmax", "common"}) {
        fs::create_directories(folder / part, code);
        for (const fs::directory_entry& entry : fs::directory_iterator(kernels / part, code)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".cu" && extension != ".cuh" && extension != ".toml") continue;
            const std::string name = std::string(part) + "/" + entry.path().filename().string();
            WW_TRY(text, read_file(entry.path()));
            texts[name] = name == kPort ? without_file_cases(text) : text;
            WW_TRY(written, write_file(folder / name, texts[name]));
            (void)written;
        }
    }
    if (!texts.count(std::string(kPort))) return fail("no softmax/port.toml below " + kernels.string());
    return ok();
}

Status Laboratory::State::compile(const Candidate& candidate, bool taps) {
    toolchain::CompileRequest request;
    request.source = texts.at(std::string(candidate.source));
    request.name = (folder / candidate.source).string();
    request.options = {"--fmad=false"};
    if (taps) request.defines = {{"WW_TAPS", "1"}};
    WW_TRY(made, toolchain::compile_ptx(request));
    compiled[std::string(candidate.name) + (taps ? "/taps" : "")] = made.ptx;
    return ok();
}

Status Laboratory::State::find_stores(const Candidate& candidate) {
    WW_TRY(module, ptx::parse(compiled.at(std::string(candidate.name) + "/taps"), "taps"));
    const port::Implementation* implementation = clean->port().implementation(candidate.name);
    if (!implementation) return fail("no implementation " + std::string(candidate.name));
    const auto& kernel =
        std::get<port::KernelImpl>(implementation->stages.at(clean->stage().name).value);
    auto& found = stores[std::string(candidate.name)];
    found = stores_of(module, candidate.entry, kernel);
    for (const auto* names : {&clean->stage().taps, &clean->stage().outputs})
        for (const std::string& name : *names)
            if (!found.count(name)) return fail("no store of " + name + " was found");
    return ok();
}

Result<std::unique_ptr<Laboratory>> Laboratory::open(const fs::path& kernels, const fs::path& folder) {
    std::unique_ptr<Laboratory> out(new Laboratory);
    State& state = *out->state_;
    state.folder = folder / "kernels";
    WW_TRY(loaded, state.load(kernels));
    WW_TRY(clean, Bench::open(state.folder / "softmax"));
    (void)loaded;
    state.clean = std::move(clean);
    for (const Candidate& candidate : kCandidates) {
        for (const bool taps : {false, true}) {
            WW_TRY(compiled, state.compile(candidate, taps));
            (void)compiled;
        }
        WW_TRY(found, state.find_stores(candidate));
        (void)found;
        // Now, while the files are unmutated: a kernel is compiled when it first runs.
        for (const port::Case& c : state.clean->port().cases) {
            WW_TRY(bits, state.run_clean(candidate, c));
            (void)bits;
        }
    }
    return out;
}

const std::string& Laboratory::text(const std::string& file) const { return state_->texts.at(file); }

const std::string& Laboratory::ptx(const Candidate& candidate, bool taps) const {
    return state_->compiled.at(std::string(candidate.name) + (taps ? "/taps" : ""));
}

const std::map<std::string, Stores>& Laboratory::stores(const Candidate& candidate) const {
    return state_->stores.at(std::string(candidate.name));
}

std::string Laboratory::port_for_ptx(const Candidate& candidate) const {
    std::string out = text(std::string(kPort));
    const std::string name = fs::path(candidate.source).filename().string();
    const size_t begin = out.find("[implementations." + std::string(candidate.name) + ".softmax]");
    const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = out.find(from, begin);
        WW_CHECK(begin != std::string::npos && at != std::string::npos, from);
        out.replace(at, from.size(), to);
    };
    replace("source = \"" + name + "\"", "source = \"mutant.ptx\"");
    replace("options = [\"--fmad=false\"]\n", "");
    replace("define = \"WW_TAPS\"", "source = \"mutant_taps.ptx\"");
    return out;
}

Status Laboratory::State::run_clean(const Candidate& candidate, const port::Case& c) {
    const std::string key = std::string(candidate.name) + "/" + c.id;
    WW_TRY(bits, clean->run(candidate, c));
    if (bits.stops()) return fail(key + ": the unmutated kernel stops");
    clean_bits.emplace(key, std::move(bits));
    return ok();
}

Status Laboratory::State::write(const Mutant& mutant, bool undo) const {
    for (const auto& [name, text] : mutant.files) {
        const auto original = texts.find(name);
        if (undo && original == texts.end()) continue;
        WW_TRY(written, write_file(folder / name, undo ? original->second : text));
        (void)written;
    }
    return ok();
}

Result<ladder::CheckReport> Laboratory::State::check(const Mutant& mutant) const {
    ladder::CheckOptions options;
    options.port = folder / "softmax";
    options.implementation = mutant.candidate->name;
    options.libraries = kernels::references();
    options.open_device = [](const std::string&, uint32_t) -> Result<std::unique_ptr<device::Device>> {
        return open_bounded_device();
    };
    return ladder::check(options);
}

// Looks for a case in which a bit differs, first in the one that check failed in; judges there.
Status Laboratory::State::find_truth(const Mutant& mutant, const ladder::Rung* failed,
                                     Outcome& outcome) {
    WW_TRY(bench, Bench::open(folder / "softmax"));
    std::vector<const port::Case*> cases;
    const std::string& failed_case = failed ? failed->failure->case_id : std::string();
    for (const port::Case& c : clean->port().cases)
        cases.insert(c.id == failed_case ? cases.begin() : cases.end(), &c);
    for (const port::Case* c : cases) {
        const Bits& before = clean_bits.at(std::string(mutant.candidate->name) + "/" + c->id);
        WW_TRY(after, bench->run(*mutant.candidate, *c));
        const std::vector<std::string> wrong = differing(clean->stage(), before, after);
        if (wrong.empty()) continue;
        outcome.changes = true;
        outcome.truth = c->id + ": " + join(wrong, " ");
        classify(mutant, wrong, outcome);
        if (failed && c->id == failed_case) judge(mutant, *failed, before, after, wrong, outcome);
        return ok();
    }
    return ok();
}

void Laboratory::State::classify(const Mutant& mutant, const std::vector<std::string>& wrong,
                                 Outcome& outcome) const {
    const port::Stage& stage = clean->stage();
    if (mutant.in_condition) return;  // decides what runs; no operand of a store is defined there
    // Of the first wrong tap, or of all wrong outputs; of any tensor where the launch stops.
    std::vector<std::string> tensors;
    if (wrong.front() == "stop") {
        tensors = stage.taps;
        tensors.insert(tensors.end(), stage.outputs.begin(), stage.outputs.end());
    } else if (is_tap(stage, wrong.front())) {
        tensors = {wrong.front()};
    } else {
        tensors = wrong;
    }
    for (const std::string& tensor : tensors) {
        const Stores& stores_here = stores.at(std::string(mutant.candidate->name)).at(tensor);
        outcome.is_store |= mutant.in_ptx ? stores_here.keys.count(mutant.site) > 0
                                          : stores_here.lines.count({mutant.file, mutant.line}) > 0;
    }
}

bool Laboratory::State::is_right_element(const Failure& failure, const Bits& clean_,
                                         const Bits& mutated) const {
    bool any = false, all = true;
    const auto look = [&](const std::optional<ladder::Element>& element, const std::string& tensor) {
        if (!element) return;
        any = true;
        all &= really_wrong(tensor, *element, clean_, mutated);
    };
    look(failure.first, failure.output);
    look(failure.worst, failure.output);
    look(failure.tap_first, failure.tap);
    return any && all;
}

void Laboratory::State::judge(const Mutant& mutant, const ladder::Rung& failed, const Bits& clean_,
                              const Bits& mutated, const std::vector<std::string>& wrong,
                              Outcome& outcome) const {
    const Failure& failure = *failed.failure;
    const port::Stage& stage = clean->stage();
    const bool right_stage = failure.stage == stage.name;
    const Lines lines = lines_named(failure);
    outcome.lines_named = lines.size();
    outcome.right_line = lines.count({mutant.file, mutant.line}) > 0;
    outcome.right_line_with_code = lines_named(failure, false).count({mutant.file, mutant.line}) > 0;
    switch (failure.kind) {
        case FailureKind::stopped: {
            // No tensor came out. Right: the same launch stops here, too, and the report
            // names source lines: where the thread was, or each warp where none can go on.
            outcome.stops = true;
            outcome.right_place = right_stage && mutated.stops();
            outcome.right_element = outcome.right_place && !lines.empty();
            return;
        }
        case FailureKind::out_of_bounds:
        case FailureKind::input_modified: {
            bool same_kind = false;
            for (const ladder::RunResult* run : {&mutated.plain, &mutated.again, &mutated.tapped})
                same_kind |= run->failure && run->failure->kind == failure.kind;
            outcome.stops = true;
            outcome.right_place = right_stage && same_kind;
            outcome.right_element = outcome.right_place && failure.written_by.has_value();
            return;
        }
        default: break;
    }
    const auto first = std::find_if(wrong.begin(), wrong.end(),
                                    [](const std::string& name) { return name != "stop"; });
    const std::string truth = first == wrong.end() ? "" : *first;
    outcome.right_place = right_stage && !truth.empty() &&
                          (is_tap(stage, truth) ? failure.tap == truth : failure.tap.empty());
    outcome.right_element = outcome.right_place && is_right_element(failure, clean_, mutated);
}

Result<Outcome> Laboratory::examine(const Mutant& mutant) {
    State& state = *state_;
    WW_TRY(written, state.write(mutant, false));
    (void)written;
    Outcome outcome;
    const auto look = [&]() -> Status {
        WW_TRY(report, state.check(mutant));
        const ladder::Rung* failed =
            report.pass || report.rungs.empty() ? nullptr : &report.rungs.back();
        if (!report.pass && (!failed || !failed->failure)) return fail("check: " + report.reason);
        if (failed) {
            const Failure& failure = *failed->failure;
            outcome.said = fmt::format("{}: {} {}{}: {}", failed->name, name(failure.kind),
                                       failure.tap.empty() ? "" : "tap " + failure.tap + " ",
                                       failure.output, failure.message.substr(0, failure.message.find('\n')));
            outcome.report = ladder::failure_text(*failed);
            outcome.compiles = failure.kind != FailureKind::compile;
            if (failure.kind == FailureKind::reference) return fail("the reference fails");
        }
        if (!outcome.compiles) return ok();
        outcome.detected = failed != nullptr;
        return state.find_truth(mutant, failed, outcome);
    };
    const Status looked = look();
    WW_TRY(restored, state.write(mutant, true));
    (void)restored;
    if (!looked) return looked.failure();
    if (outcome.detected && !outcome.changes)
        return fail("check fails where no bit differs: " + outcome.said);
    return outcome;
}

}  // namespace ww::mutation
