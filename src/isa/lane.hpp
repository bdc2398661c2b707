// SPDX-License-Identifier: Apache-2.0
// Adapters that lift a pure function of values to an instruction of 32 lanes. A semantic is
// struct Op { static D apply(A a, B b, ...); }; the loop below vectorises it. Operand position 0
// is the destination. Guards and partial masks are applied here, nowhere else.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "isa/row.hpp"
#include "machine/warp.hpp"

namespace ww::isa {

using machine::Inst;
using machine::kAllLanes;
using machine::kLanes;
using machine::LaneMask;
using machine::Warp;

// Room for sources that are not registers of their type. Left uninitialised: clearing it would
// cost more than most instructions.
template <class... S>
struct SourceScratch {
    static constexpr size_t kRow = kLanes * std::max({size_t{1}, sizeof(S)...});
    alignas(64) std::byte bytes[sizeof...(S) + 1][kRow];
    template <class T>
    T* of(size_t source) { return reinterpret_cast<T*>(bytes[source]); }
};

// ---- d = Op(s1, s2, ...) on registers ----
template <class Op, class D, class... S, size_t... I>
inline void run_lanes_impl(Warp& w, const Inst& in, std::index_sequence<I...>) {
    alignas(64) D d_scratch[kLanes];
    [[maybe_unused]] SourceScratch<S...> scratch;
    D* d = w.out<D>(in[0][0], d_scratch);
    const auto sources = std::make_tuple(w.in<S>(in[I + 1][0], scratch.template of<S>(I))...);
    for (int lane = 0; lane < kLanes; ++lane) d[lane] = Op::apply(std::get<I>(sources)[lane]...);
    w.commit<D>(in[0][0], d, d_scratch);
}
template <class Op, class D, class... S>
void run_lanes(Warp& w, const Inst& in) {
    run_lanes_impl<Op, D, S...>(w, in, std::index_sequence_for<S...>{});
}

// ---- p = Op(s1, s2, ...) ----
template <class Op, class... S, size_t... I>
inline LaneMask test_lanes(Warp& w, const Inst& in, int first, std::index_sequence<I...>) {
    SourceScratch<S...> scratch;
    const auto sources = std::make_tuple(w.in<S>(in[first + static_cast<int>(I)][0], scratch.template of<S>(I))...);
    LaneMask bits = 0;
    for (int lane = 0; lane < kLanes; ++lane)
        bits |= LaneMask{static_cast<bool>(Op::apply(std::get<I>(sources)[lane]...))} << lane;
    return bits;
}

// A bind must refuse operands that its loop cannot take: wrong kind, or a register narrower than T.
bool check_value(const Match& match, int position, int bytes, Binding& binding);
bool check_predicate(const Match& match, int position, Binding& binding);
// The vector at this position must have this many elements of at least these bytes.
bool check_vector(const Match& match, int position, int count, int bytes, Binding& binding);

// Bind for fixed types: {.., bind_lanes<Op, uint32_t, uint32_t, uint32_t>}.
template <class Op, class D, class... S>
void bind_lanes(const Match& match, Binding& binding) {
    int position = 0;
    if (!check_value(match, position++, sizeof(D), binding)) return;
    for (const size_t bytes : {sizeof(S)...})
        if (!check_value(match, position++, static_cast<int>(bytes), binding)) return;
    binding.run = run_lanes<Op, D, S...>;
}

// ---- choice of a C++ type by the row's .type ----
template <class T>
constexpr bool is_type(Type type) {
    switch (type) {
        case Type::u8: return std::is_same_v<T, uint8_t>;
        case Type::s8: return std::is_same_v<T, int8_t>;
        case Type::u16: return std::is_same_v<T, uint16_t>;
        case Type::s16: return std::is_same_v<T, int16_t>;
        case Type::u32: return std::is_same_v<T, uint32_t>;
        case Type::s32: return std::is_same_v<T, int32_t>;
        case Type::u64: return std::is_same_v<T, uint64_t>;
        case Type::s64: return std::is_same_v<T, int64_t>;
        case Type::b8: return std::is_same_v<T, uint8_t>;
        case Type::b16: return std::is_same_v<T, uint16_t>;
        case Type::b32: return std::is_same_v<T, uint32_t>;
        case Type::b64: return std::is_same_v<T, uint64_t>;
        case Type::f32: return std::is_same_v<T, float>;
        case Type::f64: return std::is_same_v<T, double>;
        default: return false;
    }
}

// Calls f.template operator()<T>() for the T in the list that is the row's .type.
template <class... T, class F>
bool with_type(Type type, F&& f) {
    return ((is_type<T>(type) ? (f.template operator()<T>(), true) : false) || ...);
}

template <class T, size_t>
using Repeat = T;
template <class Op, class T, size_t... I>
void bind_same_impl(const Match& match, Binding& binding, std::index_sequence<I...>) {
    bind_lanes<Op, T, Repeat<T, I>...>(match, binding);
}
// d and Count sources all of the row's .type, one of T...; Op::apply is a template or overloaded.
template <class Op, int Count, class... T>
void bind_same(const Match& match, Binding& binding) {
    const bool found = with_type<T...>(match.type(), [&]<class U>() {
        bind_same_impl<Op, U>(match, binding, std::make_index_sequence<Count>{});
    });
    if (!found) binding.error = "type " + std::string(match.get(".type")) + " has no semantics";
}

}  // namespace ww::isa
