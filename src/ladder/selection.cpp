// SPDX-License-Identifier: Apache-2.0
#include "ladder/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace ww::ladder {
namespace {

template <class T>
std::string names_of(const std::vector<T>& items, std::string T::*name) {
    std::vector<std::string> out;
    for (const T& item : items) out.push_back(item.*name);
    return join(out, ", ");
}

// Elements of the case's inputs: small cases come first.
int64_t size_of(const port::Port& port, const port::Case& c) {
    const auto scope = port::scope_of(port, c);
    if (!scope) return 0;
    int64_t total = 0;
    for (const port::TensorSpec& tensor : port.tensors) {
        const auto layout = port::layout_of(tensor, scope.value());
        if (layout) total += layout->elements;
    }
    return total;
}

}  // namespace

Result<std::vector<const port::Implementation*>> pick_implementations(const port::Port& port,
                                                                      const std::string& glob) {
    std::vector<const port::Implementation*> out;
    for (const port::Implementation& each : port.implementations) {
        const bool default_pick = each.is_candidate() || each.name == "original";
        if (glob.empty() ? default_pick : glob_match(glob, each.name)) out.push_back(&each);
    }
    if (!out.empty()) return out;
    if (glob.empty())
        return fail(fmt::format("{}: nothing to check: only reference implementations",
                                port.file.string()));
    return fail(fmt::format("--impl {} matches none of: {}", glob,
                            names_of(port.implementations, &port::Implementation::name)));
}

Result<std::vector<const port::Case*>> pick_cases(const port::Port& port, const std::string& glob) {
    std::vector<std::pair<int64_t, const port::Case*>> sized;
    for (const port::Case& each : port.cases)
        // Those for times are too large for a pattern to stumble upon.
        if (each.bench ? glob == each.id : glob.empty() ? !each.slow : glob_match(glob, each.id))
            sized.emplace_back(size_of(port, each), &each);
    if (sized.empty())
        return fail(glob.empty()
                        ? fmt::format("{}: the port has no case to run", port.file.string())
                        : fmt::format("--case {} matches none of: {}", glob,
                                      names_of(port.cases, &port::Case::id)));
    std::stable_sort(sized.begin(), sized.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const port::Case*> out;
    for (const auto& [size, each] : sized) out.push_back(each);
    return out;
}

Result<std::vector<const port::Case*>> pick_bench_cases(const port::Port& port, const std::string& glob) {
    std::vector<const port::Case*> out;
    for (const port::Case& each : port.cases)
        if (each.bench && (glob.empty() || glob_match(glob, each.id))) out.push_back(&each);
    if (!out.empty()) return out;
    if (!glob.empty()) return pick_cases(port, glob);
    constexpr size_t kLargest = 3;
    WW_TRY(checked, pick_cases(port, ""));
    if (checked.size() > kLargest) checked.erase(checked.begin(), checked.end() - kLargest);
    return std::move(checked);
}

std::string sizes_text(const port::Case& c) {
    std::string out;
    for (const auto& [name, value] : c.axes)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
    for (const auto& [name, value] : c.scalars) out += fmt::format(" {}={}", name, value.text());
    for (const auto& [name, dtype] : c.types)
        out += fmt::format(" {}={}", name, port::info(dtype).name);
    return out;
}

port::Case case_on_device(const port::Port& port, const port::Case& c, const device::Info& device) {
    constexpr const char* kAxis = "processors";
    port::Case out = c;
    const bool open = std::any_of(port.axes.begin(), port.axes.end(),
                                  [](const port::Axis& axis) { return axis.name == kAxis && !axis.derived; });
    if (open && device.kind != "emulator") out.axes.try_emplace(kAxis, device.multiprocessors);
    return out;
}

}  // namespace ww::ladder
