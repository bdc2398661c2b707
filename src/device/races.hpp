// SPDX-License-Identifier: Apache-2.0
// The race checker's findings, with names and lines instead of numbers.
#pragma once
#include <vector>

#include "device/device.hpp"
#include "emulator/register_watch.hpp"
#include "races/checker.hpp"

namespace ww::device {

emulator::OnRegisters register_observer(races::Checker& checker);
std::vector<RaceRecord> race_records(const emulator::Kernel& kernel, const machine::GlobalMemory& memory,
                                     const emulator::RegisterWatch& registers, const std::vector<races::Finding>& findings);

}  // namespace ww::device
