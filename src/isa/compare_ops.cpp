// SPDX-License-Identifier: Apache-2.0
#include "isa/compare_ops.hpp"

namespace ww::isa {

void finish_compare(Warp& w, const Inst& in, LaneMask holds) {
    const CompareAux aux = CompareAux::unpack(in.aux);
    const bool is_set = aux.result_bytes != 0;
    const machine::Arg& other = in[is_set ? 3 : 4];
    const LaneMask c = aux.op == BoolOp::none ? 0 : w.predicate(other[0]);
    const LaneMask first = combine(aux.op, holds, c);
    if (!is_set) {
        const LaneMask second = combine(aux.op, ~holds, c);
        w.set_predicate(in[0][0], first);
        if (in[1].count != 0) w.set_predicate(in[1][0], second);
        return;
    }
    const auto write = [&]<class T>() {
        alignas(64) T scratch[kLanes];
        T* d = w.out<T>(in[0][0], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            d[lane] = (first >> lane & 1) ? static_cast<T>(aux.true_bits) : T{0};
        w.commit<T>(in[0][0], d, scratch);
    };
    if (aux.result_bytes == 2)
        write.operator()<uint16_t>();
    else
        write.operator()<uint32_t>();
}

}  // namespace ww::isa
