// SPDX-License-Identifier: Apache-2.0
// How the warps of a launch stand, as the emulator tells it, in the words of device.hpp.
#pragma once
#include <vector>

#include "device/device.hpp"
#include "emulator/deadlock.hpp"

namespace ww::device {

std::vector<WaitRecord> wait_records(const emulator::Standing& standing);

}  // namespace ww::device
