// SPDX-License-Identifier: Apache-2.0
#include "context/cpp_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"

namespace ww::context {
namespace {

using Kind = CppToken::Kind;

bool word_start(unsigned char c) { return std::isalpha(c) || c == '_' || c == '$' || c >= 0x80; }
bool word_char(unsigned char c) { return word_start(c) || std::isdigit(c); }

class Tokenizer {
  public:
    explicit Tokenizer(std::string_view text) : text_(text) { out_.tokens.reserve(text.size() / 5); }

    CppTokens run() {
        while (at_ < text_.size()) step();
        if (out_.leading_comment.empty() && comment_end_ > 0) out_.leading_comment = text_.substr(0, comment_end_);
        return std::move(out_);
    }

  private:
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void count_lines(size_t from, size_t to) {
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(from),
                                             text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    }

    void push(Kind kind, size_t from, size_t to) {
        if (out_.tokens.empty() && out_.leading_comment.empty()) out_.leading_comment = text_.substr(0, comment_end_);
        out_.tokens.push_back({kind, text_.substr(from, to - from), line_});
    }

    void step() {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_, ++at_;
            fresh_ = true;
            return;
        }
        if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
            ++at_;
            return;
        }
        if (c == '/' && (peek(1) == '/' || peek(1) == '*')) return comment();
        if (c == '#' && fresh_) return directive();
        fresh_ = false;
        if (c == '"') return string(at_);
        if (c == '\'') return character();
        if (word_start(static_cast<unsigned char>(c))) return word();
        if (std::isdigit(static_cast<unsigned char>(c))) return number();
        punctuation();
    }

    void comment() {
        const size_t begin = at_;
        if (peek(1) == '/') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else {
            const size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string_view::npos ? text_.size() : end + 2;
            count_lines(begin, at_);
        }
        if (out_.tokens.empty()) comment_end_ = at_;
        const std::string_view body = text_.substr(begin, at_ - begin);
        if (out_.brief.empty() && (body.find("\\brief") != std::string_view::npos || body.find("@brief") != std::string_view::npos))
            out_.brief = body;
    }

    // To the end of the line, past continued ones.
    size_t end_of_directive() const {
        size_t end = at_;
        while (true) {
            end = std::min(text_.find('\n', end), text_.size());
            size_t last = end;
            while (last > at_ && text_[last - 1] == '\r') --last;
            if (end == text_.size() || last == at_ || text_[last - 1] != '\\') return end;
            ++end;
        }
    }

    void directive() {
        const size_t begin = at_, end = end_of_directive();
        std::string_view body = trim(text_.substr(begin + 1, end - begin - 1));
        const auto add = [&](Kind kind, std::string_view text) {
            push(kind, at_, at_);
            out_.tokens.back().text = text;
        };
        if (body.starts_with("include")) {
            const size_t open = body.find_first_of("\"<");
            const size_t close = open == std::string_view::npos ? open : body.find_first_of("\">", open + 1);
            if (close != std::string_view::npos) add(Kind::include, body.substr(open + 1, close - open - 1));
        } else if (body.starts_with("define")) {
            add(Kind::define, trim(body.substr(6)));
        } else if (body.starts_with("if")) {
            add(Kind::if_, "");
        } else if (body.starts_with("el")) {
            add(Kind::else_, "");
        } else if (body.starts_with("endif")) {
            add(Kind::endif, "");
        }
        count_lines(begin, end);
        at_ = end;
    }

    void string(size_t quote) {
        size_t end = quote + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        end = std::min(end, text_.size());
        push(Kind::string, quote + 1, end);
        count_lines(quote, std::min(end, text_.size()));  // escaped line breaks
        at_ = end < text_.size() && text_[end] == '"' ? end + 1 : end;
    }

    void raw_string(size_t quote) {
        const size_t open = text_.find('(', quote);
        if (open == std::string_view::npos || open - quote > 17) return string(quote);
        const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
        const size_t end = text_.find(close, open);
        const size_t stop = end == std::string_view::npos ? text_.size() : end;
        push(Kind::string, open + 1, stop);
        at_ = std::min(stop + close.size(), text_.size());
        count_lines(quote, at_);
    }

    void character() {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '\'' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        push(Kind::number, at_, std::min(end + 1, text_.size()));
        at_ = end < text_.size() && text_[end] == '\'' ? end + 1 : std::min(end, text_.size());
    }

    void word() {
        size_t end = at_;
        while (end < text_.size() && word_char(static_cast<unsigned char>(text_[end]))) ++end;
        const std::string_view word = text_.substr(at_, end - at_);
        if (end < text_.size() && text_[end] == '"' && (word == "R" || word == "LR" || word == "u8R" || word == "UR"))
            return raw_string(end);
        push(Kind::word, at_, end);
        at_ = end;
    }

    void number() {
        size_t end = at_;
        while (end < text_.size() && (word_char(static_cast<unsigned char>(text_[end])) || text_[end] == '.' ||
                                      (text_[end] == '\'' && end + 1 < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end + 1])))))
            ++end;
        push(Kind::number, at_, end);
        at_ = end;
    }

    void punctuation() {
        for (const std::string_view each : {"<<<", ">>>", "::", "->"})
            if (text_.substr(at_, each.size()) == each) {
                push(Kind::punctuation, at_, at_ + each.size());
                at_ += each.size();
                return;
            }
        push(Kind::punctuation, at_, at_ + 1);
        ++at_;
    }

    std::string_view text_;
    size_t at_ = 0, comment_end_ = 0;
    int line_ = 1;
    bool fresh_ = true;  // only blanks since the line began
    CppTokens out_;
};

}  // namespace

CppTokens tokenize_cpp(std::string_view text) { return Tokenizer(text).run(); }

}  // namespace ww::context
