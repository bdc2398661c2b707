// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tokens.hpp"

namespace ww::mutation {
namespace {

// What was changed, with a little of the line around it.
std::string excerpt(std::string_view text, size_t begin, size_t end) {
    size_t from = begin, to = end;
    while (from > 0 && text[from - 1] != '\n' && begin - from < 24) --from;
    while (to < text.size() && text[to] != '\n' && to - end < 24) ++to;
    return std::string(text.substr(from, to - from));
}

}  // namespace

std::string Pool::SourceFault::id() const {
    return fmt::format("{} {} {} {} {}", candidate->name, file, edit.begin, edit.end, edit.replacement);
}
std::string Pool::PtxFault::id() const { return fmt::format("{} {}", candidate->name, number); }

void Pool::add(const Candidate& candidate, const std::string& file) {
    const std::string name = std::filesystem::path(file).filename().string();
    std::vector<std::string_view> texts;  // of the port's other files
    for (const Candidate& each : laboratory_.subject().candidates)
        for (const std::string_view part : each.parts)
            if (part != file) texts.push_back(laboratory_.text(std::string(part)));
    const auto unused = file.starts_with("common/") ? unused_functions(laboratory_.text(file), texts)
                                                    : std::vector<std::pair<size_t, size_t>>();
    for (Edit& edit : source_edits(laboratory_.text(file))) {
        if (std::any_of(unused.begin(), unused.end(), [&](const auto& function) {
                return edit.begin >= function.first && edit.end <= function.second;
            }))
            continue;
        const SourceFault fault{&candidate, file, std::move(edit)};
        all_.source[fault.edit.kind].push_back(fault);
        bool in_store = false;
        for (const auto& [tensor, stores] : laboratory_.stores(candidate))
            in_store |= stores.lines.count({name, fault.edit.line}) > 0 && !fault.edit.in_condition;
        if (in_store) stores_.source[fault.edit.kind].push_back(fault);
    }
}

Status Pool::add_ptx(const Candidate& candidate) {
    WW_TRY(plain, ptx::parse(laboratory_.ptx(candidate, false), "plain"));
    WW_TRY(taps, ptx::parse(laboratory_.ptx(candidate, true), "taps"));
    size_t number = 0;
    for (PtxEdit& edit : ptx_edits(plain, taps, laboratory_.entry(candidate))) {
        const PtxFault fault{&candidate, std::move(edit), number++};
        all_.ptx[fault.edit.kind].push_back(fault);
        bool in_store = false;
        for (const auto& [tensor, stores] : laboratory_.stores(candidate))
            in_store |= stores.keys.count(fault.edit.key) > 0;
        if (in_store) stores_.ptx[fault.edit.kind].push_back(fault);
    }
    modules_[&candidate] = Modules{std::move(plain), std::move(taps)};
    return ok();
}

Result<std::unique_ptr<Pool>> Pool::open(const Laboratory& laboratory, uint64_t seed) {
    std::unique_ptr<Pool> out(new Pool(laboratory, seed));
    for (const Candidate& candidate : laboratory.subject().candidates) {
        for (const std::string_view file : candidate.parts) out->add(candidate, std::string(file));
        if (candidate.ptx_case.empty()) continue;
        WW_TRY(added, out->add_ptx(candidate));
        (void)added;
    }
    return out;
}

size_t Pool::size() const {
    size_t out = 0;
    for (const auto& [kind, faults] : all_.source) out += faults.size();
    for (const auto& [kind, faults] : all_.ptx) out += faults.size();
    return out;
}

Mutant Pool::made(const SourceFault& fault) const {
    const std::string& text = laboratory_.text(fault.file);
    const Edit& edit = fault.edit;
    Mutant out{.kind = edit.kind, .candidate = fault.candidate, .line = edit.line,
               .in_condition = edit.in_condition};
    out.file = std::filesystem::path(fault.file).filename().string();
    const std::string changed = applied(text, edit);
    out.before = excerpt(text, edit.begin, edit.end);
    out.after = excerpt(changed, edit.begin, edit.begin + edit.replacement.size());
    out.files[std::string(laboratory_.subject().port) + "/port.toml"] = laboratory_.port_for(*fault.candidate);
    out.files[fault.file] = changed;
    return out;
}

Mutant Pool::made(const PtxFault& fault) const {
    const PtxEdit& edit = fault.edit;
    const Modules& modules = modules_.at(fault.candidate);
    Mutant out{.in_ptx = true, .kind = edit.kind, .candidate = fault.candidate, .file = edit.file,
               .line = edit.line, .site = edit.key};
    std::string before, after;
    const std::string folder(laboratory_.subject().port), &entry = laboratory_.entry(*fault.candidate);
    out.files[folder + "/mutant.ptx"] = applied(modules.plain, entry, edit, before, after);
    out.files[folder + "/mutant_taps.ptx"] = applied(modules.taps, entry, edit, out.before, out.after);
    out.files[folder + "/port.toml"] = laboratory_.port_for_ptx(*fault.candidate);
    return out;
}

template <class Fault>
std::optional<Mutant> Pool::draw_from(ByKind<Fault>& faults, bool kinds_equal) {
    while (true) {
        std::erase_if(faults, [](const auto& entry) { return entry.second.empty(); });
        if (faults.empty()) return std::nullopt;
        auto kind = faults.begin();
        if (kinds_equal) {
            std::advance(kind, random_.below(faults.size()));
        } else {
            size_t total = 0;
            for (const auto& [each, items] : faults) total += items.size();
            for (size_t at = random_.below(total); at >= kind->second.size(); ++kind)
                at -= kind->second.size();
        }
        std::vector<Fault>& items = kind->second;
        std::swap(items[random_.below(items.size())], items.back());
        const Fault fault = std::move(items.back());
        items.pop_back();
        if (drawn_.insert(fault.id()).second) return made(fault);
    }
}

std::optional<Mutant> Pool::draw(bool stores_only) {
    Group& group = stores_only ? stores_ : all_;
    from_source_ = !from_source_;
    const bool kinds_equal = !stores_only;
    const auto source = [&] { return draw_from(group.source, kinds_equal); };
    const auto in_ptx = [&] { return draw_from(group.ptx, kinds_equal); };
    if (auto mutant = from_source_ ? source() : in_ptx()) return mutant;
    return from_source_ ? in_ptx() : source();
}

}  // namespace ww::mutation
