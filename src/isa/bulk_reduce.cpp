// SPDX-License-Identifier: Apache-2.0
// cp.reduce.async.bulk: an array in shared memory is added (and the like) to one in global memory
// or in another block's shared memory, element by element, each atomically.
#include <map>

#include "isa/atomic_ops.hpp"
#include "isa/bulk_ops.hpp"

namespace ww::isa {
namespace {

using namespace atomic;

constexpr uint32_t kAlign = 16;

template <class Op, class T>
void reduce(uint8_t* to, const uint8_t* from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += sizeof(T)) {
        T value;
        std::memcpy(&value, from + i, sizeof value);
        update<T>(to + i, [&](T old) { return Op::apply(old, value); });
    }
}

// in: [dst], [src], size and, of the form that signals, [mbar]; aux: the Reduce
template <bool Signals>
void run_reduce(Warp& w, const Inst& in) {
    alignas(64) uint64_t to[kLanes], from[kLanes], mbarrier[kLanes];
    alignas(64) uint32_t scratch[kLanes];
    w.addresses(in[0], to);
    w.addresses(in[1], from);
    if (Signals) w.addresses(in[3], mbarrier);
    const uint32_t* sizes = w.in<uint32_t>(in[2][0], scratch);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint32_t size = bulk_size(sizes[lane], lane);
        BulkPlace place{.from = w.range(Space::shared, from[lane], size, kAlign, Access::read, lane),
                        .to = w.range(Signals ? Space::shared : Space::global, to[lane], size, kAlign, Access::atomic, lane),
                        .signals = Signals};
        if (Signals) place.mbarrier = mbarrier_range(w, Space::shared, mbarrier[lane], lane);
        AsyncOperation operation = bulk_operation(w, in, lane, place);
        operation.destinations.clear();  // they are read as well, and by many at once
        operation.read = [&w, &in, lane, place](AsyncOperation& self, uint32_t) {
            self.data.resize(place.from.bytes);
            AsyncAccess{w, in, Agent::bulk, self.number, lane}.read(place.from, self.data.data());
        };
        operation.write = [&w, &in, lane, place](AsyncOperation& self, uint32_t) {
            const AsyncAccess by{w, in, Agent::bulk, self.number, lane};
            by.check(place.to, Access::atomic);
            reinterpret_cast<Reduce>(in.aux)(place.to.data(), self.data.data(), place.to.bytes);
            by.notify(place.to, Access::atomic);
            if (Signals) signal_bytes(by, place);
        };
        w.block->cluster.async.issue(std::move(operation), w);
    }
}

void bind_reduce(const Match& match, Binding& binding, bool to_global, machine::Run run) {
    if (!check_value(match, 2, 4, binding)) return;
    const bool noftz = match.has(".noftz");
    const std::string_view op = noftz ? std::string_view(".add") : match.get(".redOp");
    const std::string_view type = match.get(".type");
    const bool half = type == ".f16" || type == ".bf16";
    const Reduce found = reduction(op, type, to_global);
    if (!found || (op == ".add" && half && !noftz)) {
        binding.error = half && op == ".add" ? "additions of f16 and bf16 must be .noftz"
                                             : "this operation does not go with this type";
        return;
    }
    binding.aux = reinterpret_cast<uint64_t>(found);
    binding.ordered = op == ".add" && (half || type == ".f32" || type == ".f64");
    binding.run = run;
}

}  // namespace

// The combinations of the manual's table. .inc and .dec: to 0 above the source's value.
Reduce reduction(std::string_view op, std::string_view type, bool to_global, bool flush) {
    static const std::map<std::pair<std::string_view, std::string_view>, Reduce> kBoth = {
        {{".add", ".u32"}, reduce<Add, uint32_t>}, {{".add", ".s32"}, reduce<Add, uint32_t>},
        {{".add", ".u64"}, reduce<Add, uint64_t>}, {{".min", ".u32"}, reduce<Min, uint32_t>},
        {{".max", ".u32"}, reduce<Max, uint32_t>}, {{".min", ".s32"}, reduce<Min, int32_t>},
        {{".max", ".s32"}, reduce<Max, int32_t>},  {{".inc", ".u32"}, reduce<Inc, uint32_t>},
        {{".dec", ".u32"}, reduce<Dec, uint32_t>}, {{".and", ".b32"}, reduce<And, uint32_t>},
        {{".or", ".b32"}, reduce<Or, uint32_t>},   {{".xor", ".b32"}, reduce<Xor, uint32_t>},
    };
    static const std::map<std::pair<std::string_view, std::string_view>, Reduce> kGlobal = {
        {{".add", ".f32"}, reduce<AddF32, uint32_t>},   {{".add", ".f64"}, reduce<AddF64, uint64_t>},
        {{".add", ".f16"}, reduce<AddF16, uint16_t>},   {{".add", ".bf16"}, reduce<AddBf16, uint16_t>},
        {{".min", ".u64"}, reduce<Min, uint64_t>},      {{".max", ".u64"}, reduce<Max, uint64_t>},
        {{".min", ".s64"}, reduce<Min, int64_t>},       {{".max", ".s64"}, reduce<Max, int64_t>},
        {{".min", ".f16"}, reduce<MinF16, uint16_t>},   {{".max", ".f16"}, reduce<MaxF16, uint16_t>},
        {{".min", ".bf16"}, reduce<MinBf16, uint16_t>}, {{".max", ".bf16"}, reduce<MaxBf16, uint16_t>},
        {{".and", ".b64"}, reduce<And, uint64_t>},      {{".or", ".b64"}, reduce<Or, uint64_t>},
        {{".xor", ".b64"}, reduce<Xor, uint64_t>},
    };
    if (flush && op == ".add" && type == ".f32") return reduce<AddF32Flush, uint32_t>;
    if (const auto it = kBoth.find({op, type}); it != kBoth.end()) return it->second;
    if (const auto it = kGlobal.find({op, type}); to_global && it != kGlobal.end()) return it->second;
    return nullptr;
}

void bind_reduce_shared(const Match& match, Binding& binding) { bind_reduce(match, binding, false, run_reduce<true>); }
void bind_reduce_global(const Match& match, Binding& binding) { bind_reduce(match, binding, true, run_reduce<false>); }

}  // namespace ww::isa
