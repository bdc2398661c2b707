// SPDX-License-Identifier: Apache-2.0
// What ptxas -v told of each kernel that the cubin does not hold: bytes of spills, and its own
// performance warnings (C7510 to C7519: wgmma that it had to serialise).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ww::toolchain {

struct PtxasFunction {
    uint64_t spill_store_bytes = 0, spill_load_bytes = 0;
    std::vector<std::string> warnings;  // "C7510: Potential Performance Loss: ..."
};
// By the function's name; warnings that name none stand under "".
std::map<std::string, PtxasFunction> parse_ptxas_report(std::string_view log);

}  // namespace ww::toolchain
