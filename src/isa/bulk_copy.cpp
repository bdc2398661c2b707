// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk: copies of any multiple of 16 bytes between global and shared memory, their groups,
// and prefetch. Each executing lane issues a copy of its own.
#include "isa/async_groups.hpp"
#include "isa/bulk_ops.hpp"

namespace ww::isa {
namespace {

using machine::Unit;

constexpr uint32_t kAlign = 16;

template <class F>
void each_lane(const Warp& w, F&& f) {
    for (LaneMask left = w.active; left; left &= left - 1) f(__builtin_ctz(left));
}

struct Operands {
    alignas(64) uint64_t to[kLanes], from[kLanes], mbarrier[kLanes];
    alignas(64) uint32_t size_scratch[kLanes];
    const uint32_t* size = nullptr;
};

void copy_now(const AsyncAccess& by, const BulkPlace& place) {
    std::vector<uint8_t> bytes(place.from.bytes);
    by.read(place.from, bytes.data());
    by.write(place.to, bytes.data());
    if (place.signals) signal_bytes(by, place);
}

void issue_load(Warp& w, const Inst& in, int lane, const BulkPlace& place) {
    AsyncOperation operation = bulk_operation(w, in, lane, place);
    operation.write = [&w, &in, lane, place](AsyncOperation& self, uint32_t) {
        copy_now({w, in, Agent::bulk, self.number, lane}, place);
    };
    w.block->cluster.async.issue(std::move(operation), w);
}

// The same offsets in the shared memory of the block with that rank.
BulkPlace at_rank(Warp& w, const BulkPlace& own, uint32_t rank, int lane) {
    BulkPlace place = own;
    place.to = w.range(Space::shared, machine::cluster_address(rank, own.to.offset), own.to.bytes, kAlign, Access::write, lane);
    place.mbarrier = mbarrier_range(w, Space::shared, machine::cluster_address(rank, own.mbarrier.offset), lane);
    return place;
}

// What `extra` of the aux says.
enum class To : uint8_t { own, cluster, multicast, other };

// in: [dst], [src], size, [mbar], cta-mask
void run_load(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    const To to = static_cast<To>(aux.extra);
    Operands given;
    alignas(64) uint16_t mask_scratch[kLanes];
    w.addresses(in[0], given.to);
    w.addresses(in[1], given.from);
    w.addresses(in[3], given.mbarrier);
    given.size = w.in<uint32_t>(in[2][0], given.size_scratch);
    const uint16_t* masks = to == To::multicast ? w.in<uint16_t>(in[4][0], mask_scratch) : nullptr;
    each_lane(w, [&](int lane) {
        const uint32_t size = bulk_size(given.size[lane], lane);
        BulkPlace place{.from = w.range(aux.space, given.from[lane], size, kAlign, Access::read, lane),
                        .to = w.range(Space::shared, given.to[lane], size, kAlign, Access::write, lane),
                        .mbarrier = mbarrier_range(w, Space::shared, given.mbarrier[lane], lane),
                        .signals = true};
        if (to == To::own && (place.to.remote || place.mbarrier.remote))
            throw GuestTrap("a bulk copy to .shared::cta writes and signals the own block's shared memory only", lane);
        if (to == To::other && !place.to.remote)
            throw GuestTrap("a bulk copy from .shared::cta to .shared::cluster must go to another block of the cluster", lane);
        if (to != To::multicast) return issue_load(w, in, lane, place);
        for (uint32_t rank = 0; rank < 16; ++rank)
            if (masks[lane] >> rank & 1) issue_load(w, in, lane, at_rank(w, place, rank, lane));
    });
}

void bind_load(const Match& match, Binding& binding, Space from, To to) {
    if (!check_value(match, 2, 4, binding)) return;
    if (to == To::multicast && !check_value(match, 4, 2, binding)) return;
    binding.aux = MemoryAux{.space = from, .extra = static_cast<uint8_t>(to)}.pack();
    binding.run = run_load;
}

// Two steps, since wait_group.read asks for the first alone. mask: one bit a byte of 16.
void issue_store(Warp& w, const Inst& in, int lane, const BulkPlace& place, uint16_t mask) {
    AsyncOperation operation = bulk_operation(w, in, lane, place);
    operation.read = [&w, &in, lane, place](AsyncOperation& self, uint32_t) {
        self.data.resize(place.from.bytes);
        AsyncAccess{w, in, Agent::bulk, self.number, lane}.read(place.from, self.data.data());
    };
    operation.write = [&w, &in, lane, place, mask](AsyncOperation& self, uint32_t) {
        const AsyncAccess by{w, in, Agent::bulk, self.number, lane};
        if (mask == 0xffff) return by.write(place.to, self.data.data());
        for (uint64_t i = 0; i < place.to.bytes; ++i) {
            if (!(mask >> i % 16 & 1)) continue;
            MemoryRange byte = place.to;
            byte.offset += i;
            byte.bytes = 1;
            by.write(byte, &self.data[i]);
        }
    };
    w.block->cluster.async.issue(std::move(operation), w);
}

// in: [dst], [src], size, cache-policy, byte-mask; aux: position of the byte-mask, or 0
void run_store(Warp& w, const Inst& in) {
    Operands given;
    alignas(64) uint16_t mask_scratch[kLanes];
    w.addresses(in[0], given.to);
    w.addresses(in[1], given.from);
    given.size = w.in<uint32_t>(in[2][0], given.size_scratch);
    const uint16_t* masks = in.aux ? w.in<uint16_t>(in[static_cast<int>(in.aux)][0], mask_scratch) : nullptr;
    LaneMask again = 0;  // lanes whose store another lane does for them
    each_lane(w, [&](int lane) {
        if (again >> lane & 1) return;
        LaneMask same = lanes_with(given.to, lane) & lanes_with(given.from, lane) & lanes_with(given.size, lane);
        if (masks) same &= lanes_with(masks, lane);
        again |= same;
        const uint32_t size = bulk_size(given.size[lane], lane);
        const BulkPlace place{.from = w.range(Space::shared, given.from[lane], size, kAlign, Access::read, lane),
                              .to = w.range(Space::global, given.to[lane], size, kAlign, Access::write, lane)};
        issue_store(w, in, lane, place, masks ? masks[lane] : uint16_t{0xffff});
    });
}

// The whole effect of a hint here: its address is checked. in: [src], size
void run_prefetch(Warp& w, const Inst& in) {
    Operands given;
    w.addresses(in[0], given.from);
    given.size = w.in<uint32_t>(in[1][0], given.size_scratch);
    each_lane(w, [&](int lane) {
        const uint32_t size = bulk_size(given.size[lane], lane);
        w.range(Space::global, given.from[lane], size, kAlign, Access::read, lane);
    });
}

void run_commit(Warp& w, const Inst&) { commit_group(w, {.unit = Unit::bulk, .warp = w.key, .parties = w.active}); }

// aux: groups that may stay in flight; bit 32: .read
void run_wait(Warp& w, const Inst& in) {
    wait_for_groups(w, {.unit = Unit::bulk,
                        .warp = w.key,
                        .parties = w.active,
                        .keep = static_cast<uint32_t>(in.aux),
                        .reads_only = (in.aux >> 32) != 0});
}

}  // namespace

uint32_t bulk_size(uint32_t size, int lane) {
    if (size % kAlign != 0)
        throw GuestTrap("the size of a bulk operation must be a multiple of 16 bytes, not " + std::to_string(size), lane);
    return size;
}

AsyncOperation bulk_operation(Warp& w, const Inst& in, int lane, const BulkPlace& place) {
    AsyncOperation operation{.unit = Unit::bulk,
                             .inst = &in,
                             .warp = w.key,
                             .parties = LaneMask{1} << lane,
                             .grouped = !place.signals};
    if (place.signals) operation.mbarrier = place.mbarrier.in_cluster();
    if (place.to.space == Space::shared)
        operation.destinations.push_back({place.to.in_cluster(), static_cast<uint32_t>(place.to.bytes)});
    return operation;
}

void signal_bytes(const AsyncAccess& by, const BulkPlace& place) {
    update_mbarrier(by, place.mbarrier, MbarrierEvent::Kind::complete_tx,
                    [&](Mbarrier& m) { return m.complete_transactions(static_cast<uint32_t>(place.to.bytes)); });
}

void bind_bulk_load(const Match& match, Binding& binding) {
    bind_load(match, binding, Space::global,
              match.has(".multicast::cluster") ? To::multicast
              : match.has(".shared::cluster")  ? To::cluster
                                               : To::own);
}
void bind_bulk_share(const Match& match, Binding& binding) { bind_load(match, binding, Space::shared, To::other); }

void bind_bulk_store(const Match& match, Binding& binding) {
    if (!check_value(match, 2, 4, binding)) return;
    if (match.has(".cp_mask")) {
        const int position = match.has(".level::cache_hint") ? 4 : 3;
        if (!check_value(match, position, 2, binding)) return;
        binding.aux = static_cast<uint64_t>(position);
    }
    binding.run = run_store;
}

void bind_bulk_prefetch(const Match& match, Binding& binding) {
    if (check_value(match, 1, 4, binding)) binding.run = run_prefetch;
}
void bind_bulk_commit(const Match&, Binding& binding) { binding.run = run_commit; }
void bind_bulk_wait(const Match& match, Binding& binding) {
    if (!take_group_count(match, binding)) return;
    binding.aux |= uint64_t{match.has(".read")} << 32;
    binding.run = run_wait;
}

}  // namespace ww::isa
