// SPDX-License-Identifier: Apache-2.0
// A block (CTA), its cluster and the grid around them: shared memory, barriers, launch dimensions,
// and the special registers that follow from them.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/async.hpp"
#include "machine/memory.hpp"
#include "machine/signals.hpp"
#include "machine/warp.hpp"

namespace ww::machine {

using Coordinates = std::array<uint32_t, 3>;

enum class Special : uint32_t {
    tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
    laneid, warpid, nwarpid, smid, nsmid, gridid, clock, clock_hi, clock64, globaltimer, globaltimer_lo,
    globaltimer_hi, lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
    clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
    cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z,
    cluster_ctarank, cluster_nctarank, is_explicit_cluster, total_smem_size, dynamic_smem_size,
    aggr_smem_size, reserved_smem_offset_begin, reserved_smem_offset_end, current_graph_exec, none,
    envreg0 = 1000  // and the 31 after it
};
constexpr uint32_t kEnvironmentRegisters = 32;
Special parse_special(std::string_view name);  // "%tid.x"; Special::none when unknown
int special_bytes(Special special);            // 4 or 8

// A named barrier (0..15). Arrival is counted a warp at a time, as the hardware does.
class Barrier {
  public:
    // Lanes of a warp arrive. expected: threads, a multiple of 32; 0: all threads of the block that
    // have not ended. vote_true: lanes whose bar.red predicate holds. Throws GuestTrap where the
    // hardware would hang or fault: another thread count than the phase's, too many arrivals.
    struct Arrival {
        bool completed = false;
        uint64_t generation = 0;  // the phase that was joined
    };
    Arrival arrive(Warp& warp, LaneMask lanes, uint32_t expected, LaneMask vote_true, Block& block);
    bool released(uint64_t generation) const { return generation_ > generation; }
    // An exit may complete a barrier. True when it did.
    bool recheck(Block& block);
    uint32_t pending(const Block& block) const;  // threads still missing
    bool in_use() const { return arrived_threads_ != 0; }
    // Of the phase in progress: lanes of a warp that arrived; threads that it is for, 0: all.
    LaneMask arrived_lanes(uint32_t warp) const { return warp < lanes_.size() ? lanes_[warp] : 0; }
    uint32_t expected() const { return expected_; }

    // Of the last completed phase. Lanes that waited for a phase keep its outcome as their own.
    BarrierOutcome last;

  private:
    uint32_t arrived(const Block& block) const;  // threads, whole warps where all live lanes came
    void complete(Block& block);
    uint64_t generation_ = 0;
    uint32_t expected_ = 0;          // of the phase in progress; 0: all threads
    uint32_t arrived_threads_ = 0;   // lanes that arrived in this phase
    std::vector<LaneMask> lanes_;    // per warp: lanes that arrived in this phase
    std::vector<uint32_t> extra_;    // per warp: threads of further arrivals in this phase (bar.arrive twice)
    uint32_t votes_ = 0;             // arrived lanes whose predicate holds
};

struct Grid {
    Coordinates grid_dim{1, 1, 1}, block_dim{1, 1, 1}, cluster_dim{1, 1, 1};
    GlobalMemory* global = nullptr;
    Region constant, params;  // .const bank; kernel parameters
    uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
    uint32_t local_bytes = 0;  // local memory of a thread: the stack limit
    std::array<uint32_t, kEnvironmentRegisters> environment{};  // %envreg0..31
    const struct Program* program = nullptr;
    EventSink* sink = nullptr;
    AsyncPolicy async;
    // Text of device printf, one call at a time; may be called from several threads.
    std::function<void(const class Block&, std::string_view)> print;
    // An instruction and its line, for messages about operations that were issued there.
    std::function<std::string(uint32_t inst)> describe_inst;
    // Takes a cluster that has not begun away from the launch: its number.
    std::function<std::optional<uint64_t>()> take_cluster;
    uint64_t lanes_of_block() const {
        return uint64_t{block_dim[0]} * block_dim[1] * block_dim[2];
    }
};

// Of the cluster with this number, in the order of launches: the id of its first block.
Coordinates first_block(const Grid& grid, uint64_t cluster);

struct Cluster;

class Block {
  public:
    Block(Cluster& cluster, uint32_t rank, Coordinates id, uint64_t linear_id);
    Cluster& cluster;
    Grid& grid;
    const uint32_t rank;  // in the cluster
    const Coordinates id;
    const uint64_t linear_id;
    std::vector<Warp> warps;
    std::array<Barrier, 16> barriers;
    Region shared;
    uint64_t clock = 0;  // instructions issued by this block: %clock counts these
    Coordinates thread_of(uint32_t warp, int lane) const;

  private:
    std::vector<uint8_t> shared_data_, shared_valid_, local_;
};

// barrier.cluster: all threads of a cluster that have not ended arrive, and may wait later.
class ClusterBarrier {
  public:
    // Lanes of a warp arrive. Throws GuestTrap when one does so twice without a wait between.
    void arrive(const Warp& warp, LaneMask lanes, const Cluster& cluster);
    // Lanes whose phase is over; they have waited then. Throws when one never arrived.
    LaneMask wait(const Warp& warp, LaneMask lanes);
    void recheck(const Cluster& cluster);  // after an exit
    bool released(uint64_t generation) const { return generation_ > generation; }
    uint64_t generation() const { return generation_; }
    uint32_t pending(const Cluster& cluster) const;  // threads that have not arrived
    LaneMask arrived_lanes(uint32_t key) const {     // of a warp, in this phase
        const auto it = warps_.find(key);
        return it == warps_.end() ? 0 : it->second.arrived;
    }

  private:
    struct Lanes {
        LaneMask arrived = 0;  // in this phase
        LaneMask owed = 0;     // arrived and did not wait since
    };
    std::map<uint32_t, Lanes> warps_;  // by Warp::key
    uint64_t generation_ = 0;
};

// Blocks that run at the same time and reach each other's shared memory. A grid without clusters
// has clusters of one block.
struct Cluster {
    // index: of the cluster in its grid, x fastest.
    Cluster(Grid& grid, uint64_t index);
    Grid& grid;
    const uint64_t index;
    std::vector<std::unique_ptr<Block>> blocks;  // by rank
    AsyncUnits async;
    ClusterBarrier barrier;
    SignalHistory signals;
};

// The value of a special register for 32 lanes, as 64-bit numbers.
void read_special(const Warp& warp, Special special, uint64_t* out);

}  // namespace ww::machine
