// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.hpp"

#include <fmt/format.h>

namespace ww {

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::unsupported: return "unsupported";
        case Severity::error: return "error";
    }
    return "error";
}

std::string format(const Diagnostic& d) {
    std::string out;
    if (!d.file.empty()) {
        out += d.file;
        if (d.line > 0) out += fmt::format(":{}", d.line);
        if (d.line > 0 && d.col > 0) out += fmt::format(":{}", d.col);
        out += ": ";
    }
    out += fmt::format("{}: {}\n", severity_name(d.severity), d.message);
    if (!d.source_line.empty() && d.col > 0) {
        out += fmt::format("    {}\n    ", d.source_line);
        for (int i = 1; i < d.col && i <= static_cast<int>(d.source_line.size()); ++i)
            out += d.source_line[i - 1] == '\t' ? '\t' : ' ';
        out += "^\n";
    }
    return out;
}

std::string format(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& d : diagnostics) out += format(d);
    return out;
}

bool has_error(const Diagnostics& diagnostics) {
    for (const Diagnostic& d : diagnostics)
        if (d.severity == Severity::error) return true;
    return false;
}

}  // namespace ww
