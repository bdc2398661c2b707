// SPDX-License-Identifier: Apache-2.0
// What stands at module level: directives and the heads of functions.
#include <algorithm>

#include "base/text.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace ww::ptx {
namespace {

struct FunctionDirective {
    std::string_view name;
    int least, most;  // number of integer arguments
};

constexpr FunctionDirective kFunctionDirectives[] = {
    {".maxnreg", 1, 1},           {".maxntid", 1, 3},         {".reqntid", 1, 3},
    {".minnctapersm", 1, 1},      {".maxnctapersm", 1, 1},    {".noreturn", 0, 0},
    {".maxclusterrank", 1, 1},    {".explicitcluster", 0, 0}, {".reqnctapercluster", 1, 3},
    {".blocksareclusters", 0, 0}, {".abi_preserve", 1, 1},    {".abi_preserve_control", 1, 1},
    {".minperctamemory", 1, 3},
};

constexpr std::string_view kModuleDirectives[] = {
    ".version", ".target", ".address_size", ".file", ".pragma", ".section", ".alias", ".extern",
    ".visible", ".weak",   ".common",       ".func", ".entry",  ".global",  ".const", ".shared"};

}  // namespace

void Parser::add_item(Item::Kind kind, size_t size) {
    module_.items.push_back({kind, static_cast<uint32_t>(size - 1)});
}

void Parser::parse_module_statement() {
    const Token at = token_;
    if (!parse_directive()) {
        if (token_.place.line == at.place.line && token_.place.col == at.place.col) advance();
        recover_module();
    }
}

// At the next line that starts with a directive of a module: what was wrong may have been anything.
void Parser::recover_module() {
    while (token_.kind != Token::Kind::end) {
        if (token_.first_on_line && token_.kind == Token::Kind::directive)
            for (std::string_view name : kModuleDirectives)
                if (token_.text == name) return;
        advance();
    }
}

bool Parser::parse_directive() {
    if (token_.kind == Token::Kind::op && token_.op == two('@', '@')) return parse_dwarf_line();
    if (token_.kind != Token::Kind::directive)
        return expected("a directive such as .version, .global or .entry");
    if (module_.version.empty() && !token_.is(".version")) {
        module_.version = "?";  // said once
        return error_here("a PTX module starts with .version");
    }
    if (accept(".version")) return parse_version();
    if (accept(".target")) return parse_target();
    if (accept(".address_size")) return parse_address_size();
    if (accept(".file")) return parse_file();
    if (token_.is(".section")) return parse_section();
    if (accept(".alias")) return parse_alias();
    if (token_.is(".nv_intermediate_source_section")) return parse_source_section();
    if (accept(".pragma")) {
        const size_t before = module_.pragmas.size();
        if (!parse_pragma(module_.pragmas)) return false;
        for (size_t i = before; i < module_.pragmas.size(); ++i)
            add_item(Item::Kind::pragma, i + 1);
        return true;
    }
    constexpr std::pair<std::string_view, Linkage> kLinkages[] = {{".extern", Linkage::external},
                                                                  {".visible", Linkage::visible},
                                                                  {".weak", Linkage::weak},
                                                                  {".common", Linkage::common}};
    Linkage linkage = Linkage::none;
    for (const auto& [name, value] : kLinkages)
        if (linkage == Linkage::none && accept(name)) linkage = value;
    if (token_.is(".func") || token_.is(".entry")) return parse_function(linkage);
    if (token_.is(".reg") || token_.is(".local") || token_.is(".param"))
        return error_here("'" + std::string(token_.text) + "' variables belong inside functions");
    if (token_.is(".tex"))
        return error_here(".tex went away with PTX ISA 1.5: declare a .global .texref");
    constexpr std::string_view kVariables[] = {".global", ".const", ".shared"};
    if (std::none_of(std::begin(kVariables), std::end(kVariables),
                     [&](std::string_view name) { return token_.is(name); })) {
        const std::vector<std::string> known(std::begin(kModuleDirectives),
                                             std::end(kModuleDirectives));
        const std::string near = nearest(token_.text, known);
        return error_here("unknown directive '" + std::string(token_.text.substr(0, 60)) + "'" +
                          (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    std::vector<Variable> variables;
    const bool good = parse_declaration(linkage, variables);
    for (Variable& variable : variables) {
        module_.variables.push_back(std::move(variable));
        add_item(Item::Kind::variable, module_.variables.size());
    }
    return good;
}

bool Parser::parse_version() {
    if (token_.kind != Token::Kind::real || token_.text.size() > 8)
        return expected("a version such as 9.0");
    const std::string version(token_.text);
    if (!module_.version.empty() && module_.version != "?" && module_.version != version)
        return error_here("the module is already of version " + module_.version);
    module_.version = version;
    advance();
    return true;
}

bool Parser::parse_target() {
    do {
        if (token_.kind != Token::Kind::word) return expected("a target such as sm_90a");
        const std::string target(token_.text);
        if (std::find(module_.targets.begin(), module_.targets.end(), target) ==
            module_.targets.end())
            module_.targets.push_back(target);
        advance();
    } while (accept(','));
    return true;
}

bool Parser::parse_address_size() {
    if (token_.kind != Token::Kind::integer || (token_.bits != 32 && token_.bits != 64))
        return expected("32 or 64");
    module_.address_size = static_cast<int>(token_.bits);
    advance();
    return true;
}

bool Parser::parse_file() {
    SourceFile file;
    const Token at = token_;
    if (token_.kind != Token::Kind::integer || token_.bits > 0x7fffffff)
        return expected("the number of the file");
    file.index = static_cast<int>(token_.bits);
    advance();
    if (token_.kind != Token::Kind::string) return expected("the file's path in quotes");
    file.path = std::string(token_.text.substr(1, token_.text.size() - 2));
    advance();
    while (accept(',')) {  // time stamp, size
        if (token_.kind != Token::Kind::integer) return expected("a number");
        file.rest += ", " + std::string(token_.text);
        advance();
    }
    if (module_.file(file.index) && module_.file(file.index)->path != file.path)
        return error(at, "file " + std::to_string(file.index) + " is already '" +
                             module_.file(file.index)->path + "'");
    module_.files.push_back(std::move(file));
    add_item(Item::Kind::file, module_.files.size());
    return true;
}

bool Parser::parse_pragma(std::vector<std::string>& pragmas) {
    do {
        if (token_.kind != Token::Kind::string) return expected("a pragma in quotes");
        pragmas.emplace_back(token_.text);
        advance();
    } while (accept(','));
    return expect(';', "after the pragma");
}

// .section name { lines }: one line a directive or label, comments dropped.
bool Parser::parse_section() {
    const Token start = token_;
    advance();
    if (token_.kind != Token::Kind::directive && token_.kind != Token::Kind::word)
        return expected("the section's name");
    std::string text = ".section " + std::string(token_.text);
    advance();
    if (!expect('{', "before the section's lines")) return false;
    text += "\n{";
    bool line_begins = false;
    while (!token_.is('}')) {
        if (token_.kind == Token::Kind::end) return error(start, "this section is not closed");
        if (token_.kind == Token::Kind::bad || token_.is('{')) return expected("a line of data");
        const Token token = token_;
        advance();
        const bool data =
            token.is(".b8") || token.is(".b16") || token.is(".b32") || token.is(".b64");
        if (data || (token.kind == Token::Kind::word && token_.is(':'))) {
            text += "\n\t" + std::string(token.text);
            if (data)
                text += ' ';
            else
                text += ':', advance();
            line_begins = true;
        } else {
            const bool operand =
                is_wordlike(token) || token.is(',') || token.is('+') || token.is('-');
            if (!line_begins || !operand)
                return error(token,
                             "a line of a section starts with .b8, .b16, .b32, .b64 or a label");
            append_token(text, token);
        }
    }
    advance();
    module_.sections.push_back(text + "\n}");
    add_item(Item::Kind::section, module_.sections.size());
    return true;
}

bool Parser::parse_alias() {
    std::string text = ".alias ";
    for (int i = 0; i < 2; ++i) {
        if (token_.kind != Token::Kind::word) return expected("a function's name");
        text += token_.text;
        if (i == 0) text += ", ";
        advance();
        if (i == 0 && !expect(',', "after the alias")) return false;
    }
    if (!expect(';', "after .alias")) return false;
    module_.texts.push_back(text + ";");
    add_item(Item::Kind::text, module_.texts.size());
    return true;
}

// "@@DWARF ..." of PTX 1.x: kept as written, to the end of the line.
bool Parser::parse_dwarf_line() {
    const auto begin = static_cast<size_t>(token_.text.data() - text_.data());
    size_t end = std::min(text_.find('\n', begin), text_.size());
    lexer_.skip_to(end);
    module_.texts.emplace_back(trim(text_.substr(begin, end - begin)));
    add_item(Item::Kind::text, module_.texts.size());
    advance();
    return true;
}

// Embedded source text is no PTX: what stands from .source_begin to .source_end is kept as written.
bool Parser::parse_source_section() {
    const Token start = token_;
    const auto begin = static_cast<size_t>(token_.text.data() - text_.data());
    size_t at = begin;
    int depth = 0;
    while (true) {
        at = text_.find_first_of("{}.", at);
        if (at == std::string_view::npos) return error(start, "this section is not closed");
        if (text_.substr(at).starts_with(".source_begin")) {
            at = text_.find(".source_end", at);
            if (at == std::string_view::npos)
                return error(start, "a .source_begin of this section has no .source_end");
        } else if (text_[at] != '.') {
            depth += text_[at] == '{' ? 1 : -1;
            if (depth <= 0) break;
        }
        ++at;
    }
    lexer_.skip_to(at + 1);
    module_.texts.emplace_back(text_.substr(begin, at + 1 - begin));
    add_item(Item::Kind::text, module_.texts.size());
    advance();
    return true;
}

bool Parser::parse_function(Linkage linkage) {
    Function function;
    function.linkage = linkage;
    function.entry = token_.is(".entry");
    advance();
    scopes_.emplace_back();
    loc_ = -1;
    Token name;
    const bool good = parse_function_head(function, name) && parse_function_directives(function) &&
                      (!function.has_body || parse_body(function));
    scopes_.resize(1);
    if (!good || !check_body(function, name)) return false;
    module_.functions.push_back(std::move(function));
    add_item(Item::Kind::function, module_.functions.size());
    return true;
}

// A function may be declared often, but has one body.
bool Parser::check_body(const Function& function, const Token& name) {
    if (!function.has_body) return true;
    const auto [entry, added] = bodies_.emplace(function.name, function.place);
    if (added) return true;
    return error(name, "'" + function.name + "' already has a body, in line " +
                           std::to_string(entry->second.line));
}

bool Parser::parse_function_head(Function& function, Token& name) {
    if (accept(".attribute")) {
        std::string text;
        if (!parse_attribute(text)) return false;
        function.directives.emplace_back(".attribute", text.substr(10));
    }
    if (token_.is('(')) {
        if (function.entry) return error_here("a kernel returns nothing");
        if (!parse_parameters(function.returns)) return false;
    }
    if (token_.kind != Token::Kind::word) return expected("the function's name");
    function.name = std::string(token_.text);
    function.place = token_.place;
    name = token_;
    advance();
    return !token_.is('(') || parse_parameters(function.params);
}

bool Parser::parse_function_directives(Function& function) {
    while (token_.kind == Token::Kind::directive)
        if (!parse_function_directive(function.directives)) return false;
    if (accept(';')) return true;
    if (!token_.is('{')) return expected("'{' or ';' after the head of '" + function.name + "'");
    function.has_body = true;
    return true;
}

bool Parser::parse_function_directive(
    std::vector<std::pair<std::string, std::string>>& directives) {
    const Token name = token_;
    advance();
    std::string arguments;
    if (name.is(".pragma") || name.is(".language")) {
        do {
            if (token_.kind != Token::Kind::string && token_.kind != Token::Kind::integer)
                return expected("a text in quotes");
            arguments += (arguments.empty() ? "" : ", ") + std::string(token_.text);
            advance();
        } while (accept(','));
        if (name.is(".pragma") && !expect(';', "after the pragma")) return false;
        directives.emplace_back(std::string(name.text), arguments);
        return true;
    }
    const FunctionDirective* known = nullptr;
    std::vector<std::string> names;
    for (const FunctionDirective& directive : kFunctionDirectives) {
        if (name.is(directive.name)) known = &directive;
        names.emplace_back(directive.name);
    }
    if (!known) {
        const std::string near = nearest(name.text, names);
        return error(name, "unknown directive '" + std::string(name.text.substr(0, 60)) +
                               "' of a function" +
                               (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    int count = 0;
    while (known->most > 0) {
        uint64_t value = 0;
        if (!parse_size(value, 0x7fffffff, "this argument")) return false;
        arguments += (count++ ? ", " : "") + std::to_string(value);
        if (!accept(',')) break;
    }
    if (count < known->least || count > known->most)
        return error(name,
                     std::string(known->name) + " takes " + std::to_string(known->least) +
                         (known->most > known->least ? " to " + std::to_string(known->most) : "") +
                         " numbers");
    directives.emplace_back(std::string(name.text), arguments);
    return true;
}

}  // namespace ww::ptx
