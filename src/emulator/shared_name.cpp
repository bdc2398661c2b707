// SPDX-License-Identifier: Apache-2.0
#include "emulator/shared_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::emulator {

std::string shared_name(const Kernel& kernel, uint64_t offset) {
    std::string name = fmt::format("byte {}", offset);
    for (const SharedVariable& each : kernel.shared) {
        const bool dynamic = each.bytes == 0;
        if (offset < each.offset || (!dynamic && offset >= each.offset + each.bytes)) continue;
        const uint64_t at = offset - each.offset;
        name = each.bytes == each.element_bytes ? each.name : fmt::format("{}[{}]", each.name, at / std::max<uint64_t>(each.element_bytes, 1));
        if (!dynamic) break;
    }
    return name;
}

}  // namespace ww::emulator
