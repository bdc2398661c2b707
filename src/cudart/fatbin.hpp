// SPDX-License-Identifier: Apache-2.0
// The PTX in a fat binary, as nvcc embeds it in a program. The format is not documented; what stands
// here was seen in the output of nvcc 13.0.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/target.hpp"

namespace ww::cudart {

struct EmbeddedPtx {
    Target target;  // of its .target directive
    std::string text;
};

// What bytes hold, which may go on behind the fat binary. Compressed PTX is expanded by libzstd, where
// the machine has it. Cubins are passed over.
Result<std::vector<EmbeddedPtx>> read_fat_binary(std::span<const std::byte> bytes);
// As the program hands it over: in memory, of the length that its header says.
Result<std::vector<EmbeddedPtx>> read_fat_binary(const void* data);

// What PTX text says that it is for.
Result<Target> ptx_target(const std::string& text);

// The text for a device of that compute capability: the newest target that it has. Null: none.
const EmbeddedPtx* choose(const std::vector<EmbeddedPtx>& images, int device_sm);

}  // namespace ww::cudart
