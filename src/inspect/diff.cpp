// SPDX-License-Identifier: Apache-2.0
#include "inspect/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace ww::inspect {
namespace {

std::vector<Change> changes(const std::map<std::string, int64_t>& before,
                            const std::map<std::string, int64_t>& after, bool absent_is_zero) {
    std::set<std::string> names;
    for (const auto* side : {&before, &after})
        for (const auto& [name, value] : *side) names.insert(name);
    const auto value_in = [&](const std::map<std::string, int64_t>& side, const std::string& name) {
        const auto found = side.find(name);
        if (found != side.end()) return std::optional<double>(static_cast<double>(found->second));
        return absent_is_zero ? std::optional<double>(0) : std::nullopt;
    };
    std::vector<Change> out;
    for (const std::string& name : names)
        if (const auto x = value_in(before, name), y = value_in(after, name); x != y) out.push_back({name, x, y});
    return out;
}

std::vector<Change> class_changes(const ClassCounts& before, const ClassCounts& after) {
    std::vector<Change> out;
    if (before.total != after.total)
        out.push_back({"total", static_cast<double>(before.total), static_cast<double>(after.total)});
    for (Change& each : changes(before.classes, after.classes, true)) out.push_back(std::move(each));
    return out;
}

std::vector<SpillDiff> spills(const KernelFacts& before, const KernelFacts& after) {
    std::map<std::tuple<std::string, bool, int64_t>, SpillDiff> found;
    const auto count = [&](const KernelFacts& kernel, int SpillDiff::*side) {
        for (const LocalFacts& each : kernel.local) {
            SpillDiff& diff = found[{each.place, each.load, each.bits}];
            diff.place = each.place;
            diff.load = each.load;
            diff.bits = each.bits;
            ++(diff.*side);
        }
    };
    count(before, &SpillDiff::before);
    count(after, &SpillDiff::after);
    std::vector<SpillDiff> out;
    for (auto& [key, diff] : found)
        if (diff.before != diff.after) out.push_back(diff);
    return out;
}

KernelDiff compare_kernels(const KernelFacts& before, const KernelFacts& after) {
    KernelDiff out{.before = before, .after = after};
    out.resources = changes(before.resources, after.resources, false);
    if (before.blocks != after.blocks) {
        const auto number = [](std::optional<int64_t> blocks) {
            return blocks ? std::optional<double>(static_cast<double>(*blocks)) : std::nullopt;
        };
        out.resources.push_back({"blocks", number(before.blocks), number(after.blocks)});
    }
    if (!before.sass_missing.empty() || !after.sass_missing.empty()) return out;
    out.classes = class_changes(before.instructions, after.instructions);
    for (const auto& [i, j] : align_loops(before.loops, after.loops)) {
        LoopDiff loop;
        if (i >= 0) loop.before = before.loops[i];
        if (j >= 0) loop.after = after.loops[j];
        if (i >= 0 && j >= 0) loop.classes = class_changes(loop.before->own, loop.after->own);
        out.loops.push_back(std::move(loop));
    }
    out.spills = spills(before, after);
    return out;
}

using Key = std::function<std::string(const KernelFacts&)>;

// Moves to pairs the kernels whose key stands once on each side.
void pair_by(const Key& key, std::vector<const KernelFacts*>& before, std::vector<const KernelFacts*>& after,
             std::vector<std::pair<const KernelFacts*, const KernelFacts*>>& pairs) {
    const auto alone = [&](const std::vector<const KernelFacts*>& side, const std::string& value) {
        return std::count_if(side.begin(), side.end(), [&](const KernelFacts* k) { return key(*k) == value; }) == 1;
    };
    const std::vector<const KernelFacts*> left = before, right = after;
    for (const KernelFacts* x : left)
        for (const KernelFacts* y : right)
            if (key(*x) == key(*y) && alone(left, key(*x)) && alone(right, key(*x))) {
                pairs.emplace_back(x, y);
                std::erase(before, x);
                std::erase(after, y);
            }
}

void add_notes(const AsmFacts& before, const AsmFacts& after, AsmDiff& out) {
    for (const auto& [part, version] : after.toolchain)
        if (const auto other = before.toolchain.find(part); other != before.toolchain.end() && other->second != version)
            out.notes.push_back(fmt::format("{} {} made one side, {} the other", part, other->second, version));
    std::set<std::string> missing;
    for (const KernelDiff& kernel : out.kernels)
        for (const KernelFacts* side : {&kernel.before, &kernel.after})
            if (!side->sass_missing.empty())
                missing.insert(fmt::format("instructions of {} are not compared: {}", title(*side), side->sass_missing));
    out.notes.insert(out.notes.end(), missing.begin(), missing.end());
}

}  // namespace

bool LoopDiff::changed() const {
    if (!before || !after) return true;
    return !classes.empty() || before->all.total != after->all.total || before->bound != after->bound ||
           before->bound_cycles != after->bound_cycles || before->scheduled_cycles != after->scheduled_cycles;
}

bool KernelDiff::changed() const {
    return !resources.empty() || !classes.empty() || !spills.empty() ||
           std::any_of(loops.begin(), loops.end(), [](const LoopDiff& loop) { return loop.changed(); });
}

bool AsmDiff::changed() const {
    return !gone.empty() || !added.empty() ||
           std::any_of(kernels.begin(), kernels.end(), [](const KernelDiff& kernel) { return kernel.changed(); });
}

AsmDiff compare(const AsmFacts& before, const AsmFacts& after) {
    std::vector<const KernelFacts*> left, right;
    for (const KernelFacts& kernel : before.kernels) left.push_back(&kernel);
    for (const KernelFacts& kernel : after.kernels) right.push_back(&kernel);
    std::vector<std::pair<const KernelFacts*, const KernelFacts*>> pairs;
    const std::vector<Key> keys{
        [](const KernelFacts& k) { return fmt::format("{}\n{}\n{}", k.files, k.name, k.target); },
        [](const KernelFacts& k) { return k.name + "\n" + k.target; },
        [](const KernelFacts& k) { return k.name; },
        [](const KernelFacts& k) { return k.files; },
        [](const KernelFacts&) { return std::string(); }};
    for (const Key& key : keys) pair_by(key, left, right, pairs);
    AsmDiff out;
    std::sort(pairs.begin(), pairs.end());  // as the first document has them
    for (const auto& [x, y] : pairs) out.kernels.push_back(compare_kernels(*x, *y));
    for (const KernelFacts* kernel : left) out.gone.push_back(title(*kernel));
    for (const KernelFacts* kernel : right) out.added.push_back(title(*kernel));
    add_notes(before, after, out);
    return out;
}

}  // namespace ww::inspect
