// SPDX-License-Identifier: Apache-2.0
// The two message grammars. NVRTC: PLACE(LINE): KIND: TEXT, the source indented by two, a caret.
// ptxas: "ptxas PLACE, line N; KIND : TEXT" or "ptxas KIND : TEXT".
#include "toolchain/compiler_messages.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace ww::toolchain {
namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "warning #177-D" and "catastrophic error" are kinds too.
std::optional<Severity> severity_of(std::string_view kind) {
    kind = trim(kind);
    if (kind.starts_with("warning")) return Severity::warning;
    if (kind.starts_with("remark") || kind.starts_with("note") || kind.starts_with("info"))
        return Severity::note;
    if (kind.starts_with("error") || kind.starts_with("catastrophic error") ||
        kind.starts_with("internal error") || kind.starts_with("fatal"))
        return Severity::error;
    return std::nullopt;
}

std::optional<Diagnostic> nvrtc_head(std::string_view line) {
    // The last "(N): " whose rest starts with a kind: a path may hold parentheses.
    for (size_t close = line.find("): "); close != std::string_view::npos;
         close = line.find("): ", close + 1)) {
        const size_t open = line.rfind('(', close);
        if (open == std::string_view::npos) continue;
        const std::optional<int> at = number(line.substr(open + 1, close - open - 1));
        const std::string_view rest = line.substr(close + 3);
        const size_t colon = rest.find(':');
        if (!at || colon == std::string_view::npos) continue;
        const std::optional<Severity> severity = severity_of(rest.substr(0, colon));
        if (!severity) continue;
        return Diagnostic{.severity = *severity,
                          .file = std::string(line.substr(0, open)),
                          .line = *at,
                          .message = std::string(trim(rest.substr(colon + 1)))};
    }
    // "nvrtc: error: invalid value for --gpu-architecture (-arch)"
    constexpr std::string_view kOwn = "nvrtc: ";
    if (!line.starts_with(kOwn)) return std::nullopt;
    const std::string_view rest = line.substr(kOwn.size());
    const size_t colon = rest.find(':');
    const auto severity =
        colon == std::string_view::npos ? std::nullopt : severity_of(rest.substr(0, colon));
    if (!severity) return std::nullopt;
    return Diagnostic{.severity = *severity,
                      .message = "NVRTC: " + std::string(trim(rest.substr(colon + 1)))};
}

bool is_caret(std::string_view line) { return trim(line) == "^"; }

// Lines about the log itself, which the diagnostics already say.
bool is_summary(std::string_view line) {
    return line.starts_with("Remark: The warnings can be suppressed") ||
           line.find("detected in the compilation of") != std::string_view::npos;
}

std::string line_of(std::string_view source, int line) {
    const std::vector<std::string_view> lines = split(source, '\n');
    if (line < 1 || line > static_cast<int>(lines.size())) return "";
    return std::string(lines[static_cast<size_t>(line) - 1]);
}

// "FILE, line 12; error   : text", or "fatal   : text".
std::optional<Diagnostic> ptxas_message(std::string_view rest) {
    int at = 0;
    if (const size_t mark = rest.find(", line "); mark != std::string_view::npos) {
        const size_t end = rest.find(';', mark);
        if (end != std::string_view::npos) {
            at = number(rest.substr(mark + 7, end - mark - 7)).value_or(0);
            if (at > 0) rest = trim(rest.substr(end + 1));
        }
    }
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::optional<Severity> severity = severity_of(rest.substr(0, colon));
    if (!severity) return std::nullopt;
    return Diagnostic{
        .severity = *severity, .line = at, .message = std::string(trim(rest.substr(colon + 1)))};
}

}  // namespace

Diagnostics parse_nvrtc_log(std::string_view log) {
    Diagnostics out;
    std::string_view previous;  // an indented line: source text, if a caret follows
    for (const std::string_view line : split(log, '\n')) {
        if (trim(line).empty() || is_summary(line)) continue;
        if (std::optional<Diagnostic> head = nvrtc_head(line)) {
            out.push_back(*head);
        } else if (is_caret(line) && !out.empty() && previous.size() > 2) {
            constexpr size_t kIndent = 2;
            out.back().col =
                static_cast<int>(line.find('^') - std::min(line.find('^'), kIndent)) + 1;
            out.back().source_line = previous.substr(kIndent);
        } else if (line.starts_with("  ")) {
            previous = line;
            continue;
        } else {
            out.push_back({.severity = Severity::note, .message = std::string(trim(line))});
        }
        previous = {};
    }
    return out;
}

Diagnostics parse_ptxas_log(std::string_view log, std::string_view shown_name,
                            std::string_view source) {
    Diagnostics out;
    constexpr std::string_view kPrefix = "ptxas ";
    for (const std::string_view line : split(log, '\n')) {
        if (trim(line).empty()) continue;
        std::optional<Diagnostic> message;
        if (line.starts_with(kPrefix)) message = ptxas_message(line.substr(kPrefix.size()));
        if (!message)
            message = Diagnostic{.severity = Severity::note, .message = std::string(trim(line))};
        if (message->message == "Ptx assembly aborted due to errors" && has_error(out)) continue;
        message->file = shown_name;
        if (message->line > 0) {
            message->source_line = line_of(source, message->line);
            const size_t first = message->source_line.find_first_not_of(" \t");
            if (first != std::string::npos) message->col = static_cast<int>(first) + 1;
        }
        out.push_back(*message);
    }
    return out;
}

}  // namespace ww::toolchain
