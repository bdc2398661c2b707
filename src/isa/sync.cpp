// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Parallel Synchronization and Communication Instructions": barriers of a block, a
// cluster and a warp, and fences. Fences order nothing here: every access of a thread is performed,
// for all threads and all proxies, before its next instruction; what is asynchronous waits for its
// own mechanism (src/machine/async.hpp).
#include "isa/isa.hpp"
#include "isa/warp_ops.hpp"
#include "machine/block.hpp"
#include "machine/fence.hpp"

namespace ww::isa {
namespace {

using machine::Barrier;
using machine::Fence;
using machine::GuestTrap;

// aux of the barrier instructions.
enum class Result : uint64_t { none, popc, all, any };

struct Arrived {
    uint32_t index;
    Barrier::Arrival arrival;
};

// The lanes that are here must agree on an operand of a barrier.
uint32_t uniform(Warp& w, const machine::Operand& operand, const char* what) {
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* value = w.in<uint32_t>(operand, scratch);
    if (same_as_first(value, w.active) != w.active)
        throw GuestTrap(std::string("lanes of one warp name different ") + what + " of a barrier");
    return value[__builtin_ctz(w.active)];
}

// Positions: a is the barrier, b the thread count (maybe left out), c the predicate of .red.
Arrived arrive(Warp& w, const Inst& in, int a, bool waits, LaneMask votes) {
    const uint32_t index = uniform(w, in[a][0], "numbers");
    if (index >= w.block->barriers.size())
        throw GuestTrap("barrier " + std::to_string(index) + " does not exist: a block has 16");
    const uint32_t count = in[a + 1].count ? uniform(w, in[a + 1][0], "thread counts") : 0;
    if (count == 0 && (!waits || in[a + 1].count))
        throw GuestTrap("the thread count of a barrier must not be 0");
    if (machine::EventSink* sink = w.grid->sink) sink->barrier_arrive(w, index, w.active, waits);
    return {index, w.block->barriers[index].arrive(w, w.active, count, votes, *w.block)};
}

void write_result(Warp& w, const Inst& in, const machine::BarrierOutcome& outcome) {
    switch (static_cast<Result>(in.aux)) {
        case Result::none:
            return;
        case Result::all:
            return w.set_predicate(in[0][0], outcome.all ? kAllLanes : 0);
        case Result::any:
            return w.set_predicate(in[0][0], outcome.any ? kAllLanes : 0);
        case Result::popc: {
            alignas(64) uint32_t result[kLanes];
            for (uint32_t& lane : result) lane = outcome.count;
            return write_words(w, in[0][0], result);
        }
    }
}

// bar.sync and bar.red. First: position of the barrier's number.
template <int First>
void run_barrier(Warp& w, const Inst& in) {
    if (w.active == 0) return;
    if (w.resumed) {
        write_result(w, in, w.outcome);
        return;
    }
    const LaneMask votes = First == 1 ? w.predicate(in[3][0]) : 0;
    const Arrived arrived = arrive(w, in, First, true, votes);
    if (arrived.arrival.completed)
        write_result(w, in, w.block->barriers[arrived.index].last);
    else
        w.wait_here({.kind = machine::Wait::Kind::barrier,
                     .barrier = arrived.index,
                     .generation = arrived.arrival.generation});
}

void run_arrive(Warp& w, const Inst& in) {
    if (w.active != 0) arrive(w, in, 0, false, 0);
}

void bind_sync(const Match& match, Binding& binding) {
    binding.aux = static_cast<uint64_t>(Result::none);
    if (check_value(match, 0, 4, binding)) binding.run = run_barrier<0>;
}
void bind_arrive(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding) && check_value(match, 1, 4, binding))
        binding.run = run_arrive;
}
void bind_red_popc(const Match& match, Binding& binding) {
    binding.aux = static_cast<uint64_t>(Result::popc);
    if (check_value(match, 0, 4, binding) && check_value(match, 1, 4, binding) &&
        check_predicate(match, 3, binding))
        binding.run = run_barrier<1>;
}
void bind_red(const Match& match, Binding& binding) {
    binding.aux = static_cast<uint64_t>(match.get(".op") == ".and" ? Result::all : Result::any);
    if (check_predicate(match, 0, binding) && check_value(match, 1, 4, binding) &&
        check_predicate(match, 3, binding))
        binding.run = run_barrier<1>;
}

void run_warp_sync(Warp& w, const Inst& in) {
    for_members(w, in, 0, nullptr, 0, [&](LaneMask lanes, LaneMask members) {
        if (machine::EventSink* sink = w.grid->sink) sink->warp_sync(w, lanes, members);
    });
}
void bind_warp_sync(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding)) binding.run = run_warp_sync;
}

// aux: 1 for .relaxed
void run_cluster_arrive(Warp& w, const Inst& in) {
    if (machine::EventSink* sink = w.grid->sink) sink->cluster_arrive(w, w.active, in.aux == 0);
    w.block->cluster.barrier.arrive(w, w.active, w.block->cluster);
}

void run_cluster_wait(Warp& w, const Inst&) {
    machine::ClusterBarrier& barrier = w.block->cluster.barrier;
    if (barrier.wait(w, w.active) == w.active) {
        if (machine::EventSink* sink = w.grid->sink) sink->cluster_wait(w, w.active);
        return;
    }
    w.wait_here({.kind = machine::Wait::Kind::cluster, .generation = barrier.generation()});
}
void bind_cluster_arrive(const Match& match, Binding& binding) {
    binding.aux = match.get(".sem") == ".relaxed";
    binding.run = run_cluster_arrive;
}
void bind_cluster_wait(const Match&, Binding& binding) { binding.run = run_cluster_wait; }

// Orders proxies that no access here goes through.
void run_no_fence(Warp&, const Inst&) {}
void run_fence(Warp& w, const Inst& in) {
    if (machine::EventSink* sink = w.grid->sink) sink->fence(w, in, machine::fence_kind(in), w.active);
}
// Of semantics and scope, what the row's text fixes.
template <Fence Kind, machine::Semantics Fixed = machine::Semantics::acq_rel, machine::Scope Reach = machine::Scope::cta>
void bind_fence(const Match& match, Binding& binding) {
    // membar is another name of fence.sc.
    binding.aux = machine::fence_aux(Kind, Kind == Fence::memory && (match.get(".sem") == ".sc" || !match.get(".level").empty()));
    binding.ordering = ordering_of(match, {Fixed, Reach});
    binding.run = run_fence;
}
constexpr auto bind_acquire_cluster = bind_fence<Fence::memory, machine::Semantics::acquire, machine::Scope::cluster>;
constexpr auto bind_release_cluster = bind_fence<Fence::memory, machine::Semantics::release, machine::Scope::cluster>;
constexpr auto bind_mbarrier_init = bind_fence<Fence::mbarrier_init, machine::Semantics::release, machine::Scope::cluster>;
void bind_no_fence(const Match&, Binding& binding) { binding.run = run_no_fence; }
void bind_proxy_fence(const Match& match, Binding& binding) {
    const std::string_view kind = match.get(".proxykind");
    if (kind == ".async") bind_fence<Fence::proxy_async>(match, binding);
    else if (kind == ".async.global") bind_fence<Fence::proxy_async_global>(match, binding);
    else if (kind.starts_with(".async.shared")) bind_fence<Fence::proxy_async_shared>(match, binding);
    else bind_no_fence(match, binding);
}

#define WW_PSC "parallel-synchronization-and-communication-instructions-"
#define WW_SCOPE ".scope = .cta .cluster .gpu .sys; "
constexpr std::string_view kBar = WW_PSC "bar";
constexpr std::string_view kFence = WW_PSC "membar";
constexpr std::string_view kCluster = WW_PSC "barrier-cluster";
constexpr std::string_view kProxies =
    ".proxykind = .alias .async .async.global .async.shared::cta .async.shared::cluster";
// clang-format off
constexpr Row kRows[] = {
    {"bar{.cta}.sync a{, b}", "", {10}, kBar, bind_sync},
    {"bar{.cta}.arrive a, b", "", {20, 20}, kBar, bind_arrive},
    {"bar{.cta}.red.popc.u32 d, a{, b}, {!}c", "", {20, 20}, kBar, bind_red_popc},
    {"bar{.cta}.red.op.pred p, a{, b}, {!}c", ".op = .and .or", {20, 20}, kBar, bind_red},
    {"barrier{.cta}.sync{.aligned} a{, b}", "", {60, 30}, kBar, bind_sync},
    {"barrier{.cta}.arrive{.aligned} a, b", "", {60, 30}, kBar, bind_arrive},
    {"barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}c", "", {60, 30}, kBar, bind_red_popc},
    {"barrier{.cta}.red.op{.aligned}.pred p, a{, b}, {!}c", ".op = .and .or", {60, 30}, kBar, bind_red},
    {"bar.warp.sync membermask", "", {60, 30}, WW_PSC "bar-warp-sync", bind_warp_sync},
    {"barrier.cluster.arrive{.sem}{.aligned}", ".sem = .release .relaxed", {78, 90}, kCluster, bind_cluster_arrive},
    {"barrier.cluster.wait{.acquire}{.aligned}", "", {78, 90}, kCluster, bind_cluster_wait},
    {"membar.level", ".level = .cta .gl .sys", {14}, kFence, bind_fence<Fence::memory>},
    {"membar.proxy.proxykind", kProxies, {75, 70}, kFence, bind_proxy_fence},
    {"fence{.sem}.scope", ".sem = .sc .acq_rel .acquire .release; " WW_SCOPE, {60, 70}, kFence, bind_fence<Fence::memory>},
    {"fence.acquire.sync_restrict::shared::cluster.cluster", "", {86, 90}, kFence, bind_acquire_cluster},
    {"fence.release.sync_restrict::shared::cta.cluster", "", {86, 90}, kFence, bind_release_cluster},
    {"fence.op_restrict.release.cluster", ".op_restrict = .mbarrier_init", {80, 90}, kFence, bind_mbarrier_init},
    {"fence.proxy.proxykind", kProxies, {75, 70}, kFence, bind_proxy_fence},
    {"fence.proxy.tensormap::generic.release.scope", WW_SCOPE, {83, 90}, kFence, bind_no_fence},
    {"fence.proxy.tensormap::generic.acquire.scope [addr], size", WW_SCOPE, {83, 90}, kFence, bind_no_fence},
    {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "", {86, 90}, kFence, bind_fence<Fence::proxy_async_shared>},
    {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "", {86, 90}, kFence, bind_fence<Fence::proxy_async_shared>},
};
// clang-format on

}  // namespace

std::span<const Row> sync_rows() { return kRows; }

}  // namespace ww::isa
