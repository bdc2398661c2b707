// SPDX-License-Identifier: Apache-2.0
// st.async and red.async to shared memory of the cluster: a value of each lane arrives later and
// counts its bytes at an mbarrier; to global memory: it arrives later, and nobody is told. And st.bulk,
// which is done at once.
#include <type_traits>
#include <vector>

#include "isa/bulk_ops.hpp"

namespace ww::isa {
namespace {

constexpr uint32_t kMaxBytes = 32;  // four values of 8 bytes

// The values of one lane, one after the other.
void gather_values(const Warp& w, const machine::Arg& arg, uint32_t bytes, int lane, uint8_t* out) {
    alignas(64) uint64_t scratch[kLanes];
    const auto lanes_as = [&](const machine::Operand& operand, auto* as) {
        using T = std::remove_pointer_t<decltype(as)>;
        return reinterpret_cast<const uint8_t*>(w.in<T>(operand, reinterpret_cast<T*>(scratch)));
    };
    for (int i = 0; i < arg.count; ++i) {
        const uint8_t* lanes = bytes == 1   ? lanes_as(arg[i], static_cast<uint8_t*>(nullptr))
                               : bytes == 2 ? lanes_as(arg[i], static_cast<uint16_t*>(nullptr))
                               : bytes == 4 ? lanes_as(arg[i], static_cast<uint32_t*>(nullptr))
                                            : lanes_as(arg[i], static_cast<uint64_t*>(nullptr));
        std::memcpy(out + static_cast<uint32_t>(i) * bytes, lanes + static_cast<uint32_t>(lane) * bytes, bytes);
    }
}

// f(operation's access, place, values) performs one lane's part.
template <class F>
void issue_values(Warp& w, const Inst& in, uint32_t element_bytes, Access kind, F f) {
    alignas(64) uint64_t to[kLanes], mbarrier[kLanes];
    w.addresses(in[0], to);
    w.addresses(in[2], mbarrier);
    const uint32_t bytes = element_bytes * in[1].count;
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const BulkPlace place{.to = w.range(Space::shared, to[lane], bytes, bytes, kind, lane),
                              .mbarrier = mbarrier_range(w, Space::shared, mbarrier[lane], lane),
                              .signals = true};
        std::array<uint8_t, kMaxBytes> values{};
        gather_values(w, in[1], element_bytes, lane, values.data());
        AsyncOperation operation = bulk_operation(w, in, lane, place);
        if (kind == Access::atomic) operation.destinations.clear();
        operation.write = [&w, &in, lane, place, values, f](AsyncOperation& self, uint32_t) {
            const AsyncAccess by{w, in, Agent::store, self.number, lane};
            f(by, place, values.data());
            signal_bytes(by, place);
        };
        w.block->cluster.async.issue(std::move(operation), w);
    }
}

// aux: bytes of an element
void run_store(Warp& w, const Inst& in) {
    issue_values(w, in, static_cast<uint32_t>(in.aux), Access::write,
                 [](const AsyncAccess& by, const BulkPlace& place, const uint8_t* values) { by.write(place.to, values); });
}

// aux: a Reduce
template <uint32_t Bytes>
void run_reduce(Warp& w, const Inst& in) {
    const Reduce reduce = reinterpret_cast<Reduce>(in.aux);
    issue_values(w, in, Bytes, Access::atomic, [reduce](const AsyncAccess& by, const BulkPlace& place, const uint8_t* values) {
        by.check(place.to, Access::atomic);
        reduce(place.to.data(), values, place.to.bytes);
        by.notify(place.to, Access::atomic);
    });
}

// ---- to global memory ----
template <class F>
void issue_global(Warp& w, const Inst& in, Space space, uint32_t bytes, Access kind, F f) {
    alignas(64) uint64_t to[kLanes];
    w.addresses(in[0], to);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const MemoryRange at = w.range(space, to[lane], bytes, bytes, kind, lane);
        if (at.space != Space::global) throw GuestTrap("a .release st.async or red.async takes global memory, and this generic address is none", lane);
        std::array<uint8_t, kMaxBytes> values{};
        gather_values(w, in[1], bytes, lane, values.data());
        AsyncOperation operation = bulk_operation(w, in, lane, {.to = at});
        operation.grouped = false;
        operation.write = [&w, &in, lane, at, values, f](AsyncOperation& self, uint32_t) {
            f(AsyncAccess{w, in, Agent::store, self.number, lane}, at, values.data());
        };
        w.block->cluster.async.issue(std::move(operation), w);
    }
}

void run_store_global(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    issue_global(w, in, aux.space, aux.element_bytes, Access::write,
                 [](const AsyncAccess& by, const MemoryRange& at, const uint8_t* values) { by.write(at, values); });
}

template <uint32_t Bytes, Space At>
void run_reduce_global(Warp& w, const Inst& in) {
    const Reduce reduce = reinterpret_cast<Reduce>(in.aux);
    issue_global(w, in, At, Bytes, Access::atomic, [reduce](const AsyncAccess& by, const MemoryRange& at, const uint8_t* values) {
        by.check(at, Access::atomic);
        reduce(at.data(), values, at.bytes);
        by.notify(at, Access::atomic);
    });
}

// in: [a], size, initval; aux: a MemoryAux, extra 1: the size has 64 bits
void run_store_bulk(Warp& w, const Inst& in) {
    constexpr uint64_t kUnit = 8, kMost = 16777216;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t to[kLanes], scratch[kLanes];
    alignas(64) uint32_t narrow_scratch[kLanes];
    w.addresses(in[0], to);
    const uint64_t* wide = aux.extra ? w.in<uint64_t>(in[1][0], scratch) : nullptr;
    const uint32_t* narrow = aux.extra ? nullptr : w.in<uint32_t>(in[1][0], narrow_scratch);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t size = wide ? wide[lane] : narrow[lane];
        if (size % kUnit != 0 || size > kMost)
            throw GuestTrap("the size of st.bulk must be a multiple of 8 up to 16777216, not " + std::to_string(size), lane);
        const MemoryRange at = w.range(aux.space, to[lane], size, kUnit, Access::write, lane);
        if (at.space != Space::shared || at.remote) throw GuestTrap("st.bulk takes the own block's shared memory only", lane);
        const std::vector<uint8_t> zeros(size);
        AsyncAccess{w, in, Agent::thread, 0, lane}.write(at, zeros.data());
    }
}

}  // namespace

void bind_store_async_global(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    if (!check_value(match, 1, bytes, binding)) return;
    binding.aux = MemoryAux{.space = match.has(".global") ? Space::global : Space::generic, .element_bytes = static_cast<uint8_t>(bytes)}.pack();
    binding.ordering = ordering_of(match, {machine::Semantics::release, machine::Scope::gpu});
    binding.run = run_store_global;
}

void bind_reduce_async_global(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    const Reduce found = reduction(".add", match.get(".type") == ".s64" ? ".u64" : match.get(".type"), true);
    if (!check_value(match, 1, bytes, binding)) return;
    binding.aux = reinterpret_cast<uint64_t>(found);
    binding.ordering = ordering_of(match, {machine::Semantics::release, machine::Scope::gpu});
    const bool global = match.has(".global");
    binding.run = bytes == 8 ? (global ? run_reduce_global<8, Space::global> : run_reduce_global<8, Space::generic>)
                             : (global ? run_reduce_global<4, Space::global> : run_reduce_global<4, Space::generic>);
}

void bind_store_bulk(const Match& match, Binding& binding) {
    const OperandInfo& initial = match.operands[2];
    if (!initial.immediate || initial.value != 0) {
        binding.error = "the initial value of st.bulk must be the immediate 0";
        return;
    }
    if (!check_value(match, 1, 4, binding)) return;
    binding.aux = MemoryAux{.space = match.has(".shared::cta") ? Space::shared : Space::generic,
                            .extra = match.operands[1].immediate || match.operands[1].width == 8}
                      .pack();
    binding.run = run_store_bulk;
}

void bind_store_async(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    if (match.get(".completion_mechanism").empty()) {
        binding.error = "st.async without .mbarrier::complete_tx::bytes has no semantics here";
        return;
    }
    if (!check_vector(match, 1, vector_elements(match.get(".vec")), bytes, binding)) return;
    binding.aux = static_cast<uint64_t>(bytes);
    binding.run = run_store;
}

void bind_reduce_async(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    const Reduce found = reduction(match.get(".op"), match.get(".type"), false);
    if (!found) {
        binding.error = "this operation does not go with this type";
        return;
    }
    if (!check_value(match, 1, bytes, binding)) return;
    binding.aux = reinterpret_cast<uint64_t>(found);
    binding.run = bytes == 8 ? run_reduce<8> : run_reduce<4>;
}

}  // namespace ww::isa
