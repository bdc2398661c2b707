// SPDX-License-Identifier: Apache-2.0
// One line a row. A line leaves this list when an instruction test executes its row.
#include "isa/untested.hpp"

#include <algorithm>
#include <array>

namespace ww::isa {
namespace {

constexpr std::array<UntestedRow, 11> kUntested = {{
    // ptxas wants the sink '_' in its place.
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 [addr]{, count}",
     ".sem = .release .relaxed; .space = .shared .shared::cta; .any_space = .shared .shared::cta "
     ".shared::cluster; .scope = .cta .cluster; "},
    // With a tensor map, which instruction tests cannot make: tests/unit/device/tensor_copy_test.cpp.
    {""
     "cp.async.bulk.tensor.dim.shared::cta.global{.load_mode}.completion_mechanism{.cta_group}{.level::cache_hint} "
     "[dst], [map, coordinates], [mbar]{, im2col-info}{, cache-policy}",
     ".dim = .1d .2d .3d .4d .5d; .completion_mechanism = .mbarrier::complete_tx::bytes; "
     ".level::cache_hint = .L2::cache_hint; .load_mode = .tile .tile::gather4 .im2col "
     ".im2col::w .im2col::w::128; .cta_group = .cta_group::1 .cta_group::2; "},
    {""
     "cp.async.bulk.tensor.dim.shared::cluster.global{.load_mode}.completion_mechanism{.multicast::cluster}{.cta_group}{.level::cache_hint} "
     "[dst], [map, coordinates], [mbar]{, im2col-info}{, cta-mask}{, cache-policy}",
     ".dim = .1d .2d .3d .4d .5d; .completion_mechanism = .mbarrier::complete_tx::bytes; "
     ".level::cache_hint = .L2::cache_hint; .load_mode = .tile .tile::gather4 .im2col "
     ".im2col::w .im2col::w::128; .cta_group = .cta_group::1 .cta_group::2; "},
    {""
     "cp.async.bulk.tensor.dim.global.shared::cta{.load_mode}.completion_mechanism{.level::cache_hint} "
     "[map, coordinates], [src]{, cache-policy}",
     ".load_mode = .tile .tile::scatter4 .im2col_no_offs; .dim = .1d .2d .3d .4d .5d; "
     ".completion_mechanism = .bulk_group; .level::cache_hint = .L2::cache_hint; "},
    {"cp.async.bulk.prefetch.tensor.dim.L2.global{.load_mode}{.level::cache_hint} [map, "
     "coordinates]{, im2col-info}{, cache-policy}",
     ".dim = .1d .2d .3d .4d .5d; .load_mode = .tile .tile::gather4 .im2col .im2col::w "
     ".im2col::w::128; .cta_group = .cta_group::1 .cta_group::2; .completion_mechanism = "
     ".bulk_group; .level::cache_hint = .L2::cache_hint; "},
    {""
     "cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.completion_mechanism{.level::cache_hint} "
     "[map, coordinates], [src]{, cache-policy}",
     ".load_mode = .tile .im2col_no_offs; .dim = .1d .2d .3d .4d .5d; .redOp = .and .or "
     ".xor .add .inc .dec .min .max; .completion_mechanism = .bulk_group; "
     ".level::cache_hint = .L2::cache_hint; "},
    {"tensormap.replace.tile.field{.ss}.b1024.type [addr], new-value",
     ".field = .global_address .rank .elemtype .interleave_layout .swizzle_mode .swizzle_atomicity .fill_mode; "
     ".ss = .global .shared::cta; .type = .b32 .b64"},
    {"tensormap.replace.tile.field{.ss}.b1024.type [addr], ord, new-value",
     ".field = .box_dim .global_dim .global_stride .element_stride; .ss = .global .shared::cta; .type = .b32 .b64"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], size",
     ".scope = .cta .cluster .gpu .sys"},
    // They need a request that was granted, and then a block of the test would not run: tests/emulator/launch_control.
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, response", ""},
    {"clusterlaunchcontrol.query_cancel.dimension.b32.b128 d, response",
     ".dimension = .get_first_ctaid::x .get_first_ctaid::y .get_first_ctaid::z"},
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
