// SPDX-License-Identifier: Apache-2.0
#include "sass/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"

namespace ww::sass {
namespace {

constexpr uint32_t kInstructionBytes = 16;
constexpr std::string_view kPtxFile = ".nv_debug_ptx_txt";

std::optional<uint64_t> hex(std::string_view digits) {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
        return std::nullopt;
    return value;
}

// Takes "/* ... */" off the front of text and returns what is inside.
std::optional<std::string_view> take_comment(std::string_view& text) {
    if (!text.starts_with("/*")) return std::nullopt;
    const size_t end = text.find("*/", 2);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = trim(text.substr(2, end - 2));
    text = trim(text.substr(end + 2));
    return inside;
}

std::optional<uint64_t> encoding_word(std::string_view text) {
    const auto inside = take_comment(text);
    if (!inside || !inside->starts_with("0x") || !text.empty()) return std::nullopt;
    return hex(inside->substr(2));
}

class Reader {
  public:
    Reader(Listing& listing, std::string name) : listing_(listing), name_(std::move(name)) {}

    Status run() {
        std::string_view rest = *listing_.text;
        while (!rest.empty()) {
            const size_t end = std::min(rest.find('\n'), rest.size());
            line_text_ = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            ++line_;
            WW_TRY(read, line());
            (void)read;
        }
        WW_TRY(closed, close_function());
        (void)closed;
        if (listing_.functions.empty())
            return fail(Diagnostic{.file = name_, .message = "no code in it: not a listing of nvdisasm, or "
                                                             "of a cubin without kernels"});
        return ok();
    }

  private:
    Failure error(const std::string& message, int line = 0) const {
        Diagnostic out{.file = name_, .line = line == 0 ? line_ : line, .message = message};
        if (line == 0) out.source_line = std::string(line_text_.substr(0, 400));
        return fail(std::move(out));
    }

    Status line() {
        const std::string_view text = trim(line_text_);
        if (text.empty()) return ok();
        if (text.starts_with("//")) return comment(text);
        if (text.starts_with("/*")) return instruction(text);
        if (text.starts_with(".")) {
            if (text.ends_with(':') && line_text_.front() == '.') return label(text);
            return directive(text);
        }
        if (text.ends_with(':')) return label(text);
        // Data sections (.byte, .word and the like) start with a dot; nothing else is known.
        return in_code_ ? Status(error("neither an instruction nor a label nor a directive"))
                        : ok();
    }

    // //## File "a.cu", line 1 inlined at "b.cu", line 6
    Status comment(std::string_view text) {
        if (!text.starts_with("//## File ")) return ok();
        if (!in_code_) return ok();
        std::string_view rest = text.substr(10);
        const auto place = file_and_line(rest);
        if (!place) return error("a line comment that names no file and line");
        if (place->first == kPtxFile) {
            ptx_line_ = place->second;
            return ok();
        }
        if (!chain_open_) pending_.clear();
        chain_open_ = true;
        pending_.push_back({file_index(place->first), place->second});
        return ok();
    }

    static std::optional<std::pair<std::string_view, int>> file_and_line(std::string_view text) {
        if (!text.starts_with('"')) return std::nullopt;
        const size_t end = text.find("\", line ");
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view digits = text.substr(end + 8);
        int line = 0;
        const auto [stop, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), line);
        if (error != std::errc{} || stop == digits.data() || line < 0) return std::nullopt;
        return std::pair{text.substr(1, end - 1), line};
    }

    int file_index(std::string_view file) {
        const auto [place, is_new] =
            file_indices_.try_emplace(file, static_cast<int>(listing_.files.size()));
        if (is_new) listing_.files.emplace_back(file);
        return place->second;
    }

    Status directive(std::string_view text) {
        // Whole words: .sectioninfo begins like .section.
        const std::string_view word = text.substr(0, text.find_first_of(" \t"));
        const std::string_view rest = trim(text.substr(word.size()));
        if (word == ".target") {
            listing_.target = std::string(rest.substr(0, rest.find_first_of(" \t")));
        } else if (word == ".section") {
            return section(rest);
        } else if (in_code_ && word == ".type") {
            const size_t comma = rest.find(',');
            if (comma != std::string_view::npos && rest.substr(comma + 1) == "@function")
                function_names_.insert(rest.substr(0, comma));
        }
        return ok();
    }

    Status section(std::string_view text) {
        WW_TRY(closed, close_function());
        (void)closed;
        const std::string_view name = text.substr(0, text.find(','));
        in_code_ = name.starts_with(".text.");
        if (!in_code_) return ok();
        Function function;
        function.name = std::string(name.substr(6));
        listing_.functions.push_back(std::move(function));
        return ok();
    }

    Status label(std::string_view text) {
        const std::string_view name = text.substr(0, text.size() - 1);
        if (!in_code_ || name.starts_with(".text.")) return ok();
        if (name.empty()) return error("a label without a name");
        Function& function = listing_.functions.back();
        const int at = static_cast<int>(function.instructions.size());
        if (!label_indices_.emplace(name, at).second) return error("this label stands here twice");
        function.labels.push_back({name, at, false});
        return ok();
    }

    Status instruction(std::string_view text) {
        if (!in_code_) return ok();
        Function& function = listing_.functions.back();
        if (const auto word = encoding_word(text)) return second_word(function, *word);
        if (half_read_)
            return error("the other half of the last instruction's encoding is missing");
        const auto inside = take_comment(text);
        const auto offset = inside ? hex(*inside) : std::nullopt;
        if (!offset) return error("an instruction starts with its offset, /*0010*/");
        const size_t expected = function.instructions.size() * kInstructionBytes;
        if (*offset != expected)
            return error(fmt::format("offset 0x{:x} where 0x{:x} is due: instructions are {} bytes "
                                     "(sm_70 and later)",
                                     *offset, expected, kInstructionBytes));
        Instruction made;
        made.offset = static_cast<uint32_t>(*offset);
        made.line = line_;
        const size_t end = text.rfind(';');
        if (end == std::string_view::npos) return error("no ';' at the end of the instruction");
        std::string_view tail = trim(text.substr(end + 1));
        if (!tail.empty()) {
            const auto word = encoding_word(tail);
            if (!word) return error("what stands behind ';' is no encoding");
            made.words[0] = *word;
            half_read_ = true;
        }
        if (!function.instructions.empty() && function.has_encoding != half_read_)
            return error("encodings stand behind some instructions only");
        function.has_encoding = half_read_;
        WW_TRY(parts, split_instruction(trim(text.substr(0, end)), made));
        (void)parts;
        place(function, made);
        function.instructions.push_back(made);
        return ok();
    }

    Status second_word(Function& function, uint64_t word) {
        if (!half_read_) return error("half an encoding that belongs to no instruction");
        half_read_ = false;
        function.instructions.back().words[1] = word;
        return ok();
    }

    Status split_instruction(std::string_view text, Instruction& made) const {
        if (const size_t note = text.find("(*"); note != std::string_view::npos) {
            const std::string_view inside = text.substr(note);
            constexpr std::string_view kTargets = "BRANCH_TARGETS ";
            const size_t from = inside.find(kTargets), to = inside.rfind('"');
            if (from != std::string_view::npos && to != std::string_view::npos &&
                to > from + kTargets.size())
                made.jumps = inside.substr(from + kTargets.size(), to - from - kTargets.size());
            text = trim(text.substr(0, note));
        }
        if (text.starts_with('@')) {
            const size_t end = text.find(' ');
            if (end == std::string_view::npos) return error("a guard with no instruction behind it");
            made.guard = text.substr(0, end);
            text = trim(text.substr(end));
        }
        const size_t end = std::min(text.find(' '), text.size());
        made.opcode = text.substr(0, end);
        made.operands = trim(text.substr(end));
        if (made.opcode.empty() || made.opcode.front() < 'A' || made.opcode.front() > 'Z')
            return error("no opcode here");
        return ok();
    }

    void place(Function& function, Instruction& made) {
        if (chain_open_) {
            chain_open_ = false;
            const auto [found, is_new] =
                chain_indices_.try_emplace(pending_, static_cast<int>(function.chains.size()));
            if (is_new) function.chains.push_back(pending_);
            chain_ = found->second;
        }
        made.chain = chain_;
        made.ptx_line = ptx_line_;
    }

    // Names become instructions once all labels of the section are known.
    Status close_function() {
        if (!in_code_) return ok();
        Function& function = listing_.functions.back();
        if (half_read_)
            return error("the other half of the last instruction's encoding is missing",
                         function.instructions.back().line);
        for (Label& each : function.labels)
            each.is_function = function_names_.count(each.name) != 0;
        for (Instruction& each : function.instructions) {
            WW_TRY(found, resolve(function, each));
            (void)found;
        }
        label_indices_.clear();
        function_names_.clear();
        chain_indices_.clear();
        chain_ = -1;
        chain_open_ = false;
        ptx_line_ = 0;
        in_code_ = false;
        return ok();
    }

    Status resolve(const Function& function, Instruction& made) const {
        const size_t tick = made.operands.find("`(");
        if (tick == std::string_view::npos) return ok();
        const size_t end = made.operands.find(')', tick);
        if (end == std::string_view::npos)
            return error("a label that does not end", made.line);
        const std::string_view name = made.operands.substr(tick + 2, end - tick - 2);
        const auto found = label_indices_.find(name);
        // Other sections, and expressions such as (.L_x_1 - k), have no instruction here.
        if (found == label_indices_.end()) {
            if (name.starts_with(".L_x_"))
                return error(fmt::format("there is no label {}", name), made.line);
            return ok();
        }
        if (found->second >= static_cast<int>(function.instructions.size()))
            return error(fmt::format("label {} stands behind the last instruction", name),
                         made.line);
        made.target = found->second;
        return ok();
    }

    Listing& listing_;
    std::string name_;
    std::string_view line_text_;
    int line_ = 0;
    bool in_code_ = false;
    bool half_read_ = false;   // the last instruction's encoding lacks its second word
    bool chain_open_ = false;  // source lines were read that belong to the next instruction
    int chain_ = -1, ptx_line_ = 0;
    SourceChain pending_;
    std::map<SourceChain, int> chain_indices_;
    std::unordered_map<std::string_view, int> label_indices_, file_indices_;
    std::unordered_set<std::string_view> function_names_;
};

}  // namespace

const Function* Listing::find(std::string_view name) const {
    for (const Function& function : functions)
        if (function.name == name) return &function;
    return nullptr;
}

std::vector<std::string> listing_options() { return {"-c", "-hex", "-gi", "-gp"}; }

Result<Listing> read_listing(std::string text, const std::string& name) {
    Listing listing;
    listing.text = std::make_shared<const std::string>(std::move(text));
    WW_TRY(read, Reader(listing, name).run());
    (void)read;
    return listing;
}

std::vector<std::string_view> operands_of(const Instruction& instruction) {
    std::vector<std::string_view> out;
    const std::string_view text = instruction.operands;
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (const std::string_view piece = trim(text.substr(start, i - start)); !piece.empty())
                out.push_back(piece);
            start = i + 1;
        } else if (text[i] == '[' || text[i] == '(') {
            ++depth;
        } else if (text[i] == ']' || text[i] == ')') {
            --depth;
        }
    }
    return out;
}

}  // namespace ww::sass
