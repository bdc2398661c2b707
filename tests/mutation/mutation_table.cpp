// SPDX-License-Identifier: Apache-2.0
// Plants random faults in the kernels of a port, one at a time, and measures how well `check` finds them.
// Exit code 1 when a goal is missed, 2 for wrong usage, 77 without NVRTC.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "pool.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"

namespace {

using namespace ww;
using namespace ww::mutation;
namespace fs = std::filesystem;

constexpr double kPlaceGoal = 0.95, kLineGoal = 0.80;

struct Options {
    std::string port = "softmax";
    uint64_t seed = 1;
    size_t mutants = 200;
    std::optional<size_t> stores;  // further mutants, in stores only; default: a third of mutants
    std::string only;  // "source" or "ptx"; empty: both
    bool verbose = false;
    bool reports = false;
};

struct Row {
    size_t mutants = 0, not_compiled = 0, equivalent = 0, changing = 0, detected = 0, place = 0,
           element = 0, stops = 0, stores = 0, line = 0, line_with_code = 0, lines_named = 0;

    void add(const Outcome& o) {
        ++mutants;
        not_compiled += !o.compiles;
        equivalent += o.compiles && !o.changes;
        if (!o.compiles || !o.changes) return;
        ++changing;
        detected += o.detected;
        stops += o.stops;
        place += o.right_place;
        element += o.right_place && o.right_element;
        if (!o.is_store) return;
        ++stores;
        line += o.right_line;
        line_with_code += o.right_line_with_code;
        lines_named += o.lines_named;
    }
    Row& operator+=(const Row& b) {
        mutants += b.mutants, not_compiled += b.not_compiled, equivalent += b.equivalent;
        changing += b.changing, detected += b.detected, place += b.place, element += b.element;
        stops += b.stops, stores += b.stores, line += b.line, lines_named += b.lines_named;
        line_with_code += b.line_with_code;
        return *this;
    }
};

std::string share(size_t part, size_t whole) {
    if (whole == 0) return "-";
    return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_row(std::string_view name, const Row& r) {
    fmt::print("| {:19} | {:7} | {:12} | {:10} | {:8} | {:8} | {:5} | {:11} | {:13} | {:6} | {:10} |\n",
               name, r.mutants, r.not_compiled, r.equivalent, r.changing, r.detected, r.stops, r.place,
               r.element, r.stores, r.line);
}

using Rows = std::map<std::pair<bool, Kind>, Row>;  // by level and kind

void print_head(std::string_view first) {
    fmt::print("| {:19} | {:7} | {:12} | {:10} | {:8} | {:8} | {:5} | {:11} | {:13} | {:6} | {:10} |\n",
               first, "mutants", "not compiled", "equivalent", "changing", "detected", "stops",
               "right place", "right element", "stores", "right line");
    fmt::print("|{:-<21}|--------:|-------------:|-----------:|---------:|---------:|------:|------------:|"
               "--------------:|-------:|-----------:|\n", "");
}

void print_rows(const Rows& rows, const Row& total) {
    for (const bool in_ptx : {false, true}) {
        Row level;
        for (size_t k = 0; k < kKindNames.size(); ++k)
            if (const auto found = rows.find({in_ptx, static_cast<Kind>(k)}); found != rows.end()) {
                print_row(kKindNames[k], found->second);
                level += found->second;
            }
        if (level.mutants > 0) print_row(in_ptx ? "**all in PTX**" : "**all in source**", level);
    }
    print_row("**all**", total);
}

void print_mutant(const Mutant& mutant, const Outcome& o, const Options& options) {
    std::string problem;
    if (o.compiles && o.changes) {
        if (!o.detected) problem = "missed";
        else if (!o.right_place) problem = "wrong place";
        else if (!o.right_element) problem = "wrong element";
        else if (o.is_store && !o.right_line) problem = "wrong line";
    }
    if (problem.empty() && !options.verbose) return;
    if (problem.empty()) problem = !o.compiles ? "not compiled" : !o.changes ? "equivalent" : "right";
    fmt::print(stderr, "{}: {}, {}, {}:{}\n    - {}\n    + {}\n", problem,
               kKindNames[static_cast<size_t>(mutant.kind)], mutant.candidate->name, mutant.file,
               mutant.line, mutant.before, mutant.after);
    if (!o.truth.empty()) fmt::print(stderr, "    differs  {}\n", o.truth);
    if (!o.said.empty()) fmt::print(stderr, "    check    {}\n", o.said);
    if (options.reports) fmt::print(stderr, "{}", o.report);
}

int report(const Diagnostics& diagnostics) {
    fmt::print(stderr, "{}\n", format(diagnostics));
    return 2;
}

// Mutants are compiled once; the compile cache of the user is not for them.
void use_own_cache(const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    const fs::path wheels = toolchain::cache_root() / "wheels";
    if (fs::exists(wheels, code)) fs::create_directory_symlink(wheels, folder / "wheels", code);
    setenv("WARPWRIGHT_CACHE", folder.c_str(), 1);
}

int measure(const Options& options, const Subject& subject) {
    const auto folder = toolchain::TemporaryFolder::make();
    if (!folder) return report(folder.error());
    use_own_cache(folder->path() / "cache");
    auto laboratory = Laboratory::open(subject, fs::path(WW_SOURCE_DIR) / "kernels", folder->path());
    if (!laboratory) return report(laboratory.error());
    auto pool = Pool::open(**laboratory, options.seed);
    if (!pool) return report(pool.error());
    fmt::print("{} faults can be planted; seed {}\n\n", (*pool)->size(), options.seed);
    Rows rows, store_rows;
    Row total, in_stores;
    const size_t stores = options.stores.value_or(options.mutants / 3);
    while (total.mutants < options.mutants || in_stores.mutants < stores) {
        const bool stores_only = total.mutants >= options.mutants;
        const std::optional<Mutant> mutant = (*pool)->draw(stores_only);
        if (!mutant) break;
        if (!options.only.empty() && (options.only == "ptx") != mutant->in_ptx) continue;
        const auto outcome = (*laboratory)->examine(*mutant);
        if (!outcome) {
            fmt::print(stderr, "{}:{}: {} -> {}\n", mutant->file, mutant->line, mutant->before, mutant->after);
            return report(outcome.error());
        }
        if (stores_only) {
            store_rows[{mutant->in_ptx, mutant->kind}].add(*outcome);
            in_stores.add(*outcome);
        } else {
            rows[{mutant->in_ptx, mutant->kind}].add(*outcome);
            total.add(*outcome);
        }
        print_mutant(*mutant, *outcome, options);
    }
    print_head("fault");
    print_rows(rows, total);
    if (stores > 0) {
        fmt::print("\n");
        print_head("drawn from stores");
        print_rows(store_rows, in_stores);
    }
    const size_t store_faults = total.stores + in_stores.stores, lines = total.line + in_stores.line;
    const size_t with_code = total.line_with_code + in_stores.line_with_code;
    const size_t lines_named = total.lines_named + in_stores.lines_named;
    const bool place_held = total.changing > 0 && static_cast<double>(total.element) >= kPlaceGoal * static_cast<double>(total.changing);
    const bool line_held = store_faults > 0 && static_cast<double>(lines) >= kLineGoal * static_cast<double>(store_faults);
    fmt::print("\nchanging faults found: {} of {} ({})\n", total.detected, total.changing,
               share(total.detected, total.changing));
    fmt::print("at the right stage or tap, with wrong elements: {} of {} ({}); goal {:.0f} %: {}\n",
               total.element, total.changing, share(total.element, total.changing), kPlaceGoal * 100,
               place_held ? "held" : "MISSED");
    const std::string line_goal =
        subject.has_line_goal ? fmt::format("; goal {:.0f} %: {}", kLineGoal * 100, line_held ? "held" : "MISSED") : "";
    fmt::print("in a store or its operands' definitions, at the right line: {} of {} ({}){}\n", lines,
               store_faults, share(lines, store_faults), line_goal);
    fmt::print("the same without the lines named for having no code: {} of {} ({})\n", with_code,
               store_faults, share(with_code, store_faults));
    fmt::print("source lines named for a store fault: {:.1f} on average\n",
               store_faults ? static_cast<double>(lines_named) / static_cast<double>(store_faults) : 0.0);
    return place_held && (line_held || !subject.has_line_goal) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Plants random faults in the kernels of a port and measures how well `check` finds them.");
    app.add_option("--port", options.port, "softmax or sage3")->check([](const std::string& name) {
        return find_subject(name) ? std::string() : "no port '" + name + "' is measured";
    });
    app.add_option("--seed", options.seed, "of the draw");
    app.add_option("--mutants", options.mutants, "how many to plant")->check(CLI::PositiveNumber);
    app.add_option("--stores", options.stores,
                   "further ones, in stores and what defines their operands (default: a third)");
    app.add_option("--only", options.only, "one level")->check(CLI::IsMember({"source", "ptx"}));
    app.add_flag("--verbose", options.verbose, "each mutant, not only those that were not placed");
    app.add_flag("--reports", options.reports, "with each, all that check printed");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto compiler = toolchain::need_part("nvrtc");
    if (!compiler) {
        fmt::print(stderr, "{}\n", format(compiler.error()));
        return 77;
    }
    return measure(options, *find_subject(options.port));
}
