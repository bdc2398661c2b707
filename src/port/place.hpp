// SPDX-License-Identifier: Apache-2.0
// A place in a port.toml that outlives the parser: a check made much later (the value of an
// expression, a file that is missing) can still point at the line that asked for it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace ww::port {

struct SourceText {
    std::string path;
    std::vector<std::string> lines;
    SourceText(std::string path, std::string_view text);
};

struct Place {
    std::shared_ptr<const SourceText> source;  // null: no known place
    int line = 0, col = 0;                     // 1-based; col counts bytes

    Diagnostic error(std::string message) const;
    Place right(size_t bytes) const;  // so many bytes further on the same line
};

// The same diagnostics; those that name no file are about what stands at this place.
Diagnostics placed(Diagnostics diagnostics, const Place& place);

}  // namespace ww::port
