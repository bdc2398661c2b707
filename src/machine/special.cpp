// SPDX-License-Identifier: Apache-2.0
// Special registers (PTX manual, chapter 10).
#include <array>
#include <chrono>
#include <string>

#include "machine/block.hpp"

namespace ww::machine {
namespace {

struct SpecialRow {
    std::string_view name;
    Special special;
    int bytes = 4;
};

constexpr std::array kSpecials = {
    SpecialRow{"%tid.x", Special::tid_x}, SpecialRow{"%tid.y", Special::tid_y},
    SpecialRow{"%tid.z", Special::tid_z}, SpecialRow{"%ntid.x", Special::ntid_x},
    SpecialRow{"%ntid.y", Special::ntid_y}, SpecialRow{"%ntid.z", Special::ntid_z},
    SpecialRow{"%ctaid.x", Special::ctaid_x}, SpecialRow{"%ctaid.y", Special::ctaid_y},
    SpecialRow{"%ctaid.z", Special::ctaid_z}, SpecialRow{"%nctaid.x", Special::nctaid_x},
    SpecialRow{"%nctaid.y", Special::nctaid_y}, SpecialRow{"%nctaid.z", Special::nctaid_z},
    SpecialRow{"%laneid", Special::laneid}, SpecialRow{"%warpid", Special::warpid},
    SpecialRow{"%nwarpid", Special::nwarpid}, SpecialRow{"%smid", Special::smid},
    SpecialRow{"%nsmid", Special::nsmid}, SpecialRow{"%gridid", Special::gridid, 8},
    SpecialRow{"%clock", Special::clock}, SpecialRow{"%clock_hi", Special::clock_hi},
    SpecialRow{"%clock64", Special::clock64, 8}, SpecialRow{"%globaltimer", Special::globaltimer, 8},
    SpecialRow{"%globaltimer_lo", Special::globaltimer_lo},
    SpecialRow{"%globaltimer_hi", Special::globaltimer_hi},
    SpecialRow{"%lanemask_eq", Special::lanemask_eq}, SpecialRow{"%lanemask_le", Special::lanemask_le},
    SpecialRow{"%lanemask_lt", Special::lanemask_lt}, SpecialRow{"%lanemask_ge", Special::lanemask_ge},
    SpecialRow{"%lanemask_gt", Special::lanemask_gt}, SpecialRow{"%clusterid.x", Special::clusterid_x},
    SpecialRow{"%clusterid.y", Special::clusterid_y}, SpecialRow{"%clusterid.z", Special::clusterid_z},
    SpecialRow{"%nclusterid.x", Special::nclusterid_x}, SpecialRow{"%nclusterid.y", Special::nclusterid_y},
    SpecialRow{"%nclusterid.z", Special::nclusterid_z},
    SpecialRow{"%cluster_ctaid.x", Special::cluster_ctaid_x},
    SpecialRow{"%cluster_ctaid.y", Special::cluster_ctaid_y},
    SpecialRow{"%cluster_ctaid.z", Special::cluster_ctaid_z},
    SpecialRow{"%cluster_nctaid.x", Special::cluster_nctaid_x},
    SpecialRow{"%cluster_nctaid.y", Special::cluster_nctaid_y},
    SpecialRow{"%cluster_nctaid.z", Special::cluster_nctaid_z},
    SpecialRow{"%cluster_ctarank", Special::cluster_ctarank},
    SpecialRow{"%cluster_nctarank", Special::cluster_nctarank},
    SpecialRow{"%is_explicit_cluster", Special::is_explicit_cluster},
    SpecialRow{"%total_smem_size", Special::total_smem_size},
    SpecialRow{"%dynamic_smem_size", Special::dynamic_smem_size},
    SpecialRow{"%aggr_smem_size", Special::aggr_smem_size},
    SpecialRow{"%reserved_smem_offset_begin", Special::reserved_smem_offset_begin},
    SpecialRow{"%reserved_smem_offset_end", Special::reserved_smem_offset_end},
    SpecialRow{"%current_graph_exec", Special::current_graph_exec, 8},
};

constexpr bool within(Special value, Special first) {
    return static_cast<uint32_t>(value) - static_cast<uint32_t>(first) < 3;
}
constexpr uint32_t axis(Special value, Special first) {
    return static_cast<uint32_t>(value) - static_cast<uint32_t>(first);
}

uint64_t nanoseconds() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
}

// Value that is the same for every lane of the warp.
uint64_t uniform_value(const Warp& warp, Special special) {
    const Block& block = *warp.block;
    const Grid& grid = block.grid;
    const auto cluster_id = [&](uint32_t i) { return block.id[i] / grid.cluster_dim[i]; };
    const auto in_cluster = [&](uint32_t i) { return block.id[i] % grid.cluster_dim[i]; };
    if (within(special, Special::ntid_x)) return grid.block_dim[axis(special, Special::ntid_x)];
    if (within(special, Special::ctaid_x)) return block.id[axis(special, Special::ctaid_x)];
    if (within(special, Special::nctaid_x)) return grid.grid_dim[axis(special, Special::nctaid_x)];
    if (within(special, Special::clusterid_x)) return cluster_id(axis(special, Special::clusterid_x));
    if (within(special, Special::nclusterid_x)) {
        const uint32_t i = axis(special, Special::nclusterid_x);
        return grid.grid_dim[i] / grid.cluster_dim[i];
    }
    if (within(special, Special::cluster_ctaid_x)) return in_cluster(axis(special, Special::cluster_ctaid_x));
    if (within(special, Special::cluster_nctaid_x))
        return grid.cluster_dim[axis(special, Special::cluster_nctaid_x)];
    if (const uint32_t i = axis(special, Special::envreg0); i < kEnvironmentRegisters) return grid.environment[i];
    switch (special) {
        case Special::warpid: return warp.id;
        case Special::nwarpid: return block.warps.size();
        case Special::smid: return block.linear_id % 132;
        case Special::nsmid: return 132;
        case Special::clock: return static_cast<uint32_t>(block.clock);
        case Special::clock_hi: return block.clock >> 32;
        case Special::clock64: return block.clock;
        case Special::globaltimer: return nanoseconds();
        case Special::globaltimer_lo: return static_cast<uint32_t>(nanoseconds());
        case Special::globaltimer_hi: return nanoseconds() >> 32;
        case Special::cluster_ctarank:
            return in_cluster(0) + grid.cluster_dim[0] * (in_cluster(1) + grid.cluster_dim[1] * in_cluster(2));
        case Special::cluster_nctarank:
            return uint64_t{grid.cluster_dim[0]} * grid.cluster_dim[1] * grid.cluster_dim[2];
        case Special::is_explicit_cluster:
            return grid.cluster_dim[0] * grid.cluster_dim[1] * grid.cluster_dim[2] > 1;
        case Special::total_smem_size:
        case Special::aggr_smem_size: return block.shared.size;
        case Special::dynamic_smem_size: return grid.dynamic_shared_bytes;
        default: return 0;
    }
}

}  // namespace

Special parse_special(std::string_view name) {
    for (const SpecialRow& row : kSpecials)
        if (row.name == name) return row.special;
    constexpr std::string_view kEnvironment = "%envreg";
    if (!name.starts_with(kEnvironment)) return Special::none;
    for (uint32_t i = 0; i < kEnvironmentRegisters; ++i)
        if (name.substr(kEnvironment.size()) == std::to_string(i))
            return static_cast<Special>(static_cast<uint32_t>(Special::envreg0) + i);
    return Special::none;
}

int special_bytes(Special special) {
    for (const SpecialRow& row : kSpecials)
        if (row.special == special) return row.bytes;
    return 4;
}

void read_special(const Warp& warp, Special special, uint64_t* out) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const LaneMask bit = LaneMask{1} << lane;
        switch (special) {
            case Special::tid_x:
            case Special::tid_y:
            case Special::tid_z: out[lane] = warp.tid[axis(special, Special::tid_x)][lane]; break;
            case Special::laneid: out[lane] = lane; break;
            case Special::lanemask_eq: out[lane] = bit; break;
            case Special::lanemask_lt: out[lane] = bit - 1; break;
            case Special::lanemask_le: out[lane] = bit | (bit - 1); break;
            case Special::lanemask_gt: out[lane] = static_cast<LaneMask>(~(bit | (bit - 1))); break;
            case Special::lanemask_ge: out[lane] = static_cast<LaneMask>(~(bit - 1)); break;
            default: out[lane] = lane == 0 ? uniform_value(warp, special) : out[0];
        }
    }
}

}  // namespace ww::machine
