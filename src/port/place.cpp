// SPDX-License-Identifier: Apache-2.0
#include "port/place.hpp"

#include <utility>

#include "base/text.hpp"

namespace ww::port {

SourceText::SourceText(std::string source_path, std::string_view text)
    : path(std::move(source_path)) {
    for (std::string_view line : split(text, '\n')) {
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        lines.emplace_back(line);
    }
}

Diagnostic Place::error(std::string message) const {
    Diagnostic diagnostic{.line = line, .col = col, .message = std::move(message)};
    if (source) {
        diagnostic.file = source->path;
        const size_t index = static_cast<size_t>(line) - 1;
        if (line > 0 && index < source->lines.size()) diagnostic.source_line = source->lines[index];
    }
    return diagnostic;
}

Diagnostics placed(Diagnostics diagnostics, const Place& place) {
    for (Diagnostic& each : diagnostics) {
        if (!each.file.empty()) continue;
        const Severity severity = each.severity;
        each = place.error(std::move(each.message));
        each.severity = severity;
    }
    return diagnostics;
}

Place Place::right(size_t bytes) const {
    Place moved = *this;
    if (moved.col > 0) moved.col += static_cast<int>(bytes);
    return moved;
}

}  // namespace ww::port
