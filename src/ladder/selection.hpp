// SPDX-License-Identifier: Apache-2.0
// Which implementations and cases of a port a command is about.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "port/port.hpp"

namespace ww::ladder {

// glob empty: all but reference and float64.
Result<std::vector<const port::Implementation*>> pick_implementations(const port::Port& port,
                                                                      const std::string& glob);
// glob empty: all that are neither slow nor bench; a bench case only by its whole name. Small ones come first.
Result<std::vector<const port::Case*>> pick_cases(const port::Port& port, const std::string& glob);

// Those that times are for: of those marked bench, in file order, those that match; where there are none, any that match
// (glob empty: the three largest).
Result<std::vector<const port::Case*>> pick_bench_cases(const port::Port& port, const std::string& glob);
// A kernel that stays on its multiprocessors is told how many there are by an axis `processors`, where the case leaves it open.
port::Case case_on_device(const port::Port& port, const port::Case& c, const device::Info& device);
// "B=1 D=128 causal=1": what the case gives, axes and scalars and types.
std::string sizes_text(const port::Case& c);

}  // namespace ww::ladder
