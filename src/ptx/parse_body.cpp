// SPDX-License-Identifier: Apache-2.0
// Statements of function bodies: scopes, labels, declarations, .loc and .pragma.
#include "base/text.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace ww::ptx {

void Parser::add(Function& function, Statement::Kind kind, size_t index, isa::Place place) {
    function.body.push_back({kind, static_cast<uint32_t>(index), place});
}

// The function's outermost braces are has_body; inner ones are statements. The parameters and the
// body share a scope.
bool Parser::parse_body(Function& function) {
    const Token open = token_;
    advance();
    const size_t outermost = scopes_.size();
    while (errors_.size() < kMaxErrors && !stop_) {
        if (token_.kind == Token::Kind::end)
            return error(open, "the body of '" + function.name + "' is not closed");
        if (token_.is('}') && scopes_.size() == outermost) {
            advance();
            return true;
        }
        parse_statement(function);
    }
    return false;
}

void Parser::parse_statement(Function& function) {
    const Token at = token_;
    bool good = true;
    open_braces_ = 0;
    if (token_.is('{')) {
        if (scopes_.size() >= static_cast<size_t>(kMaxDepth)) {
            too_deep("scopes are");
            return;
        }
        scopes_.emplace_back();
        add(function, Statement::Kind::open_scope, 0, at.place);
        advance();
    } else if (token_.is('}')) {
        scopes_.pop_back();
        add(function, Statement::Kind::close_scope, 0, at.place);
        advance();
        return;
    } else if (token_.kind == Token::Kind::directive) {
        good = parse_body_directive(function);
    } else if (token_.kind == Token::Kind::word) {
        advance();
        good = token_.is(':') ? parse_label(function, at) : parse_instruction(function, at, {});
    } else {
        good = parse_guarded(function);
    }
    if (good) return;
    recover();
    if (token_.place.line == at.place.line && token_.place.col == at.place.col && !token_.is('}'))
        advance();
}

bool Parser::parse_body_directive(Function& function) {
    const Token at = token_;
    if (token_.is(".loc") || token_.is(".loc_intermediate")) return parse_loc(function);
    if (accept(".pragma")) {
        const size_t before = function.pragmas.size();
        if (!parse_pragma(function.pragmas)) return false;
        for (size_t i = before; i < function.pragmas.size(); ++i)
            add(function, Statement::Kind::pragma, i, at.place);
        return true;
    }
    if (token_.is(".section") || token_.is(".file"))
        return error_here("'" + std::string(at.text) +
                          "' stands at module level, outside functions");
    constexpr std::string_view kSpaces[] = {".reg",   ".param",  ".shared", ".local",
                                            ".const", ".global", ".sreg"};
    std::vector<std::string> known;
    for (std::string_view space : kSpaces) {
        known.emplace_back(space);
        if (!token_.is(space)) continue;
        std::vector<Variable> variables;
        const bool good = parse_declaration(Linkage::none, variables);
        for (Variable& variable : variables) {
            function.variables.push_back(std::move(variable));
            add(function, Statement::Kind::variable, function.variables.size() - 1, at.place);
        }
        return good;
    }
    known.insert(known.end(), {".loc", ".pragma"});
    const std::string near = nearest(at.text, known);
    return error(at, "unknown directive '" + std::string(at.text.substr(0, 60)) +
                         "' in a function" +
                         (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

// .loc file line col {, function_name label {+ n}, inlined_at file line col}: ends with its line.
bool Parser::parse_loc(Function& function) {
    const Token at = token_;
    Loc loc;
    loc.intermediate = token_.is(".loc_intermediate");
    advance();
    for (int* field : {&loc.file, &loc.line, &loc.col}) {
        if (token_.kind != Token::Kind::integer || token_.bits > 0x7fffffff)
            return expected("file, line and column of .loc");
        *field = static_cast<int>(token_.bits);
        advance();
    }
    while (token_.is(',') && !token_.first_on_line) {
        loc.rest += ", ";
        advance();
        const bool named = token_.is("function_name") || token_.is("inlined_at");
        if (!named) return expected("function_name or inlined_at");
        loc.rest += token_.text;
        advance();
        while (!token_.first_on_line && !token_.is(',') && token_.kind != Token::Kind::end) {
            if (token_.kind == Token::Kind::bad || token_.is(';') || token_.is('}'))
                return expected("the rest of .loc");
            const bool glued = token_.is('+') || previous_.is('+');
            loc.rest += (glued ? "" : " ") + std::string(token_.text);
            advance();
        }
    }
    module_.locs.push_back(std::move(loc));
    if (!module_.locs.back().intermediate) loc_ = static_cast<int>(module_.locs.size() - 1);
    add(function, Statement::Kind::loc, module_.locs.size() - 1, at.place);
    return true;
}

bool Parser::parse_label(Function& function, const Token& name) {
    if (name.text.find('.') != std::string_view::npos)
        return error(name, "this is no name of a label");
    advance();
    Label label;
    label.name = std::string(name.text);
    if (!declare(name)) return false;
    if (accept(".branchtargets")) {
        label.kind = Label::Kind::branch_targets;
        if (!parse_target_list(label)) return false;
    } else if (accept(".calltargets")) {
        label.kind = Label::Kind::call_targets;
        if (!parse_target_list(label)) return false;
    } else if (accept(".callprototype")) {
        label.kind = Label::Kind::call_prototype;
        if (!parse_prototype(label)) return false;
    }
    function.labels.push_back(std::move(label));
    add(function, Statement::Kind::label, function.labels.size() - 1, name.place);
    return true;
}

bool Parser::parse_target_list(Label& label) {
    label.text = label.kind == Label::Kind::branch_targets ? ".branchtargets " : ".calltargets ";
    do {
        if (token_.kind != Token::Kind::word) return expected("a name");
        if (!label.targets.empty()) label.text += ", ";
        label.text += token_.text;
        label.targets.emplace_back(token_.text);
        advance();
    } while (accept(','));
    label.text += ";";
    return expect(';', "after the list of names");
}

bool Parser::parse_prototype(Label& label) {
    scopes_.emplace_back();  // the names of the parameters are nobody else's
    bool good = !token_.is('(') || parse_parameters(label.returns);
    if (good && !accept("_")) good = expected("'_' in place of the function's name");
    if (good && token_.is('(')) good = parse_parameters(label.params);
    scopes_.pop_back();
    if (!good) return false;
    std::vector<std::pair<std::string, std::string>> directives;
    while (token_.kind == Token::Kind::directive)
        if (!parse_function_directive(directives)) return false;
    label.text = prototype_text(label, directives);
    return expect(';', "after the prototype");
}

}  // namespace ww::ptx
