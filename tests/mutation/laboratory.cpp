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

// port.toml with these cases only; no list: without those whose data is a file.
std::string with_cases(const std::string& port, const std::vector<std::string_view>& cases) {
    const std::string mark = "[[case]]";
    std::string out = port.substr(0, port.find(mark));
    for (size_t at = port.find(mark); at != std::string::npos;) {
        const size_t next = port.find(mark, at + 1);
        const std::string part = port.substr(at, next - at);
        bool wanted = cases.empty() && part.find("distribution = \"file\"") == std::string::npos;
        for (const std::string_view id : cases)
            wanted |= part.find(fmt::format("id = \"{}\"\n", id)) != std::string::npos;
        if (wanted) out += part;
        at = next;
    }
    return out;
}

bool runs_in(const Candidate& candidate, std::string_view c) {
    const auto& cases = candidate.cases;
    return cases.empty() || std::find(cases.begin(), cases.end(), c) != cases.end();
}

std::vector<std::string_view> cases_of(const Subject& subject) {
    std::vector<std::string_view> out;
    for (const Candidate& each : subject.candidates) out.insert(out.end(), each.cases.begin(), each.cases.end());
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
    const Subject* subject = nullptr;
    std::string port_file;  // "softmax/port.toml"
    fs::path folder;  // a copy of kernels/ with one mutant at a time
    std::map<std::string, std::string> texts;
    std::map<std::string, std::string> compiled;  // by candidate and taps
    std::map<std::string, port::KernelImpl> kernels;  // by candidate, of its first stage
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> defines;  // likewise
    std::map<std::string, std::map<std::string, Stores>> stores;  // by candidate, tensor
    std::unique_ptr<Bench> clean;
    std::map<std::string, ladder::CaseData> data;  // by case
    std::map<std::string, Bits> clean_bits;  // by implementation, stage and case

    Status load(const fs::path& kernels);
    Status compile(const Candidate& candidate);
    Status find_stores(const Candidate& candidate);
    void gather_stores(const Candidate& candidate);
    Status run_clean(const Candidate& candidate, const port::Case& c);
    const Bits& clean_of(const Candidate& candidate, const std::string& stage, const std::string& c) const;
    Status write(const Mutant& mutant, bool undo) const;
    void plant_ptx(const Mutant& mutant) const;
    Result<ladder::CheckReport> check(const Mutant& mutant) const;
    Status find_truth(const Mutant& mutant, const ladder::Rung* failed, Outcome& outcome);
    void judge(const Mutant& mutant, const port::Stage& stage, const ladder::Rung& failed,
               const Bits& clean, const Bits& mutated, const std::vector<std::string>& wrong,
               Outcome& outcome) const;
    void classify(const Mutant& mutant, const port::Stage& stage, const std::vector<std::string>& wrong,
                  Outcome& outcome) const;
    bool is_right_element(const Failure& failure, const Bits& clean, const Bits& mutated) const;
};

Laboratory::Laboratory() : state_(std::make_unique<State>()) {}
Laboratory::~Laboratory() = default;

const Subject& Laboratory::subject() const { return *state_->subject; }

Status Laboratory::State::load(const fs::path& kernels_folder) {
    std::error_code code;
    port_file = std::string(subject->port) + "/port.toml";
    for (const std::string& part : {std::string(subject->port), std::string("common")}) {
        fs::create_directories(folder / part, code);
        for (const fs::directory_entry& entry : fs::directory_iterator(kernels_folder / part, code)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".cu" && extension != ".cuh" && extension != ".toml") continue;
            const std::string name = part + "/" + entry.path().filename().string();
            WW_TRY(text, read_file(entry.path()));
            texts[name] = name == port_file ? with_cases(text, cases_of(*subject)) : text;
            WW_TRY(written, write_file(folder / name, texts[name]));
            (void)written;
        }
    }
    if (!texts.count(port_file)) return fail("no " + port_file + " below " + kernels_folder.string());
    return ok();
}

// Both builds of a candidate's PTX. A kernel without taps has the same text twice.
Status Laboratory::State::compile(const Candidate& candidate) {
    const std::string name(candidate.name);
    const port::Case* c = clean->port().find_case(candidate.ptx_case);
    const port::Stage* stage = clean->port().stage(candidate.stages.front());
    WW_CHECK(c != nullptr && stage != nullptr, name);
    const port::Scope& scope = data.at(c->id).scope;
    WW_TRY(kernel, clean->kernel(candidate.implementation, *stage, scope));
    WW_TRY(made_defines, port::defines_of(kernel, scope));
    defines[name] = made_defines;
    for (const bool taps : {false, true}) {
        toolchain::CompileRequest request;
        WW_TRY(source, read_file(kernel.source));
        request.source = std::move(source);
        request.name = kernel.source.string();
        if (!clean->port().target.empty()) request.target = clean->port().target;
        request.options = kernel.options;
        request.defines = made_defines;
        if (taps) request.defines.emplace_back(kernel.tap_define, "1");
        WW_TRY(made, toolchain::compile_ptx(request));
        compiled[name + (taps ? "/taps" : "")] = made.ptx;
    }
    kernels[name] = std::move(kernel);
    return ok();
}

Status Laboratory::State::find_stores(const Candidate& candidate) {
    const std::string name(candidate.name);
    WW_TRY(module, ptx::parse(compiled.at(name + "/taps"), "taps"));
    const port::Scope& scope = data.at(std::string(candidate.ptx_case)).scope;
    for (const std::string_view each : candidate.stages) {
        const port::Stage& stage = *clean->port().stage(each);
        WW_TRY(kernel, clean->kernel(candidate.implementation, stage, scope));
        auto found = stores_of(module, kernel.entry, kernel);
        for (const auto* tensors : {&stage.taps, &stage.outputs})
            for (const std::string& tensor : *tensors)
                if (!found.count(tensor)) return fail("no store of " + tensor + " was found");
        stores[name].merge(found);
    }
    return ok();
}

// Of text alone: the lines of all kernels that are made from it.
void Laboratory::State::gather_stores(const Candidate& candidate) {
    auto& out = stores[std::string(candidate.name)];
    for (const Candidate& each : subject->candidates) {
        if (each.ptx_case.empty() || each.implementation != candidate.implementation) continue;
        for (const auto& [tensor, found] : stores.at(std::string(each.name)))
            out[tensor].lines.insert(found.lines.begin(), found.lines.end());
    }
}

Result<std::unique_ptr<Laboratory>> Laboratory::open(const Subject& subject, const fs::path& kernels,
                                                     const fs::path& folder) {
    std::unique_ptr<Laboratory> out(new Laboratory);
    State& state = *out->state_;
    state.subject = &subject;
    state.folder = folder / "kernels";
    WW_TRY(loaded, state.load(kernels));
    WW_TRY(clean, Bench::open(subject, state.folder / subject.port));
    (void)loaded;
    state.clean = std::move(clean);
    for (const port::Case& c : state.clean->port().cases) {
        if (c.bench) continue;
        WW_TRY(data, state.clean->data(c));
        state.data.emplace(c.id, *data);
    }
    // All now, while the files are unmutated: a kernel is compiled when it first runs.
    for (const Candidate& candidate : subject.candidates) {
        if (!candidate.ptx_case.empty()) {
            WW_TRY(compiled, state.compile(candidate));
            WW_TRY(found, state.find_stores(candidate));
            (void)compiled, (void)found;
        }
        for (const port::Case& c : state.clean->port().cases) {
            if (!runs_in(candidate, c.id)) continue;
            WW_TRY(run, state.run_clean(candidate, c));
            (void)run;
        }
    }
    for (const Candidate& candidate : subject.candidates)
        if (candidate.ptx_case.empty()) state.gather_stores(candidate);
    return out;
}

const std::string& Laboratory::text(const std::string& file) const { return state_->texts.at(file); }

const std::string& Laboratory::ptx(const Candidate& candidate, bool taps) const {
    return state_->compiled.at(std::string(candidate.name) + (taps ? "/taps" : ""));
}

const std::map<std::string, Stores>& Laboratory::stores(const Candidate& candidate) const {
    return state_->stores.at(std::string(candidate.name));
}

const std::string& Laboratory::entry(const Candidate& candidate) const {
    return state_->kernels.at(std::string(candidate.name)).entry;
}

std::string Laboratory::port_for(const Candidate& candidate) const {
    return with_cases(text(state_->port_file), candidate.cases);
}

std::string Laboratory::port_for_ptx(const Candidate& candidate) const {
    const port::KernelImpl& kernel = state_->kernels.at(std::string(candidate.name));
    std::string out = port_for(candidate);
    const size_t begin = out.find(fmt::format("[implementations.{}.{}]", candidate.implementation,
                                              candidate.stages.front()));
    const size_t end = out.find("\n[", begin);
    WW_CHECK(begin != std::string::npos, std::string(candidate.name));
    if (out.substr(begin, end - begin).find("plan = ") != std::string::npos) return out;
    const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = out.find(from, begin);
        WW_CHECK(at != std::string::npos, from);
        out.replace(at, from.size(), to);
    };
    replace("source = \"" + kernel.source.filename().string() + "\"", "source = \"mutant.ptx\"");
    replace("options = [\"--fmad=false\"]\n", "");
    replace("define = \"WW_TAPS\"", "source = \"mutant_taps.ptx\"");
    return out;
}

const Bits& Laboratory::State::clean_of(const Candidate& candidate, const std::string& stage,
                                        const std::string& c) const {
    return clean_bits.at(fmt::format("{}/{}/{}", candidate.implementation, stage, c));
}

Status Laboratory::State::run_clean(const Candidate& candidate, const port::Case& c) {
    for (const std::string_view stage : candidate.stages) {
        const std::string key = fmt::format("{}/{}/{}", candidate.implementation, stage, c.id);
        if (clean_bits.count(key)) continue;
        Bits bits = clean->run(candidate.implementation, *clean->port().stage(stage), data.at(c.id));
        if (bits.stops()) return fail(key + ": the unmutated kernel stops");
        clean_bits.emplace(key, std::move(bits));
    }
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

void Laboratory::State::plant_ptx(const Mutant& mutant) const {
    if (!mutant.in_ptx) return;
    plant(PlantedPtx{.folder = folder / subject->port, .stages = mutant.candidate->stages,
                     .defines = defines.at(std::string(mutant.candidate->name))});
}

Result<ladder::CheckReport> Laboratory::State::check(const Mutant& mutant) const {
    ladder::CheckOptions options;
    options.port = folder / subject->port;
    options.implementation = mutant.candidate->implementation;
    options.libraries = kernels::references();
    options.plans = plans_with_mutant();
    options.races.reset();  // this table is about wrong bits: a race may stop the ladder before them
    options.open_device = [this](const std::string& target, uint32_t) -> Result<std::unique_ptr<device::Device>> {
        return open_bounded_device(*subject, target);
    };
    return ladder::check(options);
}

// Looks for a case and a stage in which a bit differs, first where check failed; judges there. Each
// stage is given the reference's inputs, as check gives them: a fault of one does not show in others.
Status Laboratory::State::find_truth(const Mutant& mutant, const ladder::Rung* failed,
                                     Outcome& outcome) {
    WW_TRY(bench, Bench::open(*subject, folder / subject->port));
    const std::string failed_case = failed ? failed->failure->case_id : std::string();
    const std::string failed_stage = failed ? failed->failure->stage : std::string();
    std::vector<std::pair<const port::Case*, const port::Stage*>> places;
    for (const port::Case& c : bench->port().cases) {
        if (c.bench) continue;
        for (const std::string_view stage : mutant.candidate->stages)
            places.emplace_back(&c, clean->port().stage(stage));
    }
    std::stable_sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
        const auto key = [&](const auto& place) {
            return std::pair(place.first->id != failed_case, place.second->name != failed_stage);
        };
        return key(a) < key(b);
    });
    for (const auto& [c, stage] : places) {
        const Bits& before = clean_of(*mutant.candidate, stage->name, c->id);
        const Bits after = bench->run(mutant.candidate->implementation, *stage, data.at(c->id));
        const std::vector<std::string> wrong = differing(*stage, before, after);
        if (wrong.empty()) continue;
        outcome.changes = true;
        outcome.truth = stage->name + "/" + c->id + ": " + join(wrong, " ");
        classify(mutant, *stage, wrong, outcome);
        if (failed && c->id == failed_case && stage->name == failed_stage)
            judge(mutant, *stage, *failed, before, after, wrong, outcome);
        return ok();
    }
    // A race may leave the bits of each stage that runs by itself, and change them in a chain, which check runs twice. That rung names no
    // stage: the place is not the right one.
    if (failed && failed->name.starts_with("chain/") && failed->failure->kind == FailureKind::wrong) {
        outcome.changes = true;
        outcome.truth = fmt::format("{}: {}", failed->name, failed->failure->output);
    }
    return ok();
}

void Laboratory::State::classify(const Mutant& mutant, const port::Stage& stage,
                                 const std::vector<std::string>& wrong, Outcome& outcome) const {
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

// check named this stage.
void Laboratory::State::judge(const Mutant& mutant, const port::Stage& stage, const ladder::Rung& failed,
                              const Bits& clean_, const Bits& mutated,
                              const std::vector<std::string>& wrong, Outcome& outcome) const {
    const Failure& failure = *failed.failure;
    const Lines lines = lines_named(failure);
    outcome.lines_named = lines.size();
    outcome.right_line = lines.count({mutant.file, mutant.line}) > 0;
    outcome.right_line_with_code = lines_named(failure, false).count({mutant.file, mutant.line}) > 0;
    switch (failure.kind) {
        case FailureKind::stopped: {
            // No tensor came out. Right: the same launch stops here, too, and the report
            // names source lines: where the thread was, or each warp where none can go on.
            outcome.stops = true;
            outcome.right_place = mutated.stops();
            outcome.right_element = outcome.right_place && !lines.empty();
            return;
        }
        case FailureKind::out_of_bounds:
        case FailureKind::input_modified: {
            bool same_kind = false;
            for (const ladder::RunResult* run : {&mutated.plain, &mutated.again, &mutated.tapped})
                same_kind |= run->failure && run->failure->kind == failure.kind;
            outcome.stops = true;
            outcome.right_place = same_kind;
            outcome.right_element = outcome.right_place && failure.written_by.has_value();
            return;
        }
        default: break;
    }
    const auto first = std::find_if(wrong.begin(), wrong.end(),
                                    [](const std::string& name) { return name != "stop"; });
    const std::string truth = first == wrong.end() ? "" : *first;
    outcome.right_place = !truth.empty() &&
                          (is_tap(stage, truth) ? failure.tap == truth : failure.tap.empty());
    outcome.right_element = outcome.right_place && is_right_element(failure, clean_, mutated);
}

Result<Outcome> Laboratory::examine(const Mutant& mutant) {
    State& state = *state_;
    WW_TRY(written, state.write(mutant, false));
    (void)written;
    state.plant_ptx(mutant);
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
    plant(std::nullopt);
    WW_TRY(restored, state.write(mutant, true));
    (void)restored;
    if (!looked) return looked.failure();
    if (outcome.detected && !outcome.changes)
        return fail("check fails where no bit differs: " + outcome.said);
    return outcome;
}

}  // namespace ww::mutation
