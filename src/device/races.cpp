// SPDX-License-Identifier: Apache-2.0
#include "device/races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/shared_name.hpp"

namespace ww::device {
namespace {

Dim3 dim3(const machine::Coordinates& c) { return {c[0], c[1], c[2]}; }

std::string text(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

std::string what_of(const races::Side& side) {
    if (side.end) return "end of the block";
    std::string out = side.atomic ? "atomic access" : side.write ? "write" : "read";
    if (side.strong) {
        constexpr std::string_view kScopes[] = {".cta", ".cluster", ".gpu", ".sys"};
        out += fmt::format(" of scope {}", kScopes[static_cast<size_t>(side.scope)]);
    }
    switch (side.by) {
        case races::Side::By::thread: return out;
        case races::Side::By::copy: return out + " by cp.async";
        case races::Side::By::bulk: return out + " by a bulk operation";
        case races::Side::By::mma: return out + " by wgmma";
    }
    return out;
}

RaceRecord::Access access_of(const emulator::Kernel& kernel, const races::Side& side) {
    const emulator::SourcePlace place = emulator::source_place(kernel, side.inst);
    RaceRecord::Access out{.what = what_of(side), .block = dim3(side.block), .thread = dim3(side.thread), .instruction = place.text, .ptx_line = place.ptx_line};
    if (place.line > 0) out.source.push_back({place.file, place.line});
    for (const ptx::SourceLine& each : place.call_sites) out.source.push_back({each.file, each.line});
    return out;
}

std::string shared_place(const emulator::Kernel& kernel, const races::Finding& finding) {
    return fmt::format("{} in shared memory of block {}", emulator::shared_name(kernel, finding.address), text(dim3(finding.owner)));
}

std::string line_of(const RaceRecord& race, const RaceRecord::Access& access) {
    std::string out = fmt::format("{} by thread {} of block {} at {}:{}: {}", access.what, text(access.thread), text(access.block), race.file,
                                  access.ptx_line, access.instruction);
    if (access.what.find(" by ") != std::string::npos)
        out = fmt::format("{} that thread {} of block {} issued at {}:{}: {}", access.what, text(access.thread), text(access.block), race.file,
                          access.ptx_line, access.instruction);
    for (size_t i = 0; i < access.source.size(); ++i)
        out += fmt::format("{}{}:{}", i == 0 ? "\n        source: " : ", called from ", access.source[i].file, access.source[i].line);
    return out;
}

}  // namespace

emulator::OnRegisters register_observer(races::Checker& checker) {
    using Kind = emulator::RegisterUse::Kind;
    return [&checker](const machine::Warp& warp, const machine::Inst& inst, const emulator::RegisterUse& use) {
        if (use.kind == Kind::fence) checker.registers_fenced(warp);
        else checker.registers(warp, inst, use.kind == Kind::product, use.reads, use.writes);
    };
}

std::vector<RaceRecord> race_records(const emulator::Kernel& kernel, const machine::GlobalMemory& memory,
                                     const emulator::RegisterWatch& registers, const std::vector<races::Finding>& findings) {
    std::vector<RaceRecord> out;
    const auto place = [&](const races::Finding& finding) {
        if (is_of_registers(finding.rule))
            return fmt::format("register {} of warp {} of block {}", registers.name(static_cast<uint32_t>(finding.address)),
                               finding.second.warp, text(dim3(finding.second.block)));
        return finding.space == machine::Space::shared ? shared_place(kernel, finding) : memory.describe(finding.address);
    };
    for (const races::Finding& finding : findings)
        out.push_back({.level = level_of(finding.rule),
                       .rule = std::string(name(finding.rule)),
                       .kernel = kernel.program.kernel,
                       .file = kernel.module->name,
                       .where = place(finding),
                       .missing = missing(finding),
                       .first = access_of(kernel, finding.first),
                       .second = access_of(kernel, finding.second),
                       .count = finding.count});
    return out;
}

Diagnostic race_diagnostic(const RaceRecord& race) {
    return {.severity = race.level == RaceLevel::error ? Severity::error : Severity::warning,
            .file = race.file,
            .line = race.second.ptx_line,
            .message = fmt::format("{} ({}) at {}: {}\n    first: {}\n    then:  {}\n    {} time(s) in kernel {}", race.rule, level_name(race.level), race.where,
                                   race.missing, line_of(race, race.first), line_of(race, race.second), race.count, race.kernel)};
}

}  // namespace ww::device
