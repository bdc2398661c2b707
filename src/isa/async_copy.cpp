// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement": cp.async without .bulk, its groups, and its arrivals at mbarriers.
// Where the policy is eager, a copy is performed right here; else it becomes an operation of the
// cluster's asynchronous units (docs/async.md).
#include <array>
#include <memory>

#include "isa/async_groups.hpp"
#include "isa/isa.hpp"
#include "isa/mbarrier_ops.hpp"

namespace ww::isa {
namespace {

// extra of the aux.
enum class Source : uint8_t { whole, sized, ignorable };

void check_source(const Inst& in, uint64_t from, uint32_t size, int lane) {
    const uint32_t bytes = MemoryAux::unpack(in.aux).element_bytes;
    if (size > bytes)
        throw GuestTrap("src-size " + std::to_string(size) + " of cp.async is larger than its cp-size " +
                            std::to_string(bytes),
                        lane);
    if (from % bytes != 0)
        throw GuestTrap("misaligned source of cp.async: must be a multiple of " + std::to_string(bytes), lane);
}

// Zero-filled copies read only src-size bytes: lane by lane, since the sizes may differ.
void copy_partly(Warp& w, const Inst& in, const uint64_t* from, uint8_t* const* to,
                 const uint32_t* size) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!to[lane]) continue;
        check_source(in, from[lane], size[lane], lane);
        uint8_t bytes[16] = {};
        if (size[lane] != 0)
            std::memcpy(bytes,
                        w.access_lane(Space::global, from[lane], size[lane], Access::read, lane),
                        size[lane]);
        std::memcpy(to[lane], bytes, aux.element_bytes);
    }
}

template <int Bytes>
void copy_whole(Warp& w, const Inst& in, const uint64_t* from, uint8_t* const* to) {
    alignas(64) uint8_t* pointer[kLanes];
    w.access(in, Space::global, from, Bytes, Access::read, pointer);
    if (w.active == kAllLanes && is_contiguous(pointer, Bytes) && is_contiguous(to, Bytes)) {
        std::memcpy(to[0], pointer[0], Bytes * kLanes);
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane)
        if (to[lane]) std::memcpy(to[lane], pointer[lane], Bytes);
}

// Bytes that each lane reads, by the form of the instruction.
const uint32_t* source_sizes(const Warp& w, const Inst& in, uint32_t* scratch) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    if (static_cast<Source>(aux.extra) == Source::sized) return w.in<uint32_t>(in[3][0], scratch);
    const LaneMask ignored = static_cast<Source>(aux.extra) == Source::ignorable ? w.predicate(in[3][0]) : 0;
    for (int lane = 0; lane < kLanes; ++lane) scratch[lane] = (ignored >> lane & 1) ? 0 : aux.element_bytes;
    return scratch;
}

// The copies of one warp instruction, for later.
struct Copies {
    std::array<MemoryRange, kLanes> from{}, to{};
};

void issue_copies(Warp& w, const Inst& in, const uint64_t* from, const uint64_t* to) {
    const uint32_t bytes = MemoryAux::unpack(in.aux).element_bytes;
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* size = source_sizes(w, in, scratch);
    AsyncOperation operation{.unit = machine::Unit::copy, .inst = &in, .warp = w.key, .parties = w.active};
    const auto copies = std::make_shared<Copies>();
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const size_t i = static_cast<size_t>(lane);
        check_source(in, from[lane], size[lane], lane);
        copies->to[i] = w.range(Space::shared, to[lane], bytes, bytes, Access::write, lane);
        if (size[lane] != 0) copies->from[i] = w.range(Space::global, from[lane], size[lane], 1, Access::read, lane);
        operation.destinations.push_back({copies->to[i].in_cluster(), bytes, LaneMask{1} << lane});
    }
    operation.write = [&w, &in, copies](AsyncOperation& self, uint32_t lanes) {
        for (; lanes; lanes &= lanes - 1) {
            const size_t i = static_cast<size_t>(__builtin_ctz(lanes));
            const AsyncAccess by{w, in, Agent::copy, self.number, static_cast<int>(i)};
            uint8_t data[16] = {};
            if (copies->from[i].bytes != 0) by.read(copies->from[i], data);
            by.write(copies->to[i], data);
        }
    };
    w.block->cluster.async.issue(std::move(operation), w);
}

// in: [dst], [src], cp-size, src-size or ignore-src, cache-policy
void run_cp_async(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t to_address[kLanes], from[kLanes];
    alignas(64) uint8_t* to[kLanes];
    w.addresses(in[0], to_address);
    w.addresses(in[1], from);
    if (!w.block->cluster.async.eager() || w.grid->sink) return issue_copies(w, in, from, to_address);
    w.access(in, Space::shared, to_address, aux.element_bytes, Access::write, to);
    if (static_cast<Source>(aux.extra) != Source::whole) {
        alignas(64) uint32_t scratch[kLanes];
        return copy_partly(w, in, from, to, source_sizes(w, in, scratch));
    }
    switch (aux.element_bytes) {
        case 4:
            return copy_whole<4>(w, in, from, to);
        case 8:
            return copy_whole<8>(w, in, from, to);
        default:
            return copy_whole<16>(w, in, from, to);
    }
}

void bind_cp_async(const Match& match, Binding& binding) {
    const OperandInfo& size = match.operands[2];
    const bool fits =
        size.immediate &&
        (size.value == 16 || (match.has(".ca") && (size.value == 4 || size.value == 8)));
    if (!fits) {
        binding.error =
            match.has(".ca") ? "cp-size must be 4, 8 or 16" : "cp-size of cp.async.cg must be 16";
        return;
    }
    // With a cache hint, a single operand more is the policy.
    const bool policy_only =
        match.has(".level::cache_hint") && match.operands[4].kind == OperandInfo::Kind::absent;
    const OperandInfo source = policy_only ? OperandInfo{} : match.operands[3];
    const Source form = source.kind == OperandInfo::Kind::absent      ? Source::whole
                        : source.kind == OperandInfo::Kind::predicate ? Source::ignorable
                                                                      : Source::sized;
    if (form == Source::sized && !check_value(match, 3, 4, binding)) return;
    binding.aux = MemoryAux{.space = Space::shared,
                            .element_bytes = static_cast<uint8_t>(size.value),
                            .extra = static_cast<uint8_t>(form)}
                      .pack();
    binding.run = run_cp_async;
}

void run_commit(Warp& w, const Inst&) { commit_group(w, {.unit = machine::Unit::copy, .warp = w.key, .parties = w.active}); }

// aux: the number of groups that may be in flight afterwards.
void run_wait(Warp& w, const Inst& in) {
    wait_for_groups(w, {.unit = machine::Unit::copy,
                        .warp = w.key,
                        .parties = w.active,
                        .keep = static_cast<uint32_t>(in.aux)});
}

void run_wait_all(Warp& w, const Inst& in) {
    if (!w.resumed) run_commit(w, in);
    run_wait(w, in);
}

// aux: a MemoryAux; extra 1: .noinc. Lanes with one mbarrier share an operation.
void run_arrive(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    w.addresses(in[0], address);
    for (LaneMask left = w.active; left;) {
        const int first = __builtin_ctz(left);
        const MemoryRange at = mbarrier_range(w, aux.space, address[first], first);
        LaneMask lanes = 0;
        for (int lane = first; lane < kLanes; ++lane)
            if ((left >> lane & 1) && address[lane] == address[first]) lanes |= LaneMask{1} << lane;
        left &= ~lanes;
        for (LaneMask each = lanes; each && !aux.extra; each &= each - 1)
            update_mbarrier({w, in, Agent::thread, 0, __builtin_ctz(each)}, at, MbarrierEvent::Kind::count, [](Mbarrier& m) {
                m.add_pending();
                return 0;
            });
        AsyncOperation operation{.unit = machine::Unit::copy,
                                 .inst = &in,
                                 .warp = w.key,
                                 .parties = lanes,
                                 .grouped = false,
                                 .arrival = true,
                                 .mbarrier = at.in_cluster()};
        operation.write = [&w, &in, at](AsyncOperation& self, uint32_t some) {
            for (; some; some &= some - 1)
                update_mbarrier({w, in, Agent::copy, self.number, __builtin_ctz(some)}, at,
                                MbarrierEvent::Kind::arrive, [](Mbarrier& m) { return m.arrive(1); });
        };
        w.block->cluster.async.issue(std::move(operation), w);
    }
}

void bind_commit(const Match&, Binding& binding) { binding.run = run_commit; }
void bind_wait_all(const Match&, Binding& binding) { binding.run = run_wait_all; }
void bind_wait_group(const Match& match, Binding& binding) {
    if (take_group_count(match, binding)) binding.run = run_wait;
}
void bind_arrive(const Match& match, Binding& binding) {
    binding.aux = MemoryAux{.space = Match::space(match.get(".shared")), .extra = match.has(".noinc")}.pack();
    binding.run = run_arrive;
}

#define WW_DM "data-movement-and-conversion-instructions-"
#define WW_MODIFIERS                                                         \
    ".shared = .shared .shared::cta; .level::cache_hint = .L2::cache_hint; " \
    ".level::prefetch_size = .L2::64B .L2::128B .L2::256B"
// clang-format off
constexpr Row kRows[] = {
    {"cp.async.ca.shared.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy}",
     WW_MODIFIERS, {70, 80}, WW_DM "cp-async", bind_cp_async},
    {"cp.async.cg.shared.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy}",
     WW_MODIFIERS, {70, 80}, WW_DM "cp-async", bind_cp_async},
    {"cp.async.commit_group", "", {70, 80}, WW_DM "cp-async-commit-group", bind_commit},
    {"cp.async.wait_group n", "", {70, 80}, WW_DM "cp-async-wait-group", bind_wait_group},
    {"cp.async.wait_all", "", {70, 80}, WW_DM "cp-async-wait-group", bind_wait_all},
    {"cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]", ".shared = .shared .shared::cta", {70, 80},
     "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive", bind_arrive},
};
// clang-format on

}  // namespace

std::span<const Row> async_copy_rows() { return kRows; }

}  // namespace ww::isa
