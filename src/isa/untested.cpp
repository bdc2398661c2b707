// SPDX-License-Identifier: Apache-2.0
// One line a row. A line leaves this list when an instruction test executes its row.
#include "isa/untested.hpp"

#include <algorithm>
#include <array>

namespace ww::isa {
namespace {

constexpr std::array<UntestedRow, 3> kUntested = {{
    // ptxas wants the sink '_' in its place.
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 [addr]{, count}",
     ".sem = .release .relaxed; .space = .shared .shared::cta; .any_space = .shared .shared::cta "
     ".shared::cluster; .scope = .cta .cluster; "},
    // Between two blocks of a cluster.
    {"cp.async.bulk.shared::cluster.shared::cta.completion_mechanism [dst], [src], size, [mbar]",
     ".completion_mechanism = .mbarrier::complete_tx::bytes; .level::cache_hint = .L2::cache_hint; "},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.completion_mechanism.redOp.type [dst], "
     "[src], size, [mbar]",
     ".type = .b32 .u32 .s32 .b64 .u64; .redOp = .and .or .xor .add .inc .dec .min .max; "
     ".completion_mechanism = .mbarrier::complete_tx::bytes; .level::cache_hint = .L2::cache_hint; "},
}};

}  // namespace

std::span<const UntestedRow> untested_rows() { return {kUntested.data(), kUntested.size()}; }

State state(const Row& row) {
    if (!row.bind) return State::parsed;
    const auto names_row = [&](const UntestedRow& entry) { return entry.names(row); };
    return std::any_of(kUntested.data(), kUntested.end(), names_row) ? State::untested : State::supported;
}

std::string_view state_name(State state) {
    switch (state) {
        case State::supported: return "supported";
        case State::untested: return "untested";
        case State::parsed: return "parsed";
    }
    return "parsed";
}

}  // namespace ww::isa
