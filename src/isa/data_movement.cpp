// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement and Conversion Instructions": mov with its packing and unpacking, and
// prmt. Loads and stores are in load_store.cpp, addresses in address.cpp, conversions in
// convert.cpp.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"

namespace ww::isa {
namespace {

struct Copy {
    template <class T>
    static T apply(T a) {
        return a;
    }
};

void run_mov_predicate(Warp& w, const Inst& in) {
    w.set_predicate(in[0][0], w.predicate(in[1][0]));
}

// From a special register: %is_explicit_cluster is a predicate that is kept as a number.
void run_mov_predicate_from_number(Warp& w, const Inst& in) {
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* a = w.in<uint32_t>(in[1][0], scratch);
    LaneMask bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) bits |= LaneMask{a[lane] != 0} << lane;
    w.set_predicate(in[0][0], bits);
}

void bind_mov_predicate(const Match& match, Binding& binding) {
    if (match.operands[1].kind == OperandInfo::Kind::value && check_predicate(match, 0, binding)) {
        if (check_value(match, 1, 4, binding)) binding.run = run_mov_predicate_from_number;
        return;
    }
    if (check_predicate(match, 0, binding) && check_predicate(match, 1, binding))
        binding.run = run_mov_predicate;
}

// {a, b, ...} -> d: the first element is the lowest.
template <class Whole, class Part>
void run_pack(Warp& w, const Inst& in) {
    constexpr int kParts = sizeof(Whole) / sizeof(Part);
    alignas(64) Whole result[kLanes] = {};
    alignas(64) Part scratch[kLanes];
    for (int part = 0; part < kParts; ++part) {
        const Part* a = w.in<Part>(in[1][part], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            result[lane] |= static_cast<Whole>(static_cast<Whole>(a[lane])
                                               << (8 * sizeof(Part) * static_cast<size_t>(part)));
    }
    alignas(64) Whole unused[kLanes];
    Whole* d = w.out<Whole>(in[0][0], unused);
    std::memcpy(d, result, sizeof result);
    w.commit<Whole>(in[0][0], d, unused);
}

template <class Whole, class Part>
void run_unpack(Warp& w, const Inst& in) {
    constexpr int kParts = sizeof(Whole) / sizeof(Part);
    alignas(64) Whole source[kLanes], wide[kLanes];
    alignas(64) Part scratch[kLanes];
    std::memcpy(source, w.in<Whole>(in[1][0], wide), sizeof source);  // d may be a
    for (int part = 0; part < kParts; ++part) {
        Part* d = w.out<Part>(in[0][part], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            d[lane] =
                static_cast<Part>(source[lane] >> (8 * sizeof(Part) * static_cast<size_t>(part)));
        w.commit<Part>(in[0][part], d, scratch);
    }
}

// The run function for `count` elements in a value of the type Whole.
template <class Whole, bool Pack>
machine::Run choose_parts(int count) {
    const size_t bytes = sizeof(Whole) / static_cast<size_t>(count);
    if (bytes * static_cast<size_t>(count) != sizeof(Whole)) return nullptr;
    const auto of = [&]<class Part>() -> machine::Run {
        if constexpr (sizeof(Part) < sizeof(Whole))
            return Pack ? run_pack<Whole, Part> : run_unpack<Whole, Part>;
        return nullptr;
    };
    switch (bytes) {
        case 1:
            return sizeof(Whole) <= 4 ? of.template operator()<uint8_t>() : nullptr;
        case 2:
            return sizeof(Whole) <= 8 ? of.template operator()<uint16_t>() : nullptr;
        case 4:
            return of.template operator()<uint32_t>();
        case 8:
            return of.template operator()<uint64_t>();
        default:
            return nullptr;
    }
}

template <bool Pack>
machine::Run choose_whole(int bytes, int count) {
    switch (bytes) {
        case 2:
            return choose_parts<uint16_t, Pack>(count);
        case 4:
            return choose_parts<uint32_t, Pack>(count);
        case 8:
            return choose_parts<uint64_t, Pack>(count);
        case 16:
            return choose_parts<Bits128, Pack>(count);
        default:
            return nullptr;
    }
}

void bind_mov(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    const int to = match.operands[0].count, from = match.operands[1].count;
    const bool pack = from > 1, unpack = to > 1;
    if (pack && unpack) {
        binding.error = "one side of mov must be a scalar";
    } else if (pack || unpack) {
        const int count = pack ? from : to;
        binding.run = pack ? choose_whole<true>(bytes, count) : choose_whole<false>(bytes, count);
        if (!binding.run) {
            binding.error = "cannot divide " + std::string(match.get(".type")) + " into " +
                            std::to_string(count) + " elements";
            return;
        }
        if (!check_value(match, pack ? 0 : 1, bytes, binding) ||
            !check_vector(match, pack ? 1 : 0, count, bytes / count, binding))
            binding.run = nullptr;
    } else if (bytes == 16) {
        bind_lanes<Copy, Bits128, Bits128>(match, binding);
    } else if (bytes == 2) {
        bind_lanes<Copy, uint16_t, uint16_t>(match, binding);
    } else if (bytes == 4) {
        bind_lanes<Copy, uint32_t, uint32_t>(match, binding);
    } else {
        bind_lanes<Copy, uint64_t, uint64_t>(match, binding);
    }
}

// ---- prmt ----
// A selector nibble: the byte's number, and bit 3 for its sign in all eight bits.
// Without branches and in 32 bits, so that the loop over lanes vectorises.
constexpr uint32_t select_byte(uint32_t a, uint32_t b, uint32_t selector) {
    const uint32_t word = (selector & 4) != 0 ? b : a;
    const uint32_t byte = word >> (8 * (selector & 3)) & 0xff, sign = 0xff * (byte >> 7);
    return (selector & 8) != 0 ? sign : byte;
}
constexpr uint32_t select_four(uint32_t a, uint32_t b, const uint32_t (&selector)[4]) {
    return select_byte(a, b, selector[0]) | select_byte(a, b, selector[1]) << 8 |
           select_byte(a, b, selector[2]) << 16 | select_byte(a, b, selector[3]) << 24;
}

struct PermuteDefault {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t selector[4] = {c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15};
        return select_four(a, b, selector);
    }
};
// The modes take the two low bits of c and a rule for the four bytes.
struct PermuteForward4 {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = c & 3, selector[4] = {n, n + 1, n + 2, n + 3};
        return select_four(a, b, selector);
    }
};
struct PermuteBackward4 {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = c & 3, selector[4] = {n, (n + 7) & 7, (n + 6) & 7, (n + 5) & 7};
        return select_four(a, b, selector);
    }
};
struct PermuteReplicate8 {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = c & 3, selector[4] = {n, n, n, n};
        return select_four(a, b, selector);
    }
};
struct PermuteEdgeLeft {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = c & 3, selector[4] = {n, n > 1 ? n : 1, n > 2 ? n : 2, 3};
        return select_four(a, b, selector);
    }
};
struct PermuteEdgeRight {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = c & 3, selector[4] = {0, n < 1 ? n : 1, n < 2 ? n : 2, n};
        return select_four(a, b, selector);
    }
};
struct PermuteReplicate16 {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t n = 2 * (c & 1), selector[4] = {n, n + 1, n, n + 1};
        return select_four(a, b, selector);
    }
};

void bind_prmt(const Match& match, Binding& binding) {
    const auto use = [&]<class Op>() {
        bind_lanes<Op, uint32_t, uint32_t, uint32_t, uint32_t>(match, binding);
    };
    const std::string_view mode = match.get(".mode");
    if (mode == ".f4e")
        use.template operator()<PermuteForward4>();
    else if (mode == ".b4e")
        use.template operator()<PermuteBackward4>();
    else if (mode == ".rc8")
        use.template operator()<PermuteReplicate8>();
    else if (mode == ".ecl")
        use.template operator()<PermuteEdgeLeft>();
    else if (mode == ".ecr")
        use.template operator()<PermuteEdgeRight>();
    else if (mode == ".rc16")
        use.template operator()<PermuteReplicate16>();
    else
        use.template operator()<PermuteDefault>();
}

// clang-format off
constexpr Row kRows[] = {
    {"mov.pred p, q", "", {10}, "data-movement-and-conversion-instructions-mov", bind_mov_predicate},
    {"mov.type d, a", ".type = .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64", {10},
     "data-movement-and-conversion-instructions-mov", bind_mov},
    {"mov.type d, a", ".type = .b128", {83, 70}, "data-movement-and-conversion-instructions-mov-2", bind_mov},
    {"prmt.b32{.mode} d, a, b, c", ".mode = .f4e .b4e .rc8 .ecl .ecr .rc16", {20, 20},
     "data-movement-and-conversion-instructions-prmt", bind_prmt},
};
// clang-format on

}  // namespace

std::span<const Row> data_movement_rows() { return kRows; }

}  // namespace ww::isa
