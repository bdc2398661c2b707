// SPDX-License-Identifier: Apache-2.0
// What a device does where it knows nothing better.
#include "device/device.hpp"

namespace ww::device {

Result<std::vector<double>> Device::time_turns(std::span<const Turn> turns, uint32_t) {
    if (turns.empty()) return std::vector<double>{};
    for (const Queued& each : turns.back()) {
        WW_TRY(done, launch(each.kernel, *each.launch));
        (void)done;
    }
    return std::vector<double>{};
}

}  // namespace ww::device
