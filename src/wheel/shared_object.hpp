// SPDX-License-Identifier: Apache-2.0
// What a shared object wants of the machine that loads it: libraries, and the newest glibc.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::wheel {

struct SharedObject {
    std::vector<std::string> needed;  // DT_NEEDED
    std::vector<std::string> names;   // that its dynamic section knows: of symbols, versions, libraries
    int glibc_minor = 0;              // 35: symbols of GLIBC_2.35 and none younger
    // Needed libraries that are not part of glibc: another machine may lack them, or have older ones.
    std::vector<std::string> foreign() const;
};

// bytes: an ELF file for x86-64. name is for messages.
Result<SharedObject> read_shared_object(std::string_view bytes, const std::string& name);

}  // namespace ww::wheel
