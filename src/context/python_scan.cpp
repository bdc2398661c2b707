// SPDX-License-Identifier: Apache-2.0
// Python by its form: functions by indentation, kernels by their decorators.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "context/scan.hpp"

namespace ww::context {
namespace {

// A logical line: brackets closed, comments gone, strings emptied.
struct Statement {
    std::string code;     // string literals as ""
    std::string strings;  // what stood in them, one behind the other
    int first = 0, last = 0;
    size_t indent = 0;
};

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<Statement> run() {
        while (at_ < text_.size()) statement();
        return std::move(out_);
    }

  private:
    void statement() {
        Statement made;
        made.first = line_;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
            made.indent += text_[at_] == '\t' ? 8 : 1;
            ++at_;
        }
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
                continue;
            }
            if (c == '"' || c == '\'') {
                string(made, c);
                continue;
            }
            if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
                ++line_, ++at_;
                continue;
            }
            if (c == '(' || c == '[' || c == '{') ++depth;
            if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
            if (c == '\n') {
                ++line_;
                if (depth == 0) break;
            }
            made.code += c == '\n' || c == '\t' ? ' ' : c;
        }
        ++at_;
        made.last = std::max(made.first, line_ - 1);
        made.code = std::string(trim(made.code));
        if (!made.code.empty()) out_.push_back(std::move(made));
    }

    // at_ stands on the quote; afterwards on the last character of the literal.
    void string(Statement& made, char quote) {
        const std::string triple(3, quote);
        made.code += "\"\"";
        if (text_.substr(at_, 3) == triple) {
            size_t end = text_.find(triple, at_ + 3);
            end = end == std::string_view::npos ? text_.size() : end;
            keep(made, at_ + 3, end);
            at_ = std::min(end + 2, text_.size() - 1);
            return;
        }
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        end = std::min(end, text_.size());
        keep(made, at_ + 1, end);
        at_ = end < text_.size() && text_[end] == quote ? end : end - 1;
    }

    void keep(Statement& made, size_t from, size_t to) {
        from = std::min(from, to);
        made.strings += std::string(text_.substr(from, to - from)) + "\n";
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(from),
                                             text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    }

    std::string_view text_;
    size_t at_ = 0;
    int line_ = 1;
    std::vector<Statement> out_;
};

bool name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Instructions and their builders by the name that stands last ("tl.dot") or the module before it.
bool names_instruction(std::string_view dotted) {
    const size_t dot = dotted.rfind('.');
    if (dot == std::string_view::npos || dotted.starts_with("self.")) return false;
    const std::string_view last = dotted.substr(dot + 1), before = dotted.substr(0, dot);
    const size_t module_dot = before.rfind('.');
    const std::string_view module = module_dot == std::string_view::npos ? before : before.substr(module_dot + 1);
    constexpr std::array<std::string_view, 17> kNames{
        "dot", "dot_scaled", "make_tensor_descriptor", "load_tensor_descriptor", "store_tensor_descriptor", "gemm",
        "elect_one", "fence_proxy", "mma", "warpgroup_mma", "warpgroup_mma_wait", "tcgen05_mma", "mma_v2",
        "make_tiled_tma_atom_A", "make_tiled_tma_atom_B", "inline_ptx", "async_copy"};
    if (std::find(kNames.begin(), kNames.end(), last) != kNames.end())
        return last != "dot" || before == "tl" || before == "triton.language" || before == "gl";
    for (const std::string_view start : {"mbarrier_", "cp_async", "cp_reduce_async", "warpgroup_", "cluster_arrive", "cluster_wait", "Pipeline",
                                         "async_copy_", "fence_", "_experimental_descriptor", "experimental_descriptor",
                                         "setmaxregister", "griddepcontrol"})
        if (last.starts_with(start)) return true;
    if (last.starts_with("mma_") && module == "arch") return true;
    const bool type = std::isupper(static_cast<unsigned char>(last.empty() ? 'a' : last[0]));
    if (type && (module == "warp" || module == "warpgroup" || module == "tcgen05" || module == "cpasync")) return true;
    return module == "mbarrier" || module == "tma" || (module == "cpasync" && last != "make_smem_layout");
}

// Modules whose functions are no functions of these sources, whatever their names.
bool is_library(std::string_view module) {
    for (const std::string_view each : {"cute", "cutlass", "tl", "triton", "gl", "torch", "math", "np", "numpy", "jax", "os", "cpasync",
                                        "warp", "warpgroup", "tcgen05", "pipeline", "libdevice", "functools", "itertools"})
        if (module == each) return true;
    return false;
}

class Scanner {
  public:
    explicit Scanner(std::string_view text) : statements_(Reader(text).run()) {}

    FileScan run() {
        if (!statements_.empty() && statements_[0].code == "\"\"") out_.about = first_sentence(statements_[0].strings);
        find_kernels();
        for (size_t i = 0; i < statements_.size(); ++i) statement(i);
        close_to(0, statements_.empty() ? 1 : statements_.back().last);
        return std::move(out_);
    }

  private:
    struct Open {
        size_t indent = 0;
        int function = -1;  // -1: a class
        std::string name;
    };

    // Names of kernels and device functions of this file: what is subscripted or called with a grid.
    void find_kernels() {
        for (size_t i = 1; i < statements_.size(); ++i)
            if (is_def(statements_[i].code) && decorator(i, "jit")) jit_.insert(def_name(statements_[i].code));
    }

    static bool is_def(std::string_view code) { return code.starts_with("def ") || code.starts_with("async def "); }

    static std::string def_name(std::string_view code) {
        size_t at = code.find("def ") + 4, end = at;
        while (end < code.size() && name_char(code[end])) ++end;
        return std::string(code.substr(at, end - at));
    }

    // Whether one of the decorators above ends in this name ("jit" of triton.jit, "kernel" of cute.kernel).
    bool decorator(size_t def, std::string_view wanted, std::string_view module = "") const {
        for (size_t i = def; i > 0 && statements_[i - 1].code.starts_with("@"); --i) {
            std::string_view code = std::string_view(statements_[i - 1].code).substr(1);
            code = code.substr(0, code.find_first_of("( "));
            const size_t dot = code.rfind('.');
            const std::string_view last = dot == std::string_view::npos ? code : code.substr(dot + 1);
            const std::string_view before = dot == std::string_view::npos ? "" : code.substr(0, dot);
            if (last == wanted && (module.empty() || before == module)) return true;
        }
        return false;
    }

    void close_to(size_t indent, int line) {
        while (!open_.empty() && open_.back().indent >= indent) {
            if (open_.back().function >= 0) out_.functions[open_.back().function].last = line;
            open_.pop_back();
            if (open_.empty()) break;
        }
    }

    Function* inside() {
        for (auto each = open_.rbegin(); each != open_.rend(); ++each)
            if (each->function >= 0) return &out_.functions[each->function];
        return nullptr;
    }

    void statement(size_t i) {
        const Statement& here = statements_[i];
        if (!here.code.starts_with("@"))
            close_to(here.indent, i > 0 ? statements_[last_code(i)].last : here.first);
        if (here.code.starts_with("import ") || here.code.starts_with("from ")) {
            const auto words = split_words(here.code);
            if (words.size() > 1) out_.includes.emplace_back(words[1]);
            return;
        }
        if (here.code.starts_with("class ")) return open_class(i);
        if (is_def(here.code)) return open_def(i);
        look_at(here);
    }

    // The last statement before i that is no decorator of it.
    size_t last_code(size_t i) const {
        while (i > 1 && statements_[i - 1].code.starts_with("@")) --i;
        return i - 1;
    }

    int first_line(size_t i) const {
        while (i > 0 && statements_[i - 1].code.starts_with("@")) --i;
        return statements_[i].first;
    }

    void open_class(size_t i) {
        const Statement& here = statements_[i];
        size_t end = 6;
        while (end < here.code.size() && name_char(here.code[end])) ++end;
        const std::string name = here.code.substr(6, end - 6);
        if (decorator(i, "struct") || name.ends_with("SharedStorage")) out_.shared_types.push_back({"class " + name, here.first});
        open_.push_back({here.indent, -1, name});
    }

    void open_def(size_t i) {
        const Statement& here = statements_[i];
        Function made;
        made.name = def_name(here.code);
        for (const Open& each : open_) made.qualified += each.name + ".";
        made.qualified += made.name;
        made.first = first_line(i);
        made.last = here.last;
        const bool device_only = decorator(i, "jit", "cute");
        made.kernel = decorator(i, "kernel") || (decorator(i, "jit") && !device_only);
        made.entry = device_only || made.name == "main";
        made.parameters = constexpr_parameters(here.code);
        open_.push_back({here.indent, static_cast<int>(out_.functions.size()), made.name});
        out_.functions.push_back(std::move(made));
    }

    // "def f(x, BLOCK: tl.constexpr, n: cutlass.Constexpr[int] = 4)" -> "BLOCK, n"
    static std::string constexpr_parameters(std::string_view code) {
        const size_t open = code.find('(');
        if (open == std::string_view::npos) return "";
        std::string out;
        int depth = 0;
        size_t begin = open + 1;
        for (size_t i = open; i < code.size(); ++i) {
            if (code[i] == '(' || code[i] == '[') ++depth;
            if (code[i] == ')' || code[i] == ']') --depth;
            if ((code[i] == ',' && depth == 1) || depth == 0) {
                const std::string_view one = trim(code.substr(begin, i - begin));
                const size_t colon = one.find(':');
                if (colon != std::string_view::npos) {
                    std::string_view type = trim(one.substr(colon + 1));
                    type = type.substr(0, type.find_first_of("[= "));
                    const std::string_view last = type.substr(type.rfind('.') == std::string_view::npos ? 0 : type.rfind('.') + 1);
                    if (last == "constexpr" || last == "Constexpr")
                        out += (out.empty() ? "" : ", ") + std::string(trim(one.substr(0, colon)));
                }
                begin = i + 1;
            }
            if (depth == 0) break;
        }
        return out;
    }

    static void add_once(std::vector<Mention>& to, std::string text, int line) {
        for (const Mention& each : to)
            if (each.text == text) return;
        to.push_back({std::move(text), line});
    }

    void look_at(const Statement& here) {
        Function* function = inside();
        std::string_view code = here.code;
        for (size_t i = 0; i < code.size(); ++i) {
            if (!name_char(code[i]) || std::isdigit(static_cast<unsigned char>(code[i])) || (i > 0 && (name_char(code[i - 1]) || code[i - 1] == '.')))
                continue;
            size_t end = i;
            while (end < code.size() && (name_char(code[end]) || code[end] == '.')) ++end;
            mention(here, code.substr(i, end - i), i, end, function);
            i = end - 1;
        }
        if (!function) return;
        if (here.strings.find('.') != std::string::npos)
            for (std::string& each : instructions_in(here.strings)) add_once(function->instructions, std::move(each), here.first);
    }

    void mention(const Statement& here, std::string_view dotted, size_t begin, size_t end, Function* function) {
        const std::string_view code = here.code;
        const char next = end < code.size() ? code[end] : '\0';
        const size_t dot = dotted.rfind('.');
        const std::string_view last = dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
        if (next == '[') subscript_launch(here, dotted, end);
        const std::string_view root = dotted.substr(0, dotted.find('.'));
        const bool own = dot == std::string_view::npos || !is_library(root);
        if (function && next == '(' && own && std::find(function->calls.begin(), function->calls.end(), last) == function->calls.end())
            function->calls.emplace_back(last);
        if (last == "launch" && next == '(' && begin > 0) return;
        // "pipeline.PipelineTmaUmma.create": the class is what matters.
        if (const size_t class_at = dotted.find("pipeline.Pipeline"); class_at != std::string_view::npos)
            dotted = dotted.substr(0, dotted.find('.', class_at + 9));
        if (function && names_instruction(dotted)) add_once(function->instructions, std::string(dotted), here.first);
        if (function && next == '(' &&
            (last == "allocate_shared_memory" || dotted.ends_with("smem.allocate") || dotted.ends_with("smem.allocate_tensor") ||
             last == "allocate_array"))
            add_once(function->shared, squeeze(code.substr(begin, closing(code, end) + 1 - begin), 160), here.first);
        if (next == '(') method_launch(here, dotted, end);
    }

    static size_t closing(std::string_view code, size_t open) {
        int depth = 0;
        for (size_t i = open; i < code.size(); ++i) {
            if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
            if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0) return i;
        }
        return code.empty() ? 0 : code.size() - 1;
    }

    void add_launch(const Statement& here, std::string_view kernel, std::string_view how) {
        const Function* function = inside();
        out_.launches.push_back({std::string(kernel), squeeze(how, 160), here.first, function ? function->name : ""});
    }

    // kernel[grid](...): of a kernel of this file, or with something that is called a grid.
    void subscript_launch(const Statement& here, std::string_view dotted, size_t open) {
        const size_t close = closing(here.code, open);
        if (close + 1 >= here.code.size() || here.code[close + 1] != '(') return;
        const std::string_view how = std::string_view(here.code).substr(open + 1, close - open - 1);
        const std::string last(dotted.substr(dotted.rfind('.') == std::string_view::npos ? 0 : dotted.rfind('.') + 1));
        if (jit_.count(last) || how.find("grid") != std::string_view::npos || how.starts_with("(") || how.starts_with("lambda"))
            add_launch(here, dotted, how);
    }

    // self.kernel(...).launch(grid=..., block=...)
    void method_launch(const Statement& here, std::string_view dotted, size_t open) {
        const std::string_view code = here.code;
        const size_t close = closing(code, open);
        if (trim(code.substr(std::min(close + 1, code.size()))).rfind(".launch", 0) != 0) return;
        const size_t launch_open = code.find('(', close + 1);
        if (launch_open == std::string_view::npos) return;
        const size_t launch_close = closing(code, launch_open);
        add_launch(here, dotted, code.substr(launch_open + 1, launch_close - launch_open - 1));
    }

    std::vector<Statement> statements_;
    std::set<std::string> jit_;
    std::vector<Open> open_;
    FileScan out_;
};

}  // namespace

FileScan scan_python(std::string_view text) { return Scanner(text).run(); }

}  // namespace ww::context
