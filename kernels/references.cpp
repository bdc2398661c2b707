// SPDX-License-Identifier: Apache-2.0
#include "references.hpp"

namespace ww::kernels {

ladder::LibraryTable references() {
    return {
        {"softmax_reference", softmax_reference},
    };
}

ladder::PlanTable plans() { return {}; }

}  // namespace ww::kernels
