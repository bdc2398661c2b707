// SPDX-License-Identifier: Apache-2.0
// From the registers of a warp to the matrices of mma.sync and back; where the elements live is
// mma_fragments.hpp.
#pragma once
#include <string>

#include "isa/lane.hpp"
#include "isa/mma_fragments.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::isa {

template <class Word>
void gather_rows(const Warp& w, const machine::Arg& arg, int registers, int rows, int row_bytes,
                 uint8_t* matrix) {
    alignas(64) Word scratch[kLanes];
    for (int r = 0; r < registers; ++r)
        place_rows<Word>(w.in<Word>(arg[r], scratch), r, rows, row_bytes, matrix);
}

template <class Word>
void gather_pairs(const Warp& w, const machine::Arg& arg, int registers, Word* matrix) {
    alignas(64) Word scratch[2][kLanes];
    for (int r = 0; r < registers; r += 2)
        interleave<Word>(w.in<Word>(arg[r], scratch[0]), w.in<Word>(arg[r + 1], scratch[1]),
                         matrix + kLanes * r);
}

template <class Word>
void scatter_pairs(Warp& w, const machine::Arg& arg, int registers, const Word* matrix) {
    alignas(64) Word value[2][kLanes];
    for (int r = 0; r < registers; r += 2) {
        Word *even = w.out<Word>(arg[r], value[0]), *odd = w.out<Word>(arg[r + 1], value[1]);
        separate<Word>(matrix + kLanes * r, even, odd);
        w.commit<Word>(arg[r], even, value[0]);
        w.commit<Word>(arg[r + 1], odd, value[1]);
    }
}

// e2m1 in the middle of a byte, as kind::f8f6f4 wants it, becomes the byte's low bits.
inline void uncenter(uint8_t* codes, int bytes) {
    for (int i = 0; i < bytes; ++i) codes[i] = static_cast<uint8_t>(codes[i] >> 2 & 15);
}

// ".m16n8k16"
inline numerics::Shape parse_shape(std::string_view text) {
    const auto number_after = [&](char letter) {
        return std::stoi(std::string(text.substr(text.find(letter) + 1)));
    };
    return {number_after('m'), number_after('n'), number_after('k')};
}

// mma.sp, whose rows stand in mma.cpp.
void bind_mma_sparse(const Match& match, Binding& binding);

}  // namespace ww::isa
