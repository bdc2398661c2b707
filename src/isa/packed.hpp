// SPDX-License-Identifier: Apache-2.0
// Adapter for packed registers (.u16x2, .f32x2, ...): the 32 registers are read as one row of
// elements, so that one loop serves the scalar and the packed form.
#pragma once
#include "isa/lane.hpp"

namespace ww::isa {

// 32 * sizeof(Container) / sizeof(Element) elements; Op::apply works on elements.
template <class Op, class Element, class Container, size_t... I>
inline void run_packed_impl(Warp& w, const Inst& in, std::index_sequence<I...>) {
    constexpr size_t kCount = kLanes * sizeof(Container) / sizeof(Element);
    alignas(64) Container d_scratch[kLanes];
    [[maybe_unused]] alignas(64) Container scratch[sizeof...(I)][kLanes];
    Container* row = w.out<Container>(in[0][0], d_scratch);
    alignas(64) Element result[kCount];
    // memcpy keeps the change of type legal; the compiler turns it into loads.
    [[maybe_unused]] alignas(64) Element sources[sizeof...(I)][kCount];
    (std::memcpy(sources[I], w.in<Container>(in[I + 1][0], scratch[I]), sizeof sources[I]), ...);
    for (size_t i = 0; i < kCount; ++i) result[i] = Op::apply(sources[I][i]...);
    std::memcpy(row, result, sizeof result);
    w.commit<Container>(in[0][0], row, d_scratch);
}
template <class Op, class Element, class Container, int Sources>
void run_packed(Warp& w, const Inst& in) {
    run_packed_impl<Op, Element, Container>(w, in, std::make_index_sequence<Sources>{});
}

// d and the sources are registers of the container's width.
template <class Op, class Element, class Container, int Sources>
void bind_packed(const Match& match, Binding& binding) {
    for (int position = 0; position <= Sources; ++position)
        if (!check_value(match, position, sizeof(Container), binding)) return;
    binding.run = run_packed<Op, Element, Container, Sources>;
}

}  // namespace ww::isa
