// SPDX-License-Identifier: Apache-2.0
// Reports of the context as text.
#include <fmt/format.h>

#include "base/files.hpp"
#include "context/index.hpp"
#include "context/list.hpp"
#include "context/outline.hpp"
#include "context/search.hpp"
#include "context/table.hpp"

namespace ww::context {
namespace {

std::string missing_text(const std::vector<Source>& missing) {
    std::string out;
    for (const Source& source : missing) out += fmt::format("not here: {}; get it again: {}\n", source.name, source.get_again);
    return out;
}

std::string use_text(const char* what, const Use& use, const std::string& file) {
    std::string place = use.file == file ? fmt::format(":{}", use.line) : fmt::format("{}:{}", use.file, use.line);
    if (!use.function.empty()) place += " " + use.function;
    return fmt::format("    {:<12} {}  ({})\n", what, use.text, place);
}

}  // namespace

std::string to_text(const Context& context) {
    std::string out;
    for (const Source& source : context.sources) {
        out += fmt::format("{}: {}\n    from     {}\n", source.name, source.purpose, source.from);
        if (!source.commit.empty()) out += fmt::format("    commit   {}\n", source.commit);
        out += fmt::format("    licence  {}\n    added    {}\n", source.licence, source.added);
        if (!source.present) out += fmt::format("    missing  get it again: {}\n", source.get_again);
    }
    if (context.sources.empty()) out = fmt::format("{} has no sources\n", display_path(context.folder));
    return out;
}

std::string removed_text(const Source& source) {
    return fmt::format("removed {}, which came from {}{}\n", source.name, source.from, source.commit.empty() ? "" : " at " + source.commit);
}

std::string to_text(const Index& index) {
    std::string out = missing_text(index.missing);
    int yours = 0, gone = 0;
    for (const DirectoryLine& line : index.lines) {
        yours += !line.guessed && !line.purpose.empty();
        gone += line.gone;
    }
    out += fmt::format("{}: {} directories, {} files, {}, {:.2f} s; {} purposes are yours", display_path(index.file), index.directories,
                       index.files, size_text(index.bytes), index.seconds, yours);
    if (gone > 0) out += fmt::format(", {} of them of directories that are gone", gone);
    return out + "\n";
}

std::string to_text(const SearchReport& report) {
    std::string out = missing_text(report.missing);
    for (const Match& match : report.matches)
        out += fmt::format("{}:{}: {}{}\n", match.file, match.line, match.function.empty() ? "" : "[" + match.function + "] ", match.text);
    if (report.found > report.matches.size())
        out += fmt::format("{} of {} matches in {} files; --limit N shows more\n", report.matches.size(), report.found, report.files);
    else
        out += fmt::format("{} match{} in {} files\n", report.found, report.found == 1 ? "" : "es", report.files);
    return out;
}

std::string to_text(const Outline& outline) {
    std::string out;
    for (const KernelOutline& kernel : outline.kernels) {
        out += fmt::format("{}:{}-{}: kernel {} ({})\n", kernel.file, kernel.first, kernel.last, kernel.name, kernel.language);
        if (!kernel.parameters.empty()) out += fmt::format("    template     {}\n", kernel.parameters);
        if (!kernel.launch_bounds.empty()) out += fmt::format("    bounds       {}\n", kernel.launch_bounds);
        for (const Use& use : kernel.shared) out += use_text("shared", use, kernel.file);
        for (const Use& use : kernel.instructions) out += use_text("instruction", use, kernel.file);
    }
    for (const LaunchOutline& each : outline.launches)
        out += fmt::format("{}:{}: launch {} <{}>{}\n", each.file, each.launch.line, each.launch.kernel, each.launch.how,
                           each.launch.inside.empty() ? "" : " in " + each.launch.inside);
    for (const Use& type : outline.shared_types) out += fmt::format("{}:{}: {}\n", type.file, type.line, type.text);
    for (const HelperOutline& helper : outline.helpers) {
        out += fmt::format("{}:{}-{}: function {}\n", helper.file, helper.first, helper.last, helper.name);
        for (const std::string& each : helper.instructions) out += fmt::format("    instruction  {}\n", each);
    }
    out += fmt::format("{} files, {} kernels, {} launches\n", outline.files, outline.kernels.size(), outline.launches.size());
    return out;
}

}  // namespace ww::context
