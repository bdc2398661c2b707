// SPDX-License-Identifier: Apache-2.0
// Instructions by which the lanes of a warp exchange values: shfl, vote, match, redux, elect,
// activemask. (PTX manual, "Data Movement" and "Parallel Synchronization and Communication".)
#include "isa/isa.hpp"
#include "isa/warp_ops.hpp"
#include "numerics/arith.hpp"

namespace ww::isa {
namespace {

// ---- shfl ----
enum class Shuffle : uint8_t { up, down, bfly, idx };

// The manual's rule: c holds the clamp in bits 0-4 and the segment mask in bits 8-12. The lane that
// is read, before the range test; and whether it passes.
template <Shuffle Mode>
int32_t shuffle_source(int32_t lane, int32_t bval, int32_t segment) {
    if constexpr (Mode == Shuffle::up) return lane - bval;
    if constexpr (Mode == Shuffle::down) return lane + bval;
    if constexpr (Mode == Shuffle::bfly) return lane ^ bval;
    return (lane & segment) | (bval & ~segment);
}

// a: complete for the members. A source lane that is no member has no defined value; it gives 0.
template <Shuffle Mode>
void shuffle(Warp& w, const Inst& in, const uint32_t* a, LaneMask members) {
    alignas(64) uint32_t b_scratch[kLanes], c_scratch[kLanes], result[kLanes], inside[kLanes];
    alignas(64) int32_t source[kLanes];
    const uint32_t* b = w.in<uint32_t>(in[3][0], b_scratch);
    const uint32_t* c = w.in<uint32_t>(in[4][0], c_scratch);
    for (int32_t lane = 0; lane < kLanes; ++lane) {  // separate loops, so that each vectorises
        const int32_t clamp = static_cast<int32_t>(c[lane] & 31),
                      segment = static_cast<int32_t>(c[lane] >> 8 & 31);
        const int32_t limit = (lane & segment) | (clamp & ~segment);
        const int32_t from =
            shuffle_source<Mode>(lane, static_cast<int32_t>(b[lane] & 31), segment);
        const bool fits = Mode == Shuffle::up ? from >= limit : from <= limit;
        source[lane] = fits ? from : lane;
        inside[lane] = fits;
    }
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = a[source[lane]];
    if (members != kAllLanes)
        for (int lane = 0; lane < kLanes; ++lane)
            result[lane] = (members >> source[lane] & 1) ? result[lane] : 0;
    write_words(w, in[0][0], result);
    if (!in[1].count) return;
    LaneMask in_range = 0;
    for (int lane = 0; lane < kLanes; ++lane) in_range |= inside[lane] << lane;
    w.set_predicate(in[1][0], in_range);
}

// in: d, p, a, b, c, membermask
template <Shuffle Mode>
void run_shfl_sync(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes];
    alignas(64) LaneWords values[1];
    std::memcpy(values[0], w.in<uint32_t>(in[2][0], scratch), sizeof values[0]);
    for_members(w, in, 5, values, 1,
                [&](LaneMask, LaneMask members) { shuffle<Mode>(w, in, values[0], members); });
}

template <Shuffle Mode>
void run_shfl(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes], a[kLanes];
    std::memcpy(a, w.in<uint32_t>(in[2][0], scratch), sizeof a);
    shuffle<Mode>(w, in, a, w.active);
}

template <bool Sync>
void bind_shfl(const Match& match, Binding& binding) {
    const bool fits = check_value(match, 0, 4, binding) && check_predicate(match, 1, binding) &&
                      check_value(match, 2, 4, binding) && check_value(match, 3, 4, binding) &&
                      check_value(match, 4, 4, binding) &&
                      (!Sync || check_value(match, 5, 4, binding));
    if (!fits) return;
    const auto use = [&]<Shuffle Mode>() {
        binding.run = Sync ? run_shfl_sync<Mode> : run_shfl<Mode>;
    };
    const std::string_view mode = match.get(".mode");
    if (mode == ".up")
        use.template operator()<Shuffle::up>();
    else if (mode == ".down")
        use.template operator()<Shuffle::down>();
    else if (mode == ".bfly")
        use.template operator()<Shuffle::bfly>();
    else
        use.template operator()<Shuffle::idx>();
}

// ---- vote ----
enum class Vote : uint8_t { all, any, uni, ballot };

template <Vote Mode>
void vote(Warp& w, const Inst& in, LaneMask yes, LaneMask members) {
    yes &= members;
    if constexpr (Mode == Vote::ballot) {
        alignas(64) uint32_t result[kLanes];
        for (uint32_t& lane : result) lane = yes;
        write_words(w, in[0][0], result);
    } else {
        const bool all = yes == members, any = yes != 0;
        const bool result = Mode == Vote::all ? all : Mode == Vote::any ? any : all || !any;
        w.set_predicate(in[0][0], result ? kAllLanes : 0);
    }
}

LaneMask nonzero(const uint32_t* value) {
    LaneMask bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= LaneMask{value[lane] != 0} << lane;
    return bits;
}

// in: d, a, membermask
template <Vote Mode>
void run_vote_sync(Warp& w, const Inst& in) {
    alignas(64) LaneWords values[1];
    const LaneMask own = w.predicate(in[1][0]);
    for (int lane = 0; lane < kLanes; ++lane) values[0][lane] = own >> lane & 1;
    for_members(w, in, 2, values, 1, [&](LaneMask, LaneMask members) {
        vote<Mode>(w, in, nonzero(values[0]), members);
    });
}

template <Vote Mode>
void run_vote(Warp& w, const Inst& in) {
    vote<Mode>(w, in, w.predicate(in[1][0]), w.active);
}

template <bool Sync>
void bind_vote(const Match& match, Binding& binding) {
    if (!check_predicate(match, 1, binding) || (Sync && !check_value(match, 2, 4, binding))) return;
    const bool ballot = match.has(".ballot");
    if (ballot ? !check_value(match, 0, 4, binding) : !check_predicate(match, 0, binding)) return;
    const std::string_view mode = match.get(".mode");
    const auto use = [&]<Vote Mode>() {
        binding.run = Sync ? run_vote_sync<Mode> : run_vote<Mode>;
    };
    if (ballot)
        use.template operator()<Vote::ballot>();
    else if (mode == ".all")
        use.template operator()<Vote::all>();
    else if (mode == ".any")
        use.template operator()<Vote::any>();
    else
        use.template operator()<Vote::uni>();
}

// ---- match ----
template <class T>
void split_words(Warp& w, const machine::Operand& a, LaneWords* words) {
    alignas(64) T scratch[kLanes];
    const T* value = w.in<T>(a, scratch);
    for (int lane = 0; lane < kLanes; ++lane) {
        words[0][lane] = static_cast<uint32_t>(value[lane]);
        if constexpr (sizeof(T) == 8) words[1][lane] = static_cast<uint32_t>(value[lane] >> 32);
    }
}

template <int Words>
LaneMask equal_lanes(const LaneWords* words, int lane, LaneMask members) {
    LaneMask same = 0;
    for (int other = 0; other < kLanes; ++other) {
        bool equal = words[0][other] == words[0][lane];
        if constexpr (Words == 2) equal = equal && words[1][other] == words[1][lane];
        same |= LaneMask{equal} << other;
    }
    return same & members;
}

// in: d, a, membermask
template <class T>
void run_match_any(Warp& w, const Inst& in) {
    constexpr int kWords = sizeof(T) / 4;
    alignas(64) LaneWords values[2];
    split_words<T>(w, in[1][0], values);
    for_members(w, in, 2, values, kWords, [&](LaneMask lanes, LaneMask members) {
        alignas(64) uint32_t result[kLanes] = {};
        for (LaneMask left = lanes; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            result[lane] = equal_lanes<kWords>(values, lane, members);
        }
        write_words(w, in[0][0], result);
    });
}

// in: d, p, a, membermask
template <class T>
void run_match_all(Warp& w, const Inst& in) {
    constexpr int kWords = sizeof(T) / 4;
    alignas(64) LaneWords values[2];
    split_words<T>(w, in[2][0], values);
    for_members(w, in, 3, values, kWords, [&](LaneMask, LaneMask members) {
        const bool all = equal_lanes<kWords>(values, __builtin_ctz(members), members) == members;
        alignas(64) uint32_t result[kLanes];
        for (uint32_t& lane : result) lane = all ? members : 0;
        write_words(w, in[0][0], result);
        if (in[1].count) w.set_predicate(in[1][0], all ? kAllLanes : 0);
    });
}

template <bool All>
void bind_match(const Match& match, Binding& binding) {
    const bool wide = match.type() == Type::b64;
    const int a = All ? 2 : 1;
    if (!check_value(match, 0, 4, binding) || !check_value(match, a, wide ? 8 : 4, binding) ||
        !check_value(match, a + 1, 4, binding) || (All && !check_predicate(match, 1, binding)))
        return;
    if (All)
        binding.run = wide ? run_match_all<uint64_t> : run_match_all<uint32_t>;
    else
        binding.run = wide ? run_match_any<uint64_t> : run_match_any<uint32_t>;
}

// ---- redux ----
struct Sum {
    static constexpr bool kFromZero = true;
    static uint32_t apply(uint32_t a, uint32_t b) { return a + b; }
};
struct MinUnsigned {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) { return a < b ? a : b; }
};
struct MaxUnsigned {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) { return a > b ? a : b; }
};
struct MinSigned {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) {
        return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? a : b;
    }
};
struct MaxSigned {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) {
        return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? a : b;
    }
};
struct And {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) { return a & b; }
};
struct Or {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) { return a | b; }
};
struct Xor {
    static constexpr bool kFromZero = true;
    static uint32_t apply(uint32_t a, uint32_t b) { return a ^ b; }
};

// Of f32: +0 > -0. A NaN wins with .NaN and loses without.
template <bool Max, bool NanWins>
struct FloatExtreme {
    static constexpr bool kFromZero = false;
    static uint32_t apply(uint32_t a, uint32_t b) {
        const bool a_nan = (a & 0x7fffffff) > 0x7f800000, b_nan = (b & 0x7fffffff) > 0x7f800000;
        if (a_nan || b_nan) {
            if (NanWins || (a_nan && b_nan)) return numerics::kNanF32;
            return a_nan ? b : a;
        }
        const auto order = [](uint32_t bits) {
            return static_cast<int32_t>(bits & 0x80000000 ? ~bits ^ 0x80000000 : bits);
        };
        return (order(a) < order(b)) == Max ? b : a;
    }
};

// in: dst, src, membermask; aux: a mask for the source bits (.abs)
template <class Op>
void run_redux(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes];
    alignas(64) LaneWords values[1];
    std::memcpy(values[0], w.in<uint32_t>(in[1][0], scratch), sizeof values[0]);
    for_members(w, in, 2, values, 1, [&](LaneMask, LaneMask members) {
        const uint32_t mask = static_cast<uint32_t>(in.aux);
        // Op with itself keeps a value, except that it makes a NaN canonical; Sum and Xor start at
        // 0.
        uint32_t sum = Op::kFromZero ? 0 : values[0][__builtin_ctz(members)] & mask;
        for (LaneMask left = members; left; left &= left - 1)
            sum = Op::apply(sum, values[0][__builtin_ctz(left)] & mask);
        alignas(64) uint32_t result[kLanes];
        for (uint32_t& lane : result) lane = sum;
        write_words(w, in[0][0], result);
    });
}

bool check_redux(const Match& match, Binding& binding) {
    binding.aux = match.has(".abs") ? 0x7fffffff : 0xffffffff;
    return check_value(match, 0, 4, binding) && check_value(match, 1, 4, binding) &&
           check_value(match, 2, 4, binding);
}

void bind_redux_integer(const Match& match, Binding& binding) {
    if (!check_redux(match, binding)) return;
    const std::string_view op = match.get(".op");
    const bool is_signed = match.type() == Type::s32;
    if (op == ".add")
        binding.run = run_redux<Sum>;
    else if (op == ".min")
        binding.run = is_signed ? run_redux<MinSigned> : run_redux<MinUnsigned>;
    else if (op == ".max")
        binding.run = is_signed ? run_redux<MaxSigned> : run_redux<MaxUnsigned>;
    else if (op == ".and")
        binding.run = run_redux<And>;
    else if (op == ".or")
        binding.run = run_redux<Or>;
    else
        binding.run = run_redux<Xor>;
}

void bind_redux_float(const Match& match, Binding& binding) {
    if (!check_redux(match, binding)) return;
    const bool max = match.get(".op") == ".max", nan = match.has(".NaN");
    if (max)
        binding.run =
            nan ? run_redux<FloatExtreme<true, true>> : run_redux<FloatExtreme<true, false>>;
    else
        binding.run =
            nan ? run_redux<FloatExtreme<false, true>> : run_redux<FloatExtreme<false, false>>;
}

// ---- elect, activemask ----
// in: d, p, membermask. Which member leads is the implementation's choice: the lowest lane.
void run_elect(Warp& w, const Inst& in) {
    for_members(w, in, 2, nullptr, 0, [&](LaneMask, LaneMask members) {
        const uint32_t leader = static_cast<uint32_t>(__builtin_ctz(members));
        alignas(64) uint32_t result[kLanes];
        for (uint32_t& lane : result) lane = leader;
        if (in[0].count) write_words(w, in[0][0], result);
        w.set_predicate(in[1][0], LaneMask{1} << leader);
    });
}
void bind_elect(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding) && check_predicate(match, 1, binding) &&
        check_value(match, 2, 4, binding))
        binding.run = run_elect;
}

void run_activemask(Warp& w, const Inst& in) {
    alignas(64) uint32_t result[kLanes];
    for (uint32_t& lane : result) lane = w.active;
    write_words(w, in[0][0], result);
}
void bind_activemask(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding)) binding.run = run_activemask;
}

#define WW_PSC "parallel-synchronization-and-communication-instructions-"
#define WW_DM "data-movement-and-conversion-instructions-"
// clang-format off
constexpr Row kRows[] = {
    {"shfl.mode.b32 d{|p}, a, b, c", ".mode = .up .down .bfly .idx", {30, 30}, WW_DM "shfl", bind_shfl<false>},
    {"shfl.sync.mode.b32 d{|p}, a, b, c, membermask", ".mode = .up .down .bfly .idx", {60, 30}, WW_DM "shfl-sync", bind_shfl<true>},
    {"vote.mode.pred p, {!}a", ".mode = .all .any .uni", {12, 12}, WW_PSC "vote", bind_vote<false>},
    {"vote.ballot.b32 d, {!}a", "", {20, 20}, WW_PSC "vote", bind_vote<false>},
    {"vote.sync.mode.pred p, {!}a, membermask", ".mode = .all .any .uni", {60, 30}, WW_PSC "vote-sync", bind_vote<true>},
    {"vote.sync.ballot.b32 d, {!}a, membermask", "", {60, 30}, WW_PSC "vote-sync", bind_vote<true>},
    {"match.any.sync.type d, a, membermask", ".type = .b32 .b64", {60, 70}, WW_PSC "match-sync", bind_match<false>},
    {"match.all.sync.type d{|p}, a, membermask", ".type = .b32 .b64", {60, 70}, WW_PSC "match-sync", bind_match<true>},
    {"redux.sync.op.type dst, src, membermask", ".op = .add .min .max; .type = .u32 .s32", {70, 80}, WW_PSC "redux-sync",
     bind_redux_integer},
    {"redux.sync.op.b32 dst, src, membermask", ".op = .and .or .xor", {70, 80}, WW_PSC "redux-sync", bind_redux_integer},
    {"redux.sync.op{.abs}{.NaN}.f32 dst, src, membermask", ".op = .min .max", {86, 100, 'a'}, WW_PSC "redux-sync", bind_redux_float},
    {"elect.sync d|p, membermask", "", {80, 90}, WW_PSC "elect-sync", bind_elect},
    {"activemask.b32 d", "", {62, 30}, WW_PSC "activemask", bind_activemask},
};
// clang-format on

}  // namespace

std::span<const Row> warp_rows() { return kRows; }

}  // namespace ww::isa
