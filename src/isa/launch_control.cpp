// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol: a running cluster takes a cluster of the launch that has not begun. The answer
// is 16 bytes in an encoding of our own, written through the async proxy. Emulated; not yet run on
// silicon: it needs sm_100.
#include <algorithm>
#include <memory>
#include <optional>

#include "isa/bulk_ops.hpp"

namespace ww::isa {
namespace {

constexpr uint32_t kResponseBytes = 16;

struct Response {
    static constexpr uint32_t kNone = 0x434c4300, kTaken = 0x434c4301;
    uint32_t mark;
    uint32_t first[3];  // %ctaid of the taken cluster's first block
};
static_assert(sizeof(Response) == kResponseBytes);

// What the requests of one instruction and lane share: all blocks of a cluster get one answer.
using Answer = std::shared_ptr<std::optional<Response>>;

const Response& answer_of(const Answer& answer, const Warp& w) {
    if (*answer) return **answer;
    *answer = Response{.mark = Response::kNone};
    if (const std::optional<uint64_t> taken = w.grid->take_cluster()) {
        (*answer)->mark = Response::kTaken;
        const machine::Coordinates first = machine::first_block(*w.grid, *taken);
        std::copy(first.begin(), first.end(), (*answer)->first);
    }
    return **answer;
}

void issue(Warp& w, const Inst& in, int lane, const BulkPlace& place, const Answer& answer) {
    AsyncOperation operation = bulk_operation(w, in, lane, place);
    operation.write = [&w, &in, lane, place, answer](AsyncOperation& self, uint32_t) {
        const AsyncAccess by{w, in, Agent::bulk, self.number, lane};
        by.write(place.to, &answer_of(answer, w));
        signal_bytes(by, place);
    };
    w.block->cluster.async.issue(std::move(operation), w);
}

// in: [addr], [mbar]; extra of the aux: 1 to answer all blocks of the cluster
void run_try_cancel(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t to[kLanes], mbarrier[kLanes];
    w.addresses(in[0], to);
    w.addresses(in[1], mbarrier);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const auto place = [&](Space space, uint64_t address, uint64_t mbar) {
            return BulkPlace{.to = w.range(space, address, kResponseBytes, kResponseBytes, Access::write, lane),
                             .mbarrier = mbarrier_range(w, space, mbar, lane),
                             .signals = true};
        };
        const BulkPlace own = place(aux.space, to[lane], mbarrier[lane]);
        if (own.to.space != Space::shared || own.to.remote || own.mbarrier.remote)
            throw GuestTrap("clusterlaunchcontrol.try_cancel takes the own block's shared memory only", lane);
        const Answer answer = std::make_shared<std::optional<Response>>();
        if (!aux.extra) {
            issue(w, in, lane, own, answer);
            continue;
        }
        for (uint32_t rank = 0; rank < w.block->cluster.blocks.size(); ++rank)
            issue(w, in, lane, place(Space::shared, machine::cluster_address(rank, own.to.offset), machine::cluster_address(rank, own.mbarrier.offset)), answer);
    }
}

Response response(Bits128 bits, int lane) {
    Response out;
    std::memcpy(&out, &bits, sizeof out);
    if (out.mark != Response::kNone && out.mark != Response::kTaken)
        throw GuestTrap("these 16 bytes are no answer of clusterlaunchcontrol.try_cancel", lane);
    return out;
}

// in: p, response
void run_is_canceled(Warp& w, const Inst& in) {
    alignas(64) Bits128 scratch[kLanes];
    const Bits128* responses = w.in<Bits128>(in[1][0], scratch);
    LaneMask taken = 0;
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (response(responses[lane], lane).mark == Response::kTaken) taken |= LaneMask{1} << lane;
    }
    w.set_predicate(in[0][0], taken);
}

// in: d or {x, y, z, _}, response; aux: the axis, or 3 for all
void run_first(Warp& w, const Inst& in) {
    alignas(64) Bits128 scratch[kLanes];
    alignas(64) uint32_t first[4][kLanes] = {};
    const Bits128* responses = w.in<Bits128>(in[1][0], scratch);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const Response given = response(responses[lane], lane);
        if (given.mark != Response::kTaken)
            throw GuestTrap("get_first_ctaid of a request that was not granted: ask is_canceled first", lane);
        for (int axis = 0; axis < 3; ++axis) first[axis][lane] = given.first[axis];
    }
    if (in.aux < 3) return w.commit<uint32_t>(in[0][0], first[in.aux], first[in.aux]);
    for (int i = 0; i < 4; ++i) w.commit<uint32_t>(in[0][i], first[i], first[i]);
}

}  // namespace

void bind_clc_try_cancel(const Match& match, Binding& binding) {
    binding.aux = MemoryAux{.space = match.has(".shared::cta") ? Space::shared : Space::generic,
                            .extra = match.has(".multicast::cluster::all")}
                      .pack();
    binding.ordered = true;  // who takes which cluster
    binding.run = run_try_cancel;
}

void bind_clc_is_canceled(const Match& match, Binding& binding) {
    if (check_predicate(match, 0, binding) && check_value(match, 1, kResponseBytes, binding)) binding.run = run_is_canceled;
}

void bind_clc_first(const Match& match, Binding& binding) {
    const std::string_view axis = match.get(".dimension");
    if (!check_value(match, 1, kResponseBytes, binding)) return;
    if (axis.empty() ? !check_vector(match, 0, 4, 4, binding) : !check_value(match, 0, 4, binding)) return;
    binding.aux = axis.empty() ? 3 : static_cast<uint64_t>(axis.back() - 'x');
    binding.run = run_first;
}

}  // namespace ww::isa
