// SPDX-License-Identifier: Apache-2.0
#include "device/waits.hpp"

namespace ww::device {
namespace {

const char* kind_name(machine::Wait::Kind kind) {
    switch (kind) {
        case machine::Wait::Kind::none: return "none";
        case machine::Wait::Kind::barrier: return "barrier";
        case machine::Wait::Kind::cluster: return "cluster barrier";
        case machine::Wait::Kind::lanes: return "lanes";
        case machine::Wait::Kind::group: return "groups";
        case machine::Wait::Kind::mbarrier:
        case machine::Wait::Kind::poll: return "mbarrier";
    }
    return "none";
}

}  // namespace

std::vector<WaitRecord> wait_records(const emulator::Standing& standing) {
    std::vector<WaitRecord> out;
    for (const emulator::StandingLanes& each : standing.lanes) {
        WaitRecord record{.block = {each.block[0], each.block[1], each.block[2]}, .warp = each.warp, .lanes = each.lanes, .kind = kind_name(each.kind),
                          .waits = each.waits, .instruction = each.place.text, .ptx_line = each.place.ptx_line};
        if (each.place.line > 0) record.source.push_back({each.place.file, each.place.line});
        for (const ptx::SourceLine& site : each.place.call_sites) record.source.push_back({site.file, site.line});
        record.barrier = each.barrier;
        if (each.mbarrier)
            record.mbarrier = WaitRecord::Mbarrier{.name = each.mbarrier->name, .address = each.mbarrier->address, .phase = each.mbarrier->parity,
                                                   .arrivals_pending = each.mbarrier->arrivals, .arrivals_expected = each.mbarrier->expected,
                                                   .bytes_pending = each.mbarrier->bytes};
        record.releasers = each.releasers;
        out.push_back(std::move(record));
    }
    return out;
}

}  // namespace ww::device
