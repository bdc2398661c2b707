// SPDX-License-Identifier: Apache-2.0
// Which implementations and cases of a port a command is about.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "port/port.hpp"

namespace ww::ladder {

// glob empty: all but reference and float64.
Result<std::vector<const port::Implementation*>> pick_implementations(const port::Port& port,
                                                                      const std::string& glob);
// glob empty: all that are neither slow nor bench; a bench case only by its whole name. Small ones come first.
Result<std::vector<const port::Case*>> pick_cases(const port::Port& port, const std::string& glob);

}  // namespace ww::ladder
