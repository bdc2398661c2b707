// SPDX-License-Identifier: Apache-2.0
// The one list of chapters, in the manual's order.
#include "isa/isa.hpp"

namespace ww::isa {

std::span<const Chapter> chapters() {
    static const Chapter kChapters[] = {
        {"integer_arith", integer_arith_rows()},
        {"data_movement", data_movement_rows()},
    };
    return kChapters;
}

}  // namespace ww::isa
