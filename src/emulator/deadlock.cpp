// SPDX-License-Identifier: Apache-2.0
#include "emulator/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "emulator/shared_name.hpp"
#include "machine/mbarrier.hpp"

namespace ww::emulator {

using machine::Block;
using machine::LaneMask;
using machine::Mbarrier;
using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

constexpr size_t kMostWarpsTold = 24, kMostReleasers = 8;

std::string_view unit_name(machine::Unit unit) {
    return unit == machine::Unit::copy ? "cp.async" : unit == machine::Unit::bulk ? "cp.async.bulk" : "wgmma";
}

const uint8_t* mbarrier_of(const Warp& warp, const Wait& wait) { return warp.block->shared.data + wait.mbarrier; }

std::vector<Split> splits_of(const Warp& warp) {
    std::vector<Split> splits = warp.parked;
    if (warp.mask) splits.push_back(Split{warp.pc, warp.mask, warp.frame, warp.wait, false});
    return splits;
}

// Who polls is already behind the question.
uint32_t inst_of(const Split& split) { return split.pc - (split.wait.kind == Wait::Kind::poll); }

// Instructions that may signal an mbarrier, by their text.
bool signals(std::string_view text) {
    if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
    return text.starts_with("mbarrier.arrive") || text.starts_with("mbarrier.complete_tx") || text.starts_with("cp.async.mbarrier.arrive") ||
           text.starts_with("tcgen05.commit") || text.find("mbarrier::complete_tx") != std::string_view::npos ||
           text.find("mbarrier::arrive") != std::string_view::npos;
}

class Reporter {
  public:
    Reporter(const Kernel& kernel, const machine::Cluster& cluster) : kernel_(kernel), cluster_(cluster) {}

    Standing all() const {
        Standing out;
        out.file = kernel_.module->name;
        out.clustered = cluster_.blocks.size() > 1;
        for (const auto& block : cluster_.blocks)
            for (const Warp& warp : block->warps) {
                ++out.warps;
                out.ended += warp.alive() == 0;
                for (const Split& split : splits_of(warp)) out.lanes.push_back(standing(warp, split));
            }
        return out;
    }

  private:
    StandingLanes standing(const Warp& warp, const Split& split) const {
        StandingLanes out;
        out.block = warp.block->id;
        out.rank = warp.block->rank;
        out.warp = warp.id;
        out.lanes = split.mask;
        out.kind = split.wait.kind;
        out.place = source_place(kernel_, inst_of(split));
        if (split.wait.kind == Wait::Kind::barrier) out.barrier = split.wait.barrier;
        if (split.wait.kind == Wait::Kind::mbarrier || split.wait.kind == Wait::Kind::poll) out.mbarrier = mbarrier(warp, split.wait);
        out.waits = wait_text(warp, split, out.mbarrier);
        out.releasers = releasers(warp, split, out.mbarrier);
        return out;
    }

    // None: the bytes are no mbarrier any more, or the phase is complete.
    std::optional<StandingLanes::Mbarrier> mbarrier(const Warp& warp, const Wait& wait) const {
        const uint8_t* at = mbarrier_of(warp, wait);
        if (machine::phase_completed(at, wait.parity)) return std::nullopt;
        const Mbarrier object = Mbarrier::load(at);
        return StandingLanes::Mbarrier{.name = shared_name(kernel_, wait.mbarrier), .address = wait.mbarrier, .parity = object.parity(),
                                       .arrivals = object.pending(), .expected = object.expected(), .bytes = object.transactions()};
    }

    std::string wait_text(const Warp& warp, const Split& split, const std::optional<StandingLanes::Mbarrier>& mbarrier) const {
        const Wait& wait = split.wait;
        switch (wait.kind) {
            case Wait::Kind::barrier:
                return fmt::format("waits at barrier {} for {} more thread(s)", wait.barrier, warp.block->barriers[wait.barrier].pending(*warp.block));
            case Wait::Kind::cluster:
                return fmt::format("waits at the cluster's barrier for {} more thread(s)", cluster_.barrier.pending(cluster_));
            case Wait::Kind::lanes: return fmt::format("waits for lanes {:#010x}", wait.lanes & ~split.mask & warp.alive());
            case Wait::Kind::group: {
                const machine::AsyncOperation* blocker = cluster_.async.blocker_of(wait.group);
                const std::string_view unit = unit_name(wait.group.unit);
                if (!blocker || blocker->missing == 0) return fmt::format("waits for its groups of {}", unit);
                return fmt::format("waits for a {} that warps {} of the warpgroup have not executed", unit, machine::missing_warps(*blocker));
            }
            case Wait::Kind::mbarrier:
            case Wait::Kind::poll: {
                const std::string_view verb = wait.kind == Wait::Kind::poll ? "polls" : "waits for";
                if (!mbarrier) return fmt::format("{} the mbarrier at shared address {:#x}", verb, wait.mbarrier);
                return fmt::format("{} the mbarrier {} at shared address {:#x} to complete its phase ({})", verb, mbarrier->name, wait.mbarrier,
                                   Mbarrier::load(mbarrier_of(warp, wait)).describe());
            }
            case Wait::Kind::none: break;
        }
        return "can run";
    }

    // ---- places and states in a few words ----
    std::string line_of(uint32_t inst) const {
        const SourcePlace place = source_place(kernel_, inst);
        return fmt::format("{}:{}{}", kernel_.module->name, place.ptx_line, place.line > 0 ? fmt::format(", {}:{}", place.file, place.line) : "");
    }

    // "waits at barrier 2 (k.ptx:20)"
    std::string state(const Warp& warp, const Split& split) const {
        const Wait& wait = split.wait;
        std::string what = "can run";
        if (wait.kind == Wait::Kind::barrier) what = fmt::format("waits at barrier {}", wait.barrier);
        if (wait.kind == Wait::Kind::cluster) what = "waits at the cluster's barrier";
        if (wait.kind == Wait::Kind::lanes) what = fmt::format("waits for lanes {:#010x}", wait.lanes & ~split.mask & warp.alive());
        if (wait.kind == Wait::Kind::group) what = fmt::format("waits for its groups of {}", unit_name(wait.group.unit));
        if (wait.kind == Wait::Kind::mbarrier) what = "waits for the mbarrier " + shared_name(kernel_, wait.mbarrier);
        if (wait.kind == Wait::Kind::poll) what = "polls the mbarrier " + shared_name(kernel_, wait.mbarrier);
        return fmt::format("{} ({})", what, line_of(inst_of(split)));
    }

    // Of the lanes that are asked for; lanes that ended are not told.
    std::string states(const Warp& warp, LaneMask lanes) const {
        std::vector<std::string> out;
        for (const Split& split : splits_of(warp)) {
            if ((split.mask & lanes) == 0) continue;
            const bool whole = split.mask == warp.alive();
            out.push_back(whole ? state(warp, split) : fmt::format("lanes {:#010x}: {}", split.mask & lanes, state(warp, split)));
        }
        return out.empty() ? "has ended" : join(out, "; ");
    }

    std::string name(const Warp& warp) const {
        return cluster_.blocks.size() > 1 ? fmt::format("warp {} of block {} of the cluster", warp.id, warp.block->rank) : fmt::format("warp {}", warp.id);
    }
    const Warp& warp_of(uint32_t key) const { return cluster_.blocks[key / machine::kWarpsOfBlock]->warps[key % machine::kWarpsOfBlock]; }
    std::string thread_text(const Warp& warp, int lane) const {
        const machine::Coordinates thread = warp.block->thread_of(warp.id, lane);
        return fmt::format("({},{},{})", thread[0], thread[1], thread[2]);
    }

    // ---- who could have released a wait ----
    std::vector<std::string> releasers(const Warp& warp, const Split& split, const std::optional<StandingLanes::Mbarrier>& mbarrier) const {
        switch (split.wait.kind) {
            case Wait::Kind::barrier: return of_barrier(*warp.block, split.wait.barrier);
            case Wait::Kind::cluster: return of_cluster();
            case Wait::Kind::lanes: return {fmt::format("not there: {}", states(warp, split.wait.lanes & ~split.mask & warp.alive()))};
            case Wait::Kind::group: return of_group(split.wait.group);
            case Wait::Kind::mbarrier:
            case Wait::Kind::poll:
                if (mbarrier) return of_mbarrier(*warp.block, *mbarrier);
                break;
            case Wait::Kind::none: break;
        }
        return {};
    }

    // Warps in the same state share a sentence.
    class Missing {
      public:
        void add(std::string warp, std::string state) {
            const auto it = std::find_if(groups_.begin(), groups_.end(), [&](const auto& each) { return each.first == state; });
            if (it == groups_.end()) groups_.push_back({std::move(state), {std::move(warp)}});
            else it->second.push_back(std::move(warp));
        }
        std::vector<std::string> told(std::string_view nobody) const {
            std::vector<std::string> out;
            for (const auto& [state, warps] : groups_) {
                if (out.size() == kMostReleasers) {
                    out.push_back(fmt::format("... {} more", groups_.size() - kMostReleasers));
                    break;
                }
                out.push_back(fmt::format("not arrived: {}: {}", join(warps, ", "), state));
            }
            if (out.empty()) out.emplace_back(nobody);
            return out;
        }

      private:
        std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
    };

    std::vector<std::string> of_barrier(const Block& block, uint32_t index) const {
        const machine::Barrier& barrier = block.barriers[index];
        Missing missing;
        for (const Warp& warp : block.warps) {
            const LaneMask came = barrier.arrived_lanes(warp.id), left = warp.alive() & ~came;
            if (left) missing.add(name(warp), states(warp, left));
            else if (came == 0 && barrier.expected() != 0) missing.add(name(warp), "has ended");
        }
        return missing.told(fmt::format("nobody: every thread of the block has arrived; the barrier expects {}", barrier.expected()));
    }

    std::vector<std::string> of_cluster() const {
        Missing missing;
        for (const auto& block : cluster_.blocks)
            for (const Warp& warp : block->warps)
                if (const LaneMask left = warp.alive() & ~cluster_.barrier.arrived_lanes(warp.key)) missing.add(name(warp), states(warp, left));
        return missing.told("nobody: every thread of the cluster has arrived");
    }

    std::string operation_text(const machine::AsyncOperation& operation) const {
        const Warp& issuer = warp_of(operation.warp);
        return fmt::format("in flight: {} ({}), issued by {}", source_place(kernel_, operation.inst->index).text, line_of(operation.inst->index), name(issuer));
    }

    std::vector<std::string> of_group(const machine::GroupWait& wait) const {
        std::vector<std::string> out;
        for (const machine::AsyncOperation* each : cluster_.async.awaited(wait)) {
            if (out.size() == kMostReleasers) return out.push_back("... and more in flight"), out;
            out.push_back(operation_text(*each));
            for (uint32_t left = each->missing; left; left &= left - 1) {
                const Warp& warp = warp_of(each->warp + static_cast<uint32_t>(__builtin_ctz(left)));
                out.back() += fmt::format("; not executed by {}: {}", name(warp), states(warp, warp.alive()));
            }
        }
        return out;
    }

    std::string signal_text(const machine::Signal& signal) const {
        const Warp& warp = warp_of(signal.warp);
        const std::string times = signal.times == 1 ? "once" : fmt::format("{} times", signal.times);
        const std::string what = signal.bytes ? fmt::format("bytes came {}, last for thread {}", times, thread_text(warp, signal.lane))
                                              : fmt::format("arrived {}, last by thread {}", times, thread_text(warp, signal.lane));
        return fmt::format("signalled before by {}: {}, at {} ({}); it {}", name(warp), what, source_place(kernel_, signal.inst).text,
                           line_of(signal.inst), states(warp, warp.alive()));
    }

    std::vector<std::string> of_mbarrier(const Block& block, const StandingLanes::Mbarrier& mbarrier) const {
        std::vector<std::string> out;
        const uint32_t object = machine::cluster_offset(block.rank, mbarrier.address);
        if (mbarrier.arrivals == 0 && mbarrier.bytes < 0)
            out.push_back(fmt::format("nobody: {} bytes more came than were announced", -mbarrier.bytes));
        if (mbarrier.arrivals == 0 && mbarrier.bytes > 0)
            out.push_back(fmt::format("all arrivals are there; {} bytes were announced that nothing has brought", mbarrier.bytes));
        if (const machine::AsyncOperation* each = cluster_.async.signaller_of(object)) out.push_back(operation_text(*each));
        const machine::SignalHistory::Signals known = cluster_.signals.of(object);
        const bool fresh = mbarrier.arrivals == mbarrier.expected && mbarrier.bytes == 0;
        if (fresh && known[0].times != 0) out.emplace_back("nothing has signalled it since its last phase was completed");
        for (const machine::Signal& each : known)
            if (each.times != 0) out.push_back(signal_text(each));
        if (known[0].times == 0) out.push_back(never_signalled());
        return out;
    }

    std::string never_signalled() const {
        std::vector<std::string> lines;
        for (uint32_t inst = 0; inst < kernel_.program.code.size() && lines.size() < kMostReleasers; ++inst)
            if (kernel_.source[inst] && signals(source_place(kernel_, inst).text)) lines.push_back(line_of(inst));
        if (lines.empty()) return "nobody: the kernel has no instruction that signals an mbarrier";
        return "nothing has ever signalled it; the kernel signals mbarriers at " + join(lines, "; ");
    }

    const Kernel& kernel_;
    const machine::Cluster& cluster_;
};

}  // namespace

Standing standing_of(const Kernel& kernel, const machine::Cluster& cluster) { return Reporter(kernel, cluster).all(); }

std::string to_text(const Standing& standing, bool releasers) {
    std::string text;
    for (size_t i = 0; i < standing.lanes.size(); ++i) {
        if (i == kMostWarpsTold) return text + fmt::format("\n    ... {} more", standing.lanes.size() - i);
        const StandingLanes& each = standing.lanes[i];
        const std::string rank = standing.clustered ? fmt::format("block {} of the cluster, ", each.rank) : "";
        text += fmt::format("\n    {}warp {} lanes {:#010x} {} at {} ({}:{}{})", rank, each.warp, each.lanes, each.waits, each.place.text,
                            standing.file, each.place.ptx_line, each.place.line > 0 ? fmt::format(", {}:{}", each.place.file, each.place.line) : "");
        if (!releasers) continue;
        // Those that wait for the same are told once.
        const bool known = i > 0 && standing.lanes[i - 1].releasers == each.releasers;
        if (known && !each.releasers.empty()) text += "\n        the same";
        else for (const std::string& line : each.releasers) text += "\n        " + line;
    }
    if (releasers)
        text += fmt::format("\n    nobody else is left: {} of {} warps have ended, the others wait", standing.ended, standing.warps);
    return text;
}

}  // namespace ww::emulator
