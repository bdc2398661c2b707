// SPDX-License-Identifier: Apache-2.0
// Which instructions a test's own text holds: the list that coverage is counted from.
#include <cctype>

#include "base/text.hpp"
#include "exectest/expand.hpp"

namespace ww::exectest {
namespace {

// Comments become blanks, so that lines stay what they are.
std::string without_comments(const std::string& text) {
    std::string plain = text;
    for (size_t i = 0; i + 1 < plain.size(); ++i) {
        if (plain[i] != '/') continue;
        bool block = plain[i + 1] == '*';
        if (!block && plain[i + 1] != '/') continue;
        size_t end = block ? plain.find("*/", i + 2) : plain.find('\n', i);
        end = end == std::string::npos ? plain.size() : end + (block ? 2 : 0);
        for (size_t at = i; at < end; ++at)
            if (plain[at] != '\n') plain[at] = ' ';
        i = end;
    }
    return plain;
}

bool is_label_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

// What is left of a statement without braces of scopes, labels and the guard.
std::string_view bare(std::string_view text) {
    for (;;) {
        text = trim(text);
        if (text.empty()) return text;
        if (text[0] == '{' || text[0] == '}') {
            text.remove_prefix(1);
            continue;
        }
        if (text[0] == '@') {
            size_t space = text.find_first_of(" \t\n");
            text = space == std::string_view::npos ? "" : text.substr(space);
            continue;
        }
        size_t end = 0;
        while (end < text.size() && is_label_char(text[end])) ++end;
        if (end > 0 && end < text.size() && text[end] == ':' &&
            (end + 1 == text.size() || text[end + 1] != ':')) {
            text.remove_prefix(end + 1);
            continue;
        }
        return text;
    }
}

void collect(const std::string& source, int first_line, std::vector<InstructionText>& found) {
    std::string plain = without_comments(source);
    size_t begin = 0;
    int line = first_line;
    while (begin < plain.size()) {
        size_t end = plain.find(';', begin);
        if (end == std::string::npos) break;
        std::string_view statement(plain.data() + begin, end - begin);
        std::string_view text = bare(statement);
        // A function's head ends at its brace, not at a semicolon.
        if (!text.empty() && text[0] == '.' && text.find(".func") != std::string_view::npos) {
            size_t brace = text.find('{');
            text = brace == std::string_view::npos ? "" : bare(text.substr(brace));
        }
        if (!text.empty() && text[0] != '.') {
            size_t before = static_cast<size_t>(text.data() - plain.data());
            int at = line;
            for (size_t i = begin; i < before; ++i) at += plain[i] == '\n';
            InstructionText instruction;
            instruction.text = join(
                [&] {
                    std::vector<std::string> words;
                    for (std::string_view word : split_words(text)) words.emplace_back(word);
                    return words;
                }(),
                " ");
            instruction.opcode = std::string(split_words(text)[0]);
            instruction.line = at;
            found.push_back(std::move(instruction));
        }
        for (size_t i = begin; i <= end; ++i) line += plain[i] == '\n';
        begin = end + 1;
    }
}

}  // namespace

std::vector<InstructionText> instructions_of(const TestFile& test) {
    std::vector<InstructionText> found;
    collect(test.module_text, test.module_line, found);
    collect(test.body, test.body_line, found);
    return found;
}

}  // namespace ww::exectest
