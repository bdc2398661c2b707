// SPDX-License-Identifier: Apache-2.0
// The emulated device's tensor maps: the limits of cuTensorMapEncodeTiled, and 128 bytes of our own
// layout (the hardware's is not published).
#pragma once
#include "device/device.hpp"

namespace ww::device {

// The failure names the first argument that the driver would refuse, and its limit.
Result<TensorMap> encode_tiled(const TensorMapTiled& tiled);
// What encode_tiled wrote; fails on any other 128 bytes.
Result<TensorMapTiled> decode_tiled(const TensorMap& map);

}  // namespace ww::device
