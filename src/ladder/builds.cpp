// SPDX-License-Identifier: Apache-2.0
#include "ladder/builds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::ladder {
namespace {

using port::KernelImpl;

void add_once(std::vector<std::string>& list, const std::string& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

Result<Build> build_for(const port::Port& port, const PlanTable& plans,
                        const port::Implementation& implementation, const std::string& stage,
                        const port::StageImpl& impl, const port::Scope& scope) {
    const KernelImpl& given = std::get<KernelImpl>(impl.value);
    WW_TRY(kernel, plan_kernel(port, plans, given, impl.place, scope, stage));
    WW_TRY(size, port::launch_size(kernel, scope));
    Build build;
    build.implementation = implementation.name;
    build.stages = {stage};
    build.entry = kernel.entry;
    build.threads = size.block[0] * size.block[1] * size.block[2];
    build.shared_bytes = size.shared_bytes;
    if (kernel.kind == KernelImpl::Source::cuda) {
        WW_TRY(request, compile_request(kernel, scope, kernel.target, false));
        build.request = std::move(request);
    }
    build.kernel = std::move(kernel);
    return build;
}

}  // namespace

Result<KernelImpl> plan_kernel(const port::Port& port, const PlanTable& plans, const KernelImpl& kernel,
                               const port::Place& place, const port::Scope& scope,
                               const std::string& stage) {
    if (kernel.plan.empty()) return kernel;
    const auto plan = plans.find(kernel.plan);
    if (plan == plans.end()) {
        std::vector<std::string> known;
        for (const auto& [name, function] : plans) known.push_back(name);
        return fail(place.error(fmt::format("this program has no plan '{}'; it has: {}", kernel.plan,
                                            join(known, ", "))));
    }
    auto planned = plan->second(scope, stage);
    if (!planned) return fail(port::placed(planned.error(), place));
    KernelImpl made = std::move(planned).value();
    made.source = port.folder / made.source;
    for (std::filesystem::path& folder : made.include) folder = port.folder / folder;
    return made;
}

Result<toolchain::CompileRequest> compile_request(const KernelImpl& kernel, const port::Scope& scope,
                                                  const std::string& target, bool taps) {
    const auto& path = taps && !kernel.taps_source.empty() ? kernel.taps_source : kernel.source;
    toolchain::CompileRequest out;
    WW_TRY(source, read_file(path));
    out.source = std::move(source);
    out.name = path.string();
    out.target = target;
    WW_TRY(defines, port::defines_of(kernel, scope));
    out.defines = std::move(defines);
    if (taps) out.defines.emplace_back(kernel.tap_define, "1");
    out.include_dirs = kernel.include;
    out.options = kernel.options;
    return out;
}

std::string build_key(const KernelImpl& kernel,
                      const std::vector<std::pair<std::string, std::string>>& defines) {
    std::string key =
        fmt::format("{}|{}|{}", kernel.source.string(), kernel.entry, kernel.target);
    for (const auto& [name, value] : defines) key += fmt::format("|{}={}", name, value);
    for (const std::string& option : kernel.options) key += "|" + option;
    for (const auto& folder : kernel.include) key += "|-I" + folder.string();
    return key;
}

toolchain::AssembleOptions assemble_options(const std::vector<std::string>& compiler_options) {
    toolchain::AssembleOptions out;
    for (const std::string& option : compiler_options) {
        const size_t equals = std::min(option.find('='), option.size());
        std::string_view name = std::string_view(option).substr(0, equals);
        name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
        const std::string value = option.substr(std::min(equals + 1, option.size()));
        if ((name == "fmad" && value == "false") || name == "maxrregcount")
            out.options.push_back(fmt::format("--{}={}", name, value));
        else if (name == "ptxas-options" || name == "Xptxas")
            out.options.push_back(value);
    }
    return out;
}

Result<std::vector<Build>> builds_of(const port::Port& port, const PlanTable& plans) {
    std::vector<Build> out;
    std::map<std::string, size_t> index;
    for (const port::Implementation& implementation : port.implementations)
        for (const auto& [stage, impl] : implementation.stages) {
            if (!std::holds_alternative<KernelImpl>(impl.value)) continue;
            for (const port::Case& c : port.cases) {
                WW_TRY(scope, port::scope_of(port, c));
                WW_TRY(broken, port::unmet(impl, scope));
                if (broken) continue;
                WW_TRY(build, build_for(port, plans, implementation, stage, impl, scope));
                const std::string key =
                    fmt::format("{}|{}", implementation.name, build_key(build.kernel, build.request.defines));
                const auto [place, is_new] = index.try_emplace(key, out.size());
                if (is_new) out.push_back(std::move(build));
                Build& kept = out[place->second];
                add_once(kept.cases, c.id);
                if (is_new) continue;
                add_once(kept.stages, stage);
                kept.threads = std::max(kept.threads, build.threads);
                kept.shared_bytes = std::max(kept.shared_bytes, build.shared_bytes);
            }
        }
    return out;
}

}  // namespace ww::ladder
