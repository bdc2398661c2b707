// SPDX-License-Identifier: Apache-2.0
// Reports of the context as JSON; docs/context.md names the fields.
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "context/index.hpp"
#include "context/list.hpp"
#include "context/outline.hpp"
#include "context/search.hpp"

namespace ww::context {
namespace {

using nlohmann::ordered_json;

std::string text(const ordered_json& json) {
    return json.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json source_json(const Source& source) {
    return {{"name", source.name}, {"for", source.purpose}, {"from", source.from},
            {"commit", source.commit.empty() ? ordered_json(nullptr) : ordered_json(source.commit)},
            {"licence", source.licence}, {"added", source.added}, {"present", source.present},
            {"get_again", source.get_again}};
}

ordered_json sources_json(const std::vector<Source>& sources) {
    ordered_json out = ordered_json::array();
    for (const Source& source : sources) out.push_back(source_json(source));
    return out;
}

ordered_json uses_json(const std::vector<Use>& uses) {
    ordered_json out = ordered_json::array();
    for (const Use& use : uses)
        out.push_back({{"text", use.text}, {"file", use.file}, {"line", use.line}, {"function", use.function}});
    return out;
}

}  // namespace

std::string to_json(const Context& context) { return text({{"sources", sources_json(context.sources)}}); }

std::string removed_json(const Source& source) {
    ordered_json json = source_json(source);
    json.erase("present");
    json.erase("get_again");
    return text({{"removed", json}});
}

std::string to_json(const Index& index) {
    ordered_json lines = ordered_json::array();
    for (const DirectoryLine& line : index.lines)
        lines.push_back({{"directory", line.path}, {"purpose", line.purpose}, {"guessed", line.guessed}, {"gone", line.gone},
                         {"size", line.size}, {"languages", line.languages}, {"licence", line.licence},
                         {"entry_points", line.entry_points}});
    return text({{"file", display_path(index.file)}, {"directories", lines}, {"files", index.files}, {"bytes", index.bytes},
                 {"seconds", index.seconds}, {"missing", sources_json(index.missing)}});
}

std::string to_json(const SearchReport& report) {
    ordered_json matches = ordered_json::array();
    for (const Match& match : report.matches)
        matches.push_back({{"file", match.file}, {"line", match.line}, {"function", match.function}, {"text", match.text},
                           {"score", match.score}});
    return text({{"matches", matches}, {"found", report.found}, {"files", report.files}, {"missing", sources_json(report.missing)}});
}

std::string to_json(const Outline& outline) {
    ordered_json kernels = ordered_json::array(), launches = ordered_json::array(), helpers = ordered_json::array();
    for (const KernelOutline& kernel : outline.kernels)
        kernels.push_back({{"name", kernel.name}, {"file", kernel.file}, {"lines", {kernel.first, kernel.last}},
                           {"language", kernel.language}, {"template", kernel.parameters},
                           {"launch_bounds", kernel.launch_bounds}, {"shared", uses_json(kernel.shared)},
                           {"instructions", uses_json(kernel.instructions)}});
    for (const LaunchOutline& each : outline.launches)
        launches.push_back({{"kernel", each.launch.kernel}, {"how", each.launch.how}, {"file", each.file},
                            {"line", each.launch.line}, {"inside", each.launch.inside}});
    for (const HelperOutline& helper : outline.helpers)
        helpers.push_back({{"name", helper.name}, {"file", helper.file}, {"lines", {helper.first, helper.last}},
                           {"instructions", helper.instructions}});
    return text({{"files", outline.files}, {"kernels", kernels}, {"launches", launches},
                 {"shared_types", uses_json(outline.shared_types)}, {"functions", helpers}});
}

}  // namespace ww::context
