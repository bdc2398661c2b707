// SPDX-License-Identifier: Apache-2.0
// How near an output must be. Only the description: the ladder judges. Whatever the mode, a NaN
// where the expected value is none, or an element nobody wrote, never passes.
#pragma once
#include <cstdint>
#include <string>

namespace ww::port {

struct Tolerance {
    enum class Mode {
        exact,        // the same bits as the reference's (and NaN only where it has NaN)
        ulp,          // within max_ulp units in the last place of the reference's value
        row_ulp,      // the same, of the largest magnitude in its row (the last row_axes axes)
        relative_to,  // error against float64 <= factor * baseline's own error + floor_ulp ulp
        l1_relative_to,  // the same of the relative L1 error over all elements alone
    };
    Mode mode = Mode::exact;
    double max_ulp = 0;
    int64_t row_axes = 1;
    std::string baseline = "reference";  // implementation whose error is the yardstick
    double factor = 2;
    double floor_ulp = 1;

    bool has_baseline() const { return mode == Mode::relative_to || mode == Mode::l1_relative_to; }
};

}  // namespace ww::port
