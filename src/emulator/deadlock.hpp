// SPDX-License-Identifier: Apache-2.0
// Where the warps of a cluster stand when none can go on, or when the budget is used up: who waits
// where for what, and who could have released it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/decode.hpp"
#include "machine/block.hpp"

namespace ww::emulator {

// Lanes of a warp that stand at one instruction.
struct StandingLanes {
    machine::Coordinates block{};
    uint32_t rank = 0;  // of the block in its cluster
    uint32_t warp = 0;  // within the block
    machine::LaneMask lanes = 0;
    machine::Wait::Kind kind = machine::Wait::Kind::none;
    std::string waits;  // "waits at barrier 2 for 32 more thread(s)"; "can run"
    SourcePlace place;
    std::optional<uint32_t> barrier;  // its number
    struct Mbarrier {
        std::string name;  // "full[1]"
        uint32_t address = 0;
        bool parity = false;  // of the phase in progress
        uint32_t arrivals = 0, expected = 0;  // still pending, of how many
        int32_t bytes = 0;    // pending
    };
    std::optional<Mbarrier> mbarrier;
    // Who or what could have released it, a sentence each.
    std::vector<std::string> releasers;
};

struct Standing {
    std::string file;  // of the PTX
    bool clustered = false;
    std::vector<StandingLanes> lanes;
    size_t warps = 0, ended = 0;  // of the cluster; those all of whose threads have ended
};

Standing standing_of(const Kernel& kernel, const machine::Cluster& cluster);
// Indented lines, each after a newline; releasers only where they are asked for.
std::string to_text(const Standing& standing, bool releasers);

}  // namespace ww::emulator
