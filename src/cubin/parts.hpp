// SPDX-License-Identifier: Apache-2.0
// What the reader of this room is split into; private to it.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cubin/cubin.hpp"
#include "cubin/elf.hpp"

namespace ww::cubin {

// Sets the target, the tool and the toolkit, from the header, .nv.compat and the notes.
Status read_origin(const Elf& elf, const std::string& file, Cubin& cubin);

inline bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

}  // namespace ww::cubin
