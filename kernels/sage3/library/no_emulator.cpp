// SPDX-License-Identifier: Apache-2.0
// Linked into libsage3.so in the place of sage3_device.cpp: the emulator is for tests.
#include "sage3/sage3_backend.hpp"

namespace ww::sage3 {

Result<std::unique_ptr<Backend>> open_emulator_backend() {
    return fail("device is 'emulator': this library runs on \"cuda\" only");
}

}  // namespace ww::sage3
