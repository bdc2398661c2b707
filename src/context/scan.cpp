// SPDX-License-Identifier: Apache-2.0
#include "context/scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"

namespace ww::context {
namespace {

constexpr std::array<std::string_view, 22> kInstructions{
    "mma.",       "wmma.",     "wgmma.",      "tcgen05.",     "ldmatrix.",  "stmatrix.",
    "movmatrix.", "cp.async",  "cp.reduce.async", "mbarrier.", "st.async",  "red.async",
    "st.bulk",    "fence.proxy", "fence.mbarrier_init", "tensormap.", "barrier.cluster", "griddepcontrol",
    "clusterlaunchcontrol.", "setmaxnreg.", "elect.sync", "multimem."};

bool mnemonic_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == ':' || c == '{' || c == '}' ||
           c == '%';
}

bool is_boilerplate(std::string_view line) {
    for (const std::string_view word :
         {"Copyright", "copyright", "SPDX-License", "All rights reserved", "Licensed under", "licence", "license", "LICENSE",
          "NVIDIA CORPORATION & AFFILIATES", "http://", "https://", "pragma", "Redistribution", "WARRANT", "clang-format",
          "coding:", "@file", "\\file", "redistribut", "endorse"})
        if (line.find(word) != std::string_view::npos) return true;
    return false;
}

}  // namespace

std::string tensor_or_async(std::string_view instruction) {
    instruction = trim(instruction);
    if (instruction.starts_with("@")) {  // a guard
        const size_t space = instruction.find_first_of(" \t");
        if (space == std::string_view::npos) return "";
        instruction = trim(instruction.substr(space));
    }
    for (const std::string_view start : kInstructions) {
        if (!instruction.starts_with(start)) continue;
        size_t end = 0;
        while (end < instruction.size() && mnemonic_char(instruction[end])) ++end;
        std::string out(instruction.substr(0, end));
        while (!out.empty() && (out.back() == '.' || out.back() == ':')) out.pop_back();
        return out;
    }
    return "";
}

std::vector<std::string> instructions_in(std::string_view assembly) {
    std::vector<std::string> out;
    size_t begin = 0;
    while (begin < assembly.size()) {
        const size_t end = std::min(assembly.find_first_of(";\n", begin), assembly.size());
        std::string_view one = trim(assembly.substr(begin, end - begin));
        begin = end + 1;
        // "{ .reg ...", "LAB: mbarrier..." and "} }": braces of scopes and labels go.
        for (bool more = true; more && !one.empty();) {
            more = false;
            if (one[0] == '{' || one[0] == '}') {
                one = trim(one.substr(1));
                more = true;
            }
            const size_t colon = one.find(':');
            if (colon != std::string_view::npos && colon + 1 < one.size() && one[colon + 1] != ':' &&
                one.substr(0, colon).find_first_of(" \t.") == std::string_view::npos) {
                one = trim(one.substr(colon + 1));
                more = true;
            }
        }
        std::string found = tensor_or_async(one);
        if (!found.empty() && std::find(out.begin(), out.end(), found) == out.end()) out.push_back(std::move(found));
    }
    return out;
}

std::string squeeze(std::string_view text, size_t limit) {
    std::string out;
    for (const std::string_view word : split_words(text)) {
        if (!out.empty()) out += ' ';
        out += word;
        if (out.size() > limit) break;
    }
    if (out.size() <= limit) return out;
    out.resize(limit - 3);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();  // within UTF-8
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
    return out + "...";
}

std::string first_sentence(std::string_view comment) {
    // The last words of well-known licences: what the file is about stands behind them.
    for (const std::string_view end : {"SUCH DAMAGE", "limitations under the License", "DEALINGS IN THE SOFTWARE", "strictly prohibited"})
        if (const size_t at = comment.rfind(end); at != std::string_view::npos)
            comment = comment.substr(std::min(comment.find('\n', at), comment.size()));
    std::string text;
    for (std::string_view line : split(comment, '\n')) {
        line = trim(line);
        while (!line.empty() && std::string_view("/*!<#-=\"'").find(line[0]) != std::string_view::npos) line = trim(line.substr(1));
        for (const std::string_view mark : {"\\brief", "@brief"})
            if (line.starts_with(mark)) line = trim(line.substr(mark.size()));
        const bool says = std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c); });
        if (is_boilerplate(line)) {
            text.clear();
            continue;
        }
        if (!says) {
            if (!text.empty()) break;
            continue;
        }
        text += (text.empty() ? "" : " ") + std::string(line);
        if (text.size() > 400) break;
    }
    for (size_t i = 0; i + 1 < text.size(); ++i)
        if (text[i] == '.' && text[i + 1] == ' ') return squeeze(text.substr(0, i + 1), 160);
    return squeeze(text, 160);
}

FileScan scan(std::string_view text, Language language) {
    FileScan out;
    if (is_cpp(language)) out = scan_cpp(text);
    if (is_python(language)) out = scan_python(text);
    out.language = language;
    out.lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + (text.empty() || text.ends_with('\n') ? 0 : 1);
    if (language == Language::markdown || language == Language::text) out.about = first_sentence(text.substr(0, 4096));
    return out;
}

const Function* function_at(const FileScan& file, int line) {
    const Function* best = nullptr;
    for (const Function& function : file.functions) {
        if (function.first > line) break;
        if (function.last >= line && (!best || function.first >= best->first)) best = &function;
    }
    return best;
}

}  // namespace ww::context
