// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Parallel Synchronization and Communication Instructions: mbarrier". What the object
// is and what its operations do to it: src/machine/mbarrier.hpp. Lanes take their turn in ascending
// order.
#include "isa/isa.hpp"
#include "isa/mbarrier_ops.hpp"

namespace ww::isa {
namespace {

using machine::Wait;
using Kind = MbarrierEvent::Kind;

// aux of these instructions.
struct MbarrierAux {
    Space space = Space::generic;
    bool drop = false, expects = false, no_complete = false, parity = false;
    uint8_t first = 0;  // position of the address
    uint64_t pack() const {
        return static_cast<uint64_t>(space) | uint64_t{drop} << 8 | uint64_t{expects} << 9 |
               uint64_t{no_complete} << 10 | uint64_t{parity} << 11 | uint64_t{first} << 16;
    }
    static MbarrierAux unpack(uint64_t aux) {
        return {static_cast<Space>(aux & 0xff), (aux >> 8 & 1) != 0,  (aux >> 9 & 1) != 0,
                (aux >> 10 & 1) != 0,           (aux >> 11 & 1) != 0, static_cast<uint8_t>(aux >> 16)};
    }
};

// Calls f(lane, range) for each executing lane.
template <class F>
void each_mbarrier(Warp& w, const Inst& in, const MbarrierAux& aux, F&& f) {
    alignas(64) uint64_t address[kLanes];
    w.addresses(in[aux.first], address);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        f(lane, mbarrier_range(w, aux.space, address[lane], lane));
    }
}

AsyncAccess thread_access(Warp& w, const Inst& in, int lane) { return {w, in, Agent::thread, 0, lane}; }

// A block's own threads initialise, invalidate and wait.
void require_own(const MemoryRange& at, const char* what, int lane) {
    if (at.remote)
        throw GuestTrap(std::string(what) + " takes an mbarrier of the own block, not of another one of the cluster", lane);
}

// Repurposing an mbarrier that is still in use.
void require_unused(Warp& w, const MemoryRange& at, const char* what, int lane) {
    if (w.block->cluster.async.signaller_of(at.in_cluster()))
        throw GuestTrap(std::string(what) + " of an mbarrier that an asynchronous operation in flight will signal", lane);
    for (const Warp& other : w.block->warps)
        for (const machine::Split& split : other.parked)
            if (split.wait.kind == Wait::Kind::mbarrier && split.wait.mbarrier == at.offset)
                throw GuestTrap(std::string(what) + " of an mbarrier that warp " + std::to_string(other.id) + " waits for", lane);
}

void run_init(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* count = w.in<uint32_t>(in[1][0], scratch);
    each_mbarrier(w, in, MbarrierAux::unpack(in.aux), [&](int lane, const MemoryRange& at) {
        require_own(at, "mbarrier.init", lane);
        require_unused(w, at, "mbarrier.init", lane);
        uint8_t bytes[Mbarrier::kBytes];
        Mbarrier::initial(count[lane]).store(bytes);
        thread_access(w, in, lane).write(at, bytes);
        notify_mbarrier(thread_access(w, in, lane), at, Kind::init, LaneMask{1} << lane);
    });
}

// The bytes are as if never written: only an init or a store makes something of them.
void run_inval(Warp& w, const Inst& in) {
    each_mbarrier(w, in, MbarrierAux::unpack(in.aux), [&](int lane, const MemoryRange& at) {
        require_own(at, "mbarrier.inval", lane);
        require_unused(w, at, "mbarrier.inval", lane);
        load_mbarrier(at, lane);
        Mbarrier::invalidate(at.data());
        std::memset(at.valid(), 0, Mbarrier::kBytes);
        thread_access(w, in, lane).notify(at, Access::write);
        notify_mbarrier(thread_access(w, in, lane), at, Kind::inval, LaneMask{1} << lane);
    });
}

template <bool Complete>
void run_tx(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* count = w.in<uint32_t>(in[1][0], scratch);
    each_mbarrier(w, in, MbarrierAux::unpack(in.aux), [&](int lane, const MemoryRange& at) {
        update_mbarrier(thread_access(w, in, lane), at, Complete ? Kind::complete_tx : Kind::count, [&](Mbarrier& m) {
            return Complete ? m.complete_transactions(count[lane]) : m.expect_transactions(count[lane]);
        });
    });
}

void refuse_completion() {
    throw GuestTrap("an arrival with .noComplete completed the phase of its mbarrier");
}

// The state operand, if the form has one, comes first; the count or tx-count after the address.
void run_arrive(Warp& w, const Inst& in) {
    const MbarrierAux aux = MbarrierAux::unpack(in.aux);
    const machine::Arg& count_arg = in[aux.first + 1];
    alignas(64) uint32_t scratch[kLanes];
    alignas(64) uint64_t states[kLanes] = {};
    const uint32_t* given = count_arg.count ? w.in<uint32_t>(count_arg[0], scratch) : nullptr;
    const bool returns = aux.first == 1 && in[0][0].bank != machine::Bank::none;
    each_mbarrier(w, in, aux, [&](int lane, const MemoryRange& at) {
        if (returns && at.remote)
            throw GuestTrap("an arrival at an mbarrier of another block returns no state: the destination must be _", lane);
        states[lane] = update_mbarrier(thread_access(w, in, lane), at, Kind::arrive, [&](Mbarrier& m) {
            if (aux.expects) m.expect_transactions(given[lane]);
            const uint64_t before = m.state();
            const uint32_t count = given && !aux.expects ? given[lane] : 1;
            const bool completed = aux.drop ? m.arrive_drop(count) : m.arrive(count);
            if (completed && aux.no_complete) refuse_completion();
            return before;
        });
    });
    if (returns) w.commit<uint64_t>(in[0][0], states, states);
}

// One event for all lanes that asked for the same phase of one object.
void notify_answers(Warp& w, const Inst& in, const uint32_t* object, LaneMask completed) {
    for (LaneMask left = w.active; left;) {
        const int first = __builtin_ctz(left);
        const bool answer = (completed >> first & 1) != 0;
        LaneMask same = 0;
        for (int lane = first; lane < kLanes; ++lane)
            if ((left >> lane & 1) && object[lane] == object[first] && ((completed >> lane & 1) != 0) == answer)
                same |= LaneMask{1} << lane;
        left &= ~same;
        w.grid->sink->mbarrier({w, in, answer ? Kind::wait : Kind::ask, object[first], same});
    }
}

struct Asked {
    LaneMask completed = 0;
    uint32_t mbarrier = 0;  // of the first lane whose phase is not complete
    bool parity = false;
    bool same = true;  // all lanes ask for that
};

// in: p, [addr], state or phase parity
Asked ask(Warp& w, const Inst& in, const char* what) {
    const MbarrierAux aux = MbarrierAux::unpack(in.aux);
    alignas(64) uint32_t parity_scratch[kLanes];
    alignas(64) uint64_t state_scratch[kLanes];
    const uint32_t* parities = aux.parity ? w.in<uint32_t>(in[2][0], parity_scratch) : nullptr;
    const uint64_t* states = aux.parity ? nullptr : w.in<uint64_t>(in[2][0], state_scratch);
    Asked asked;
    uint32_t objects[kLanes];  // of the active lanes
    bool first = true;
    each_mbarrier(w, in, aux, [&](int lane, const MemoryRange& at) {
        require_own(at, what, lane);
        const bool parity = aux.parity ? (parities[lane] & 1) != 0 : Mbarrier::state_parity(states[lane]);
        const bool completed = load_mbarrier(at, lane).parity() != parity;
        objects[lane] = at.in_cluster();
        if (completed) asked.completed |= LaneMask{1} << lane;
        const uint32_t offset = static_cast<uint32_t>(at.offset);
        if (!completed && first) {
            asked.mbarrier = offset;
            asked.parity = parity;
            first = false;
        } else if (!completed) {
            asked.same &= asked.mbarrier == offset && asked.parity == parity;
        }
    });
    if (w.grid->sink) notify_answers(w, in, objects, asked.completed);
    return asked;
}

void run_test_wait(Warp& w, const Inst& in) {
    const Asked asked = ask(w, in, "mbarrier.test_wait");
    w.set_predicate(in[0][0], asked.completed);
    if (asked.completed != w.active) w.poll(asked.mbarrier, asked.parity);
}

// Suspends the lanes where all of them wait for one phase. They are resumed when it completes, or
// when the scheduler finds that the time limit is over.
void run_try_wait(Warp& w, const Inst& in) {
    const Asked asked = ask(w, in, "mbarrier.try_wait");
    if (asked.completed == 0 && asked.same && !w.resumed)
        return w.wait_here({.kind = Wait::Kind::mbarrier, .mbarrier = asked.mbarrier, .parity = asked.parity});
    w.set_predicate(in[0][0], asked.completed);
    if (asked.completed == 0 && !asked.same) w.poll(asked.mbarrier, asked.parity);
}

void run_pending_count(Warp& w, const Inst& in) {
    alignas(64) uint64_t scratch[kLanes];
    alignas(64) uint32_t result[kLanes] = {};
    const uint64_t* state = w.in<uint64_t>(in[1][0], scratch);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        result[lane] = Mbarrier::state_pending(state[lane]);
    }
    w.commit<uint32_t>(in[0][0], result, result);
}

// ---- binds ----
Space space_of_row(const Match& match) {
    const std::string_view own = match.get(".space");
    return Match::space(own.empty() ? match.get(".any_space") : own);
}

template <machine::Run Run, bool Count>
void bind_object(const Match& match, Binding& binding) {
    if (Count && !check_value(match, 1, 4, binding)) return;
    binding.aux = MbarrierAux{.space = space_of_row(match)}.pack();
    binding.run = Run;
}

template <bool State>
void bind_arrive(const Match& match, Binding& binding) {
    const int first = State ? 1 : 0;
    if (State && !check_value(match, 0, 8, binding)) return;
    if (match.operands[static_cast<size_t>(first) + 1].kind != OperandInfo::Kind::absent &&
        !check_value(match, first + 1, 4, binding))
        return;
    binding.ordering = ordering_of(match, {machine::Semantics::release, machine::Scope::cta});
    binding.aux = MbarrierAux{.space = space_of_row(match),
                              .drop = match.has(".arrive_drop"),
                              .expects = match.has(".expect_tx"),
                              .no_complete = match.has(".noComplete"),
                              .first = static_cast<uint8_t>(first)}
                      .pack();
    binding.run = run_arrive;
}

template <machine::Run Run>
void bind_wait(const Match& match, Binding& binding) {
    const bool parity = match.has(".parity");
    if (!check_predicate(match, 0, binding) || !check_value(match, 2, parity ? 4 : 8, binding)) return;
    binding.ordering = ordering_of(match, {machine::Semantics::acquire, machine::Scope::cta});
    binding.aux = MbarrierAux{.space = space_of_row(match), .parity = parity, .first = 1}.pack();
    binding.run = Run;
}

void bind_pending_count(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding) && check_value(match, 1, 8, binding)) binding.run = run_pending_count;
}

#define WW_MB "parallel-synchronization-and-communication-instructions-mbarrier-"
#define WW_SPACE ".space = .shared .shared::cta; .any_space = .shared .shared::cta .shared::cluster; .scope = .cta .cluster; "
#define WW_RELEASE ".sem = .release .relaxed; " WW_SPACE
#define WW_ACQUIRE ".sem = .acquire .relaxed; " WW_SPACE
// clang-format off
constexpr Row kRows[] = {
    {"mbarrier.init{.space}.b64 [addr], count", WW_SPACE, {70, 80}, WW_MB "init", bind_object<run_init, true>},
    {"mbarrier.inval{.space}.b64 [addr]", WW_SPACE, {70, 80}, WW_MB "inval", bind_object<run_inval, false>},
    {"mbarrier.expect_tx{.relaxed}{.scope}{.any_space}.b64 [addr], tx-count", WW_SPACE, {80, 90},
     WW_MB "expect-tx", bind_object<run_tx<false>, true>},
    {"mbarrier.complete_tx{.relaxed}{.scope}{.any_space}.b64 [addr], tx-count", WW_SPACE, {80, 90},
     WW_MB "complete-tx", bind_object<run_tx<true>, true>},
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 state, [addr]{, count}", WW_RELEASE, {70, 80}, WW_MB "arrive", bind_arrive<true>},
    // Without the state operand, as the compilers write it for .shared::cluster.
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 [addr]{, count}", WW_RELEASE, {78, 90}, WW_MB "arrive", bind_arrive<false>},
    {"mbarrier.arrive.expect_tx{.sem}{.scope}{.any_space}.b64 state, [addr], tx-count", WW_RELEASE, {80, 90}, WW_MB "arrive", bind_arrive<true>},
    {"mbarrier.arrive.noComplete{.release}{.cta}{.space}.b64 state, [addr], count", WW_SPACE, {70, 80}, WW_MB "arrive", bind_arrive<true>},
    {"mbarrier.arrive_drop{.sem}{.scope}{.any_space}.b64 state, [addr]{, count}", WW_RELEASE, {70, 80}, WW_MB "arrive-drop", bind_arrive<true>},
    {"mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.any_space}.b64 state, [addr], tx-count", WW_RELEASE, {80, 90},
     WW_MB "arrive-drop", bind_arrive<true>},
    {"mbarrier.arrive_drop.noComplete{.release}{.cta}{.space}.b64 state, [addr], count", WW_SPACE, {70, 80}, WW_MB "arrive-drop", bind_arrive<true>},
    {"mbarrier.test_wait{.sem}{.scope}{.space}.b64 p, [addr], state", WW_ACQUIRE, {70, 80}, WW_MB "test-wait-try-wait", bind_wait<run_test_wait>},
    {"mbarrier.test_wait.parity{.sem}{.scope}{.space}.b64 p, [addr], phase-parity", WW_ACQUIRE, {71, 80},
     WW_MB "test-wait-try-wait", bind_wait<run_test_wait>},
    {"mbarrier.try_wait{.sem}{.scope}{.space}.b64 p, [addr], state{, suspend-time-hint}", WW_ACQUIRE, {78, 90},
     WW_MB "test-wait-try-wait", bind_wait<run_try_wait>},
    {"mbarrier.try_wait.parity{.sem}{.scope}{.space}.b64 p, [addr], phase-parity{, suspend-time-hint}", WW_ACQUIRE, {78, 90},
     WW_MB "test-wait-try-wait", bind_wait<run_try_wait>},
    {"mbarrier.pending_count.b64 count, state", "", {70, 80}, WW_MB "pending-count", bind_pending_count},
};
// clang-format on

}  // namespace

std::span<const Row> mbarrier_rows() { return kRows; }

}  // namespace ww::isa
