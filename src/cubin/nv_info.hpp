// SPDX-License-Identifier: Apache-2.0
// The attributes of .nv.info sections, private to this room: records that describe a whole cubin
// (keyed by a function's symbol) or one function. One row an attribute that we read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cubin/cubin.hpp"
#include "cubin/elf.hpp"

namespace ww::cubin {

enum class AttributeFormat : uint8_t { none = 1, byte = 2, half = 3, sized = 4 };

struct Attribute {
    AttributeFormat format = AttributeFormat::none;
    uint8_t id = 0;
    std::string_view data;  // two bytes for all formats but sized
    uint64_t offset = 0;    // in the file, for messages
};

// Splits a section into its records; a record that runs over the end is an error.
Result<std::vector<Attribute>> read_attributes(const Section& section, const std::string& file);

// Sets what the attribute says in the function's description; attributes without a row say nothing
// that we report. per_function: the record stands in the function's own section; those of the whole
// cubin begin with the symbol that symbol_of gives.
Status apply_attribute(const Attribute& attribute, bool per_function, Kernel& kernel,
                       const std::string& file);
// Whether a record of the whole cubin has a row, and then the index of the symbol that it
// describes.
Result<int64_t> symbol_of(const Attribute& attribute, const std::string& file);

}  // namespace ww::cubin
