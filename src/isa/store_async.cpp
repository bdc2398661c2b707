// SPDX-License-Identifier: Apache-2.0
// st.async and red.async to shared memory of the cluster: a value of each lane arrives later and
// counts its bytes at an mbarrier.
#include "isa/bulk_ops.hpp"

namespace ww::isa {
namespace {

constexpr uint32_t kMaxBytes = 32;  // four values of 8 bytes

// The values of one lane, one after the other.
void gather_values(const Warp& w, const machine::Arg& arg, uint32_t bytes, int lane, uint8_t* out) {
    alignas(64) uint64_t scratch[kLanes];
    for (int i = 0; i < arg.count; ++i) {
        const uint8_t* lanes = bytes == 4 ? reinterpret_cast<const uint8_t*>(w.in<uint32_t>(arg[i], reinterpret_cast<uint32_t*>(scratch)))
                                          : reinterpret_cast<const uint8_t*>(w.in<uint64_t>(arg[i], scratch));
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
            const AsyncAccess by{w, in, Agent::bulk, self.number, lane};
            f(by, place, values.data());
            signal_bytes(by, place);
        };
        w.block->cluster.async.issue(std::move(operation), w.block->cluster);
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

}  // namespace

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
