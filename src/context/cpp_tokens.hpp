// SPDX-License-Identifier: Apache-2.0
// C++ text as tokens, without comments. Preprocessor lines become tokens of their own kinds; the
// bodies of macros are kept as text.
#pragma once
#include <string_view>
#include <vector>

namespace ww::context {

struct CppToken {
    enum class Kind { word, number, string, punctuation, include, define, if_, else_, endif };
    Kind kind = Kind::punctuation;
    // string: without its quotes; include: the name; define: everything behind "#define".
    std::string_view text;
    int line = 0;

    bool is(std::string_view other) const { return kind != Kind::string && text == other; }
};

struct CppTokens {
    std::vector<CppToken> tokens;
    std::string_view leading_comment;  // up to the first token
    std::string_view brief;            // the first comment with \brief
};

CppTokens tokenize_cpp(std::string_view text);

}  // namespace ww::context
