// SPDX-License-Identifier: Apache-2.0
// CUDA C++ by its form: scopes by their braces, what opens them by the words before.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "context/cpp_tokens.hpp"
#include "context/scan.hpp"

namespace ww::context {
namespace {

using Kind = CppToken::Kind;

constexpr size_t kFarthest = 20000;  // tokens in which a bracket is closed, if it is at all

enum class ScopeKind { outer, name_space, type, function, block };

struct Scope {
    ScopeKind kind = ScopeKind::outer;
    std::string name;
    int function = -1;  // index of the function that it is, or is within
    size_t head = 0;    // a member's initialiser: where the constructor's head began; else 0
};

// Words with parentheses of their own in front of a function's name.
bool takes_arguments(std::string_view word) {
    for (const std::string_view each : {"__launch_bounds__", "__attribute__", "alignas", "__align__", "decltype", "noexcept",
                                        "requires", "explicit", "__cluster_dims__", "__maxnreg__", "throw",
                                        "static_assert", "__block_size__"})
        if (word == each) return true;
    return false;
}

bool is_keyword(std::string_view word) {
    for (const std::string_view each : {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "catch", "alignof",
                                        "static_cast", "reinterpret_cast", "const_cast", "asm", "__asm__", "defined", "volatile",
                                        "__volatile__", "template"})
        if (word == each) return true;
    return takes_arguments(word);
}

// CuTe's and CUTLASS's names of instructions, and CUDA's own functions of this kind.
bool names_instruction(std::string_view word) {
    if (word.starts_with("SM") && word.size() > 5 && std::isdigit(static_cast<unsigned char>(word[2]))) {
        size_t end = 2;
        while (end < word.size() && std::isdigit(static_cast<unsigned char>(word[end]))) ++end;
        return end < word.size() && word[end] == '_' && word.find_first_of("abcdefghijklmnopqrstuvwyz") == std::string_view::npos;
    }
    for (const std::string_view each : {"mma_sync", "load_matrix_sync", "store_matrix_sync", "memcpy_async",
                                        "__pipeline_memcpy_async", "__pipeline_commit", "__pipeline_wait_prior"})
        if (word == each) return true;
    return false;
}

void add_once(std::vector<Mention>& to, std::string text, int line) {
    for (const Mention& each : to)
        if (each.text == text) return;
    to.push_back({std::move(text), line});
}

void add_once(std::vector<std::string>& to, std::string text) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(std::move(text));
}

class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text), source_(tokenize_cpp(text)), tokens_(source_.tokens) {}

    FileScan run() {
        out_.about = first_sentence(source_.brief);
        if (out_.about.empty()) out_.about = first_sentence(source_.leading_comment);
        scopes_.push_back({});
        for (at_ = 0; at_ < tokens_.size(); ++at_) step();
        close_open_functions();
        std::stable_sort(out_.functions.begin(), out_.functions.end(),
                         [](const Function& a, const Function& b) { return a.first < b.first; });
        return std::move(out_);
    }

  private:
    const CppToken& token(size_t i) const { return tokens_[i]; }
    bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    Function* inside() { return scopes_.back().function < 0 ? nullptr : &out_.functions[scopes_.back().function]; }

    // The source text from the first token to the last one, both with all of their characters.
    std::string between(size_t first, size_t last, size_t limit = 200) const {
        if (last < first || last >= tokens_.size()) return "";
        const char* begin = tokens_[first].text.data() - (tokens_[first].kind == Kind::string);
        const char* end = tokens_[last].text.data() + tokens_[last].text.size() + (tokens_[last].kind == Kind::string);
        return squeeze(std::string_view(begin, static_cast<size_t>(end - begin)), limit);
    }

    // The token that closes the bracket at i; the last token where nothing does.
    size_t closing(size_t i, size_t end) const {
        int depth = 0;
        end = std::min(end, i + kFarthest);
        for (; i < end; ++i) {
            if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
            if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i;
        }
        return end == 0 ? 0 : end - 1;
    }

    // Behind the '>' that closes the '<' at i; i where none does before end.
    size_t behind_angles(size_t i, size_t end) const {
        int depth = 0;
        for (size_t at = i; at < end; ++at) {
            if (is(at, "(") || is(at, "[") || is(at, "{")) {
                at = closing(at, end);
                continue;
            }
            if (is(at, "<")) ++depth;
            if (is(at, ">")) --depth;
            if (is(at, ">>>")) depth -= 3;
            if (depth <= 0) return at + 1;
            if (is(at, ";")) return i;
        }
        return i;
    }

    void step() {
        const CppToken& here = token(at_);
        switch (here.kind) {
            case Kind::include: out_.includes.emplace_back(here.text); return;
            case Kind::define: return macro(here);
            case Kind::if_: saved_.push_back(scopes_); return;
            case Kind::else_:
                other_branch(here.line);
                return;
            case Kind::endif:
                if (!saved_.empty()) saved_.pop_back();
                return;
            default: break;
        }
        if (here.is("{")) return open();
        if (here.is("}")) return close();
        if (here.is(";")) {
            head_ = at_ + 1;
            return;
        }
        if (here.is("<<<")) return launch();
        if (here.kind == Kind::word) word();
    }

    // ---- scopes

    // It begins in the scope in which the first branch began; what that left open ends here.
    void other_branch(int line) {
        if (saved_.empty() || saved_.back().size() == scopes_.size()) return;
        for (size_t i = saved_.back().size(); i < scopes_.size(); ++i)
            if (scopes_[i].kind == ScopeKind::function) out_.functions[scopes_[i].function].last = line;
        scopes_ = saved_.back();
        head_ = at_ + 1;
    }

    void open() {
        bool initialiser = false;
        Scope scope = inside() ? Scope{ScopeKind::block, "", scopes_.back().function, 0} : kind_of_head(initialiser);
        if (initialiser) scope.head = head_;
        if (scope.kind == ScopeKind::function) {
            scope.function = static_cast<int>(out_.functions.size());
            out_.functions.push_back(function_of_head(scope.name));
            aliases_.clear();
        }
        scopes_.push_back(std::move(scope));
        head_ = at_ + 1;
    }

    void close() {
        const size_t head = scopes_.back().head;
        if (scopes_.size() > 1) {
            const Scope& scope = scopes_.back();
            if (scope.kind == ScopeKind::function) out_.functions[scope.function].last = token(at_).line;
            scopes_.pop_back();
        }
        head_ = head > 0 ? head : at_ + 1;
    }

    void close_open_functions() {
        for (Function& function : out_.functions)
            if (function.last == 0) function.last = tokens_.empty() ? 1 : tokens_.back().line;
    }

    // Behind "template <...>" at the head's beginning, once or more.
    size_t behind_templates() const {
        size_t i = head_;
        while (i < at_ && (is(i, "template") || skip(i))) {
            if (skip(i)) {
                ++i;
                continue;
            }
            const size_t next = is(i + 1, "<") ? behind_angles(i + 1, at_) : i + 1;
            if (next <= i) return i;
            i = next;
        }
        return i;
    }

    bool skip(size_t i) const {
        const Kind kind = token(i).kind;
        return kind == Kind::if_ || kind == Kind::else_ || kind == Kind::endif || kind == Kind::define || kind == Kind::include;
    }

    Scope kind_of_head(bool& initialiser) const {
        const size_t begin = behind_templates();
        for (size_t i = begin; i < at_ && i < begin + 3; ++i)
            if (is(i, "namespace") || (is(i, "extern") && i + 2 == at_ && token(i + 1).kind == Kind::string)) {
                std::string name;
                for (size_t j = i + 1; j < at_; ++j)
                    if (token(j).kind == Kind::word) name += (name.empty() ? "" : "::") + std::string(token(j).text);
                return {ScopeKind::name_space, is(i, "extern") ? "" : name, -1, 0};
            }
        for (size_t i = begin; i < at_; ++i) {
            if (is(i, "(") || is(i, "=")) break;
            if (takes_arguments(token(i).text) && is(i + 1, "(")) i = closing(i + 1, at_);
            if (is(i, "class") || is(i, "struct") || is(i, "union") || is(i, "enum")) return type_scope(i);
        }
        const size_t name = function_name(begin, initialiser);
        if (name == at_) return {ScopeKind::block, "", -1, 0};
        return {ScopeKind::function, name_at(name), -1, 0};
    }

    Scope type_scope(size_t i) const {
        std::string name;
        for (++i; i < at_; ++i) {
            if (takes_arguments(token(i).text) && is(i + 1, "(")) {
                i = closing(i + 1, at_);
                continue;
            }
            if (is(i, ":") || is(i, "<") || is(i, "final")) break;
            if (token(i).kind == Kind::word && !is(i, "class") && !is(i, "struct")) name = std::string(token(i).text);
        }
        return {ScopeKind::type, name, -1, 0};
    }

    // The token in front of the parameter list; at_ when the head is no function's.
    // initialiser: the brace is that of a member, in a constructor's head.
    size_t function_name(size_t begin, bool& initialiser) const {
        if (begin >= at_) return at_;
        const CppToken& before = token(at_ - 1);
        if (before.is("=") || before.is(",") || before.is("(") || before.is("return")) return at_;
        bool initialisers = false;
        size_t found = at_;
        for (size_t i = begin; i < at_; ++i) {
            if (is(i, "=") && found == at_ && !is(i - (i > 0), "operator")) return at_;
            if (is(i, "operator") && found == at_) {
                found = i;
                while (i + 1 < at_ && (!is(i + 1, "(") || (is(i, "operator") && is(i + 2, ")")))) ++i;
                continue;
            }
            if (takes_arguments(token(i).text) && is(i + 1, "(")) {
                i = closing(i + 1, at_);
                continue;
            }
            if (is(i, ":") && found != at_) initialisers = true;
            if (is(i, "{")) i = closing(i, at_);
            if (is(i, "(")) {
                const bool named = i > begin && token(i - 1).kind == Kind::word && !is_keyword(token(i - 1).text);
                if (found == at_ && named) found = i - 1;
                i = closing(i, at_);
            }
        }
        initialiser = initialisers && (before.kind == Kind::word || before.is(">"));
        return initialiser ? at_ : found;
    }

    std::string name_at(size_t name) const {
        if (is(name, "operator")) {
            std::string out = "operator";
            for (size_t i = name + 1; i < at_ && !(is(i, "(") && i > name + 1 && !is(i - 1, "operator")); ++i) {
                out += std::string(token(i).text);
                if (is(i, "(") && is(i + 1, ")")) return out + ")";
            }
            return out;
        }
        std::string out(token(name).text);
        for (size_t i = name; i >= 2 && is(i - 1, "::") && token(i - 2).kind == Kind::word; i -= 2)
            out = std::string(token(i - 2).text) + "::" + out;
        return out;
    }

    Function function_of_head(const std::string& name) {
        Function out;
        const size_t last_colon = name.rfind("::");
        out.name = last_colon == std::string::npos ? name : name.substr(last_colon + 2);
        for (const Scope& scope : scopes_)
            if (!scope.name.empty()) out.qualified += scope.name + "::";
        out.method = scopes_.back().kind == ScopeKind::type || last_colon != std::string::npos;
        out.qualified += name;
        size_t first = head_;
        while (first < at_ && skip(first)) ++first;
        out.first = token(first).line;
        for (size_t i = first; i < at_; ++i) {
            if (is(i, "__global__") || is(i, "CUTLASS_GLOBAL")) out.kernel = true;
            if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
                const size_t end = closing(i + 1, at_);
                out.launch_bounds = between(i + 2, end - 1);
            }
            if (is(i, "template") && is(i + 1, "<")) {
                const size_t end = behind_angles(i + 1, at_);
                if (end > i + 3) out.parameters += (out.parameters.empty() ? "" : ", ") + between(i + 2, end - 2, 400);
            }
        }
        out.entry = out.name == "main";
        return out;
    }

    // ---- what stands in functions

    void word() {
        const CppToken& here = token(at_);
        if (here.is("__shared__")) return shared();
        if ((here.is("asm") || here.is("__asm__") || here.is("__asm")) && inside()) return assembly();
        if (here.text.ends_with("SharedStorage") && at_ > 0 && (is(at_ - 1, "struct") || is(at_ - 1, "union")) &&
            !is(at_ + 1, ";"))
            add_once(out_.shared_types, between(at_ - 1, at_), here.line);
        Function* function = inside();
        if (!function) return;
        if (here.is("auto") && is(at_ + 2, "=")) alias();
        if (names_instruction(here.text)) add_once(function->instructions, std::string(here.text), here.line);
        launch_call(here);
        const bool called = is(at_ + 1, "(") || (is(at_ + 1, "<") && !is_keyword(here.text));
        if (!called || is_keyword(here.text) || here.text == function->name) return;
        std::string name(here.text);
        if (at_ >= 2 && is(at_ - 1, "::") && token(at_ - 2).kind == Kind::word)
            name = std::string(token(at_ - 2).text) + "::" + name;
        else if (at_ > 0 && (is(at_ - 1, ".") || is(at_ - 1, "->")))
            name.insert(name.begin(), '.');
        add_once(function->calls, std::move(name));
    }

    void shared() {
        size_t end = at_;
        while (end < tokens_.size() && !is(end, ";") && !is(end, "=")) ++end;
        size_t begin = at_;
        if (begin > 0 && is(begin - 1, "extern")) --begin;
        if (end == tokens_.size() || end == begin) return;
        Function* function = inside();
        const std::string text = between(begin, end - 1);
        if (function) add_once(function->shared, text, token(at_).line);
        else add_once(out_.shared_types, text, token(at_).line);
    }

    void assembly() {
        size_t open = at_ + 1;
        while (open < tokens_.size() && !is(open, "(") && open < at_ + 4) ++open;
        if (!is(open, "(")) return;
        const size_t end = closing(open, tokens_.size());
        std::string text;
        for (size_t i = open + 1; i < end && !is(i, ":") && !is(i, "::"); ++i)
            text += token(i).kind == Kind::string ? unescape(token(i).text) : in_braces(token(i).text);
        for (std::string& each : instructions_in(text)) add_once(inside()->instructions, std::move(each), token(at_).line);
    }

    static std::string in_braces(std::string_view name) {
        std::string out(1, '{');
        out.append(name).push_back('}');
        return out;
    }

    static std::string unescape(std::string_view text) {
        std::string out;
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\' || i + 1 == text.size()) {
                out += text[i];
                continue;
            }
            ++i;
            out += text[i] == 'n' || text[i] == '\n' ? '\n' : text[i] == 't' ? ' ' : text[i];
        }
        return out;
    }

    // A macro counts as a function of its name: its asm text and calls are looked at.
    void macro(const CppToken& here) {
        size_t end = 0;
        while (end < here.text.size() && (std::isalnum(static_cast<unsigned char>(here.text[end])) || here.text[end] == '_')) ++end;
        if (here.text.find("asm") == std::string_view::npos) return;
        Function function;
        function.name = function.qualified = std::string(here.text.substr(0, end));
        function.first = here.line;
        function.last = here.line + static_cast<int>(std::count(here.text.begin(), here.text.end(), '\n'));
        std::string text;
        bool quoted = false;
        for (size_t i = end; i < here.text.size(); ++i) {
            if (here.text[i] == '"') quoted = !quoted;
            else if (quoted) text += here.text[i];
        }
        for (std::string& each : instructions_in(unescape(text))) add_once(function.instructions, std::move(each), here.line);
        if (!function.instructions.empty()) out_.functions.push_back(std::move(function));
    }

    // ---- launches

    // "auto kernel = copy<float, 4>;": launches of it are of copy.
    void alias() {
        size_t i = at_ + 3;
        if (is(i, "&")) ++i;
        std::string name;
        for (; i < tokens_.size() && (token(i).kind == Kind::word || is(i, "::")); ++i) name += std::string(token(i).text);
        if (!name.empty() && (is(i, "<") || is(i, ";"))) aliases_[std::string(token(at_ + 1).text)] = name;
    }

    // Without casts, "&" and template arguments, and by the name behind an alias.
    std::string launched(std::string kernel) const {
        while (kernel.starts_with("(") && kernel.find(')') != std::string::npos) kernel = kernel.substr(kernel.find(')') + 1);
        while (kernel.starts_with("&") || kernel.starts_with(" ")) kernel.erase(0, 1);
        kernel = kernel.substr(0, kernel.find('<'));
        const auto alias = aliases_.find(kernel);
        return alias == aliases_.end() ? kernel : alias->second;
    }

    void launch() {
        size_t name = at_;
        if (name > 0 && is(name - 1, ">")) {  // kernel<Config><<<...
            int depth = 0;
            while (name > 0) {
                --name;
                if (is(name, ">")) ++depth;
                if (is(name, ">>>")) depth += 3;
                if (is(name, "<") && --depth <= 0) break;
            }
        }
        if (name == 0 || token(name - 1).kind != Kind::word) return;
        std::string kernel(token(--name).text);
        while (name >= 2 && is(name - 1, "::") && token(name - 2).kind == Kind::word) {
            name -= 2;
            kernel = std::string(token(name).text) + "::" + kernel;
        }
        size_t end = at_;
        while (end < tokens_.size() && !is(end, ">>>") && !is(end, ";")) ++end;
        const Function* function = inside();
        out_.launches.push_back({launched(kernel), end > at_ + 1 ? between(at_ + 1, end - 1) : "", token(at_).line,
                                 function ? function->name : ""});
    }

    // cudaLaunchKernel(kernel, ...), cudaLaunchKernelEx(&config, kernel, ...) and their kin.
    void launch_call(const CppToken& here) {
        if (!is(at_ + 1, "(")) return;
        int kernel_at = -1;
        if (here.is("cudaLaunchKernel") || here.is("cudaLaunchCooperativeKernel") || here.is("cuLaunchKernel")) kernel_at = 0;
        if (here.is("cudaLaunchKernelEx") || here.is("cudaLaunchKernelExC") || here.is("cuLaunchKernelEx")) kernel_at = 1;
        if (kernel_at < 0) return;
        const size_t end = closing(at_ + 1, tokens_.size());
        std::vector<std::string> arguments;
        size_t begin = at_ + 2;
        for (size_t i = begin; i <= end; ++i) {
            if (i < end && (is(i, "(") || is(i, "[") || is(i, "{"))) i = closing(i, end);
            if (i == end || is(i, ",")) {
                arguments.push_back(i > begin ? between(begin, i - 1) : "");
                begin = i + 1;
            }
        }
        if (arguments.size() <= static_cast<size_t>(kernel_at)) return;
        std::string how;
        for (size_t i = 0; i < arguments.size(); ++i)
            if (i != static_cast<size_t>(kernel_at) && (kernel_at == 1 ? i < 1 : i < 3)) how += (how.empty() ? "" : ", ") + arguments[i];
        out_.launches.push_back({launched(arguments[kernel_at]), how, here.line, inside() ? inside()->name : ""});
    }

    std::string_view text_;
    CppTokens source_;
    const std::vector<CppToken>& tokens_;
    size_t at_ = 0, head_ = 0;  // head_: where the statement before at_ begins
    std::vector<Scope> scopes_;
    std::vector<std::vector<Scope>> saved_;
    std::map<std::string, std::string, std::less<>> aliases_;  // of the function being read
    FileScan out_;
};

}  // namespace

FileScan scan_cpp(std::string_view text) { return Scanner(text).run(); }

}  // namespace ww::context
