// SPDX-License-Identifier: Apache-2.0
#include "ptx/module.hpp"

namespace ww::ptx {

uint64_t Variable::element_bytes() const {
    if (type == Type::none) return 8;  // .texref, .samplerref, .surfref: a handle
    return static_cast<uint64_t>(machine::type_bytes(type));
}

uint64_t Variable::bytes() const {
    uint64_t total = element_bytes() * static_cast<uint64_t>(vector);
    for (uint64_t size : dims) total *= size;  // parse() has checked that this fits
    return total;
}

uint64_t Variable::alignment() const {
    if (align != 0) return align;
    const uint64_t natural = element_bytes() * static_cast<uint64_t>(vector);
    return natural == 0 ? 1 : natural;
}

const SourceFile* Module::file(int index) const {
    for (const SourceFile& file : files)
        if (file.index == index) return &file;
    return nullptr;
}

const Function* Module::function(std::string_view wanted) const {
    const Function* declared = nullptr;
    for (const Function& function : functions) {
        if (function.name != wanted) continue;
        if (function.has_body) return &function;
        declared = &function;
    }
    return declared;
}

}  // namespace ww::ptx
