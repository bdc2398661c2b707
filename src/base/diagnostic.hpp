// SPDX-License-Identifier: Apache-2.0
// A message about input, with its place: what every reader of ours reports. Not an exception.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ww {

enum class Severity { note, warning, unsupported, error };

struct Diagnostic {
    Severity severity = Severity::error;
    std::string file;  // empty: no file
    int line = 0;      // 1-based; 0: no line
    int col = 0;       // 1-based byte column; 0: no column
    std::string message;
    std::string source_line;  // text of the line, for the caret; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

std::string_view severity_name(Severity severity);
// "file:line:col: error: message", then the source line and a caret where they are known.
std::string format(const Diagnostic& diagnostic);
std::string format(const Diagnostics& diagnostics);
bool has_error(const Diagnostics& diagnostics);

}  // namespace ww
