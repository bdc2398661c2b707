// SPDX-License-Identifier: Apache-2.0
// Declarations of variables, registers and parameters, with their initialisers.
#include <bit>
#include <utility>

#include "base/text.hpp"
#include "ptx/parser.hpp"

namespace ww::ptx {
namespace {

constexpr std::pair<std::string_view, StateSpace> kSpaces[] = {
    {".reg", StateSpace::reg},        {".sreg", StateSpace::sreg},
    {".const", StateSpace::constant}, {".global", StateSpace::global},
    {".local", StateSpace::local},    {".param", StateSpace::param},
    {".shared", StateSpace::shared},
};

bool is_opaque(std::string_view type) {
    return type == ".texref" || type == ".samplerref" || type == ".surfref";
}

// Types that variables may have; the others (.bf16, .e4m3, ...) are instruction types only.
bool is_variable_type(Type type) {
    return (type >= Type::pred && type <= Type::f16x2) || type == Type::f32 || type == Type::f64;
}

uint64_t product(const std::vector<uint64_t>& factors, size_t from) {
    uint64_t result = 1;
    for (size_t i = from; i < factors.size(); ++i)
        if (__builtin_mul_overflow(result, factors[i], &result)) return ~uint64_t{0};
    return result;
}

// Sizes of the levels of braces: the array's dimensions, then the vector.
std::vector<uint64_t> levels_of(const Variable& variable) {
    std::vector<uint64_t> levels = variable.dims;
    if (variable.vector > 1) levels.push_back(static_cast<uint64_t>(variable.vector));
    return levels;
}

bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

uint64_t constant_bits(const Constant& constant, uint64_t bytes) {
    const uint64_t bits = constant.is_real && bytes == 4 ? constant.bits32 : constant.bits;
    return bytes == 0 || bytes >= 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

bool Parser::parse_declaration(Linkage linkage, std::vector<Variable>& out) {
    Variable base;
    base.linkage = linkage;
    base.place = token_.place;
    if (!parse_qualifiers(base)) return false;
    do {
        Variable variable;
        if (!parse_declarator(base, variable)) return false;
        out.push_back(std::move(variable));
    } while (accept(','));
    return expect(';', "after the declaration");
}

bool Parser::parse_qualifiers(Variable& variable) {
    for (const auto& [name, space] : kSpaces)
        if (token_.is(name)) {
            variable.space = space;
            advance();
            if (space == StateSpace::constant && token_.is('['))
                return error_here(
                    "constant banks went away with PTX ISA 2.2: declare the variable without "
                    "[bank]");
            while (token_.kind == Token::Kind::directive)
                if (!parse_qualifier(variable)) return false;
            if (variable.type_text.empty()) return expected("a type such as .b32");
            return true;
        }
    return expected("a state space such as .reg");
}

// One of .align N, .v4, .ptr, .attribute(...), a state space of .ptr, or the type.
bool Parser::parse_qualifier(Variable& variable) {
    const Token at = token_;
    advance();
    if (at.is(".align")) {
        const bool of_pointer =
            !variable.attributes.empty() && variable.attributes.starts_with(".ptr");
        uint64_t align = 0;
        const Token number = token_;
        if (!parse_size(align, uint64_t{1} << 31, "an alignment")) return false;
        if (!std::has_single_bit(align)) return error(number, "an alignment is a power of two");
        if (of_pointer)
            variable.attributes += " .align " + std::to_string(align);
        else
            variable.align = static_cast<uint32_t>(align);
        return true;
    }
    if (at.is(".attribute")) return parse_attribute(variable.attributes);
    if (at.is(".ptr")) {
        if (variable.space != StateSpace::param)
            return error(at, ".ptr describes kernel parameters (.param) only");
        variable.attributes = ".ptr";
        for (std::string_view space : {".const", ".global", ".local", ".shared"})
            if (accept(space)) variable.attributes += " " + std::string(space);
        return true;
    }
    if (at.is(".v2") || at.is(".v4")) {
        variable.vector = at.is(".v2") ? 2 : 4;
        return true;
    }
    if (!variable.type_text.empty())
        return error(at, "the type is already given as " + variable.type_text);
    variable.type = machine::parse_type(at.text);
    variable.type_text = std::string(at.text);
    if (variable.type == Type::none && !is_opaque(at.text))
        return error(at, "unknown type '" + std::string(at.text.substr(0, 60)) + "'");
    if (variable.type != Type::none && !is_variable_type(variable.type))
        return error(at, at.is(".bf16") ? "variables of this type are declared as .b16"
                                        : "'" + std::string(at.text) +
                                              "' is a type of instructions, not of variables");
    return true;
}

bool Parser::parse_attribute(std::string& attributes) {
    if (!expect('(', "after .attribute")) return false;
    std::string text = ".attribute(";
    for (int depth = 1; depth > 0; advance()) {
        if (!is_wordlike(token_) && !token_.is('(') && !token_.is(')') && !token_.is(','))
            return expected("')' to close .attribute");
        depth += token_.is('(') ? 1 : token_.is(')') ? -1 : 0;
        append_token(text, token_);
        if (token_.is(',')) text += ' ';
    }
    attributes += attributes.empty() ? text : " " + text;
    return true;
}

bool Parser::parse_declarator(const Variable& base, Variable& variable) {
    const Token name = token_;
    if (name.kind != Token::Kind::word || name.text.find('.') != std::string_view::npos)
        return expected("a name");
    variable = base;
    variable.name = std::string(name.text);
    variable.place = name.place;
    advance();
    if (token_.is('<')) {
        if (variable.space != StateSpace::reg)
            return error_here("only registers are declared as a range");
        advance();
        const Token at = token_;
        Constant count;
        if (!parse_binary(count, precedence('+'), 0) ||
            !expect('>', "after the number of registers"))
            return false;
        if (count.is_real || count.bits == 0 || count.bits > kMaxRange)
            return error(at, "a range declares 1 to " + std::to_string(kMaxRange) + " registers");
        variable.range = static_cast<uint32_t>(count.bits);
        return declare_range(name, count.bits);
    }
    if (!parse_dimensions(variable)) return false;
    // A module may declare an external variable again, and "_" stands for no name.
    const bool again = variable.linkage == Linkage::external && scopes_.size() == 1;
    if (name.text != "_" && !again && !declare(name)) return false;
    if (accept('=') && !parse_initialiser(variable)) return false;
    return check_variable(variable, name);
}

bool Parser::parse_dimensions(Variable& variable) {
    while (token_.is('[')) {
        const Token bracket = token_;
        advance();
        if (variable.dims.size() >= static_cast<size_t>(kMaxDepth))
            return error(bracket, "too many dimensions");
        uint64_t size = 0;
        if (!token_.is(']')) {
            const Token at = token_;
            if (!parse_size(size, kMaxBytes, "an array dimension")) return false;
            if (size == 0 && !variable.dims.empty()) return error(at, "this dimension is zero");
        } else if (!variable.dims.empty()) {
            return error(bracket, "only the first dimension may be left out");
        }
        variable.dims.push_back(size);
        if (!expect(']', "after the dimension")) return false;
    }
    return true;
}

bool Parser::check_variable(const Variable& variable, const Token& at) {
    const uint64_t elements = product(levels_of(variable), 0);
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements, variable.element_bytes(), &bytes) || bytes > kMaxBytes)
        return error(at, "'" + variable.name + "' is larger than 2^40 bytes");
    if (static_cast<uint64_t>(variable.vector) * variable.element_bytes() > 16 &&
        variable.vector > 1)
        return error(at, "a vector has at most 16 bytes");
    if (variable.type == Type::pred && variable.space != StateSpace::reg)
        return error(at, "predicates are registers: declare '" + variable.name + "' as .reg .pred");
    if (variable.space == StateSpace::reg && !variable.dims.empty())
        return error(at, "registers have no dimensions; declare a range: " + variable.name + "<n>");
    return true;
}

bool Parser::parse_initialiser(Variable& variable) {
    if (variable.space != StateSpace::global && variable.space != StateSpace::constant)
        return error(previous_, "only .global and .const variables have initialisers");
    if (variable.linkage == Linkage::external)
        return error(previous_, "an external variable has no initialiser");
    if (variable.type == Type::none) {  // .samplerref s = { addr_mode_0 = wrap, ... }
        int depth = 0;
        for (; token_.kind != Token::Kind::end && !token_.is(';'); advance()) {
            if (token_.kind == Token::Kind::bad) return error_here("");
            if (token_.is(',') && depth == 0) return true;
            depth += token_.is('{') ? 1 : token_.is('}') ? -1 : 0;
            if (!variable.initial_text.empty() && !token_.is(',')) variable.initial_text += ' ';
            variable.initial_text += token_.text;
        }
        return true;
    }
    const bool unsized = !variable.dims.empty() && variable.dims[0] == 0;
    if (levels_of(variable).empty()) return parse_initial(variable);
    if (!parse_initial_list(variable, 0, 0)) return false;
    const uint64_t inner = product(levels_of(variable), unsized ? 1 : 0);
    if (unsized) variable.dims[0] = inner == 0 ? 0 : (variable.initial.size() + inner - 1) / inner;
    return true;
}

// One pair of braces: elements, or at an outer level further pairs, each filled up with zeros.
bool Parser::parse_initial_list(Variable& variable, size_t level, int depth) {
    const std::vector<uint64_t> levels = levels_of(variable);
    if (!expect('{', "to start the list of values")) return false;
    const bool unsized = level == 0 && !variable.dims.empty() && variable.dims[0] == 0;
    const uint64_t capacity = unsized ? ~uint64_t{0} : product(levels, level);
    const uint64_t inner = product(levels, level + 1);
    const size_t begin = variable.initial.size();
    while (!token_.is('}')) {
        const Token at = token_;
        if (token_.is('{') && level + 1 < levels.size()) {
            if (!parse_initial_list(variable, level + 1, depth + 1)) return false;
            const uint64_t used = (variable.initial.size() - begin) % inner;
            if (used != 0 && inner - used > kMaxPadding)
                return error(at, "too many values are left out here");
            if (used != 0) variable.initial.resize(variable.initial.size() + (inner - used));
        } else if (level + 1 < levels.size()) {
            return expected("'{': one list of values for each row");
        } else if (!parse_initial(variable)) {
            return false;
        }
        if (variable.initial.size() - begin > capacity)
            return error(at, "more values than '" + variable.name + "' has elements");
        if (!accept(',')) break;
    }
    if (variable.initial.size() == begin && level > 0 && inner <= kMaxPadding)
        variable.initial.resize(begin + inner);  // {} is one row of zeros
    return expect('}', "to close the list of values");
}

bool Parser::parse_initial(Variable& variable) {
    Initial initial;
    const Token at = token_;
    if (token_.kind == Token::Kind::word && !token_.is("WARP_SZ")) {
        if (!parse_initial_symbol(initial, 0)) return false;
    } else {
        Constant constant;
        if (!parse_expression(constant)) return false;
        initial.bits = constant_bits(constant, variable.element_bytes());
        if (constant.is_real ? is_integer(variable.type) : is_float(variable.type))
            return error(at, "this value does not have the type " + variable.type_text);
        if (accept('(')) {  // mask(value)
            const uint64_t mask = constant.bits;
            if (constant.is_real || mask == 0 || mask >> std::countr_zero(mask) != 0xff ||
                std::countr_zero(mask) % 8)
                return error(at, "a mask selects one byte: 0xff, 0xff00, ...");
            Constant value;
            if (starts_expression()) {
                if (!parse_expression(value)) return false;
                initial.bits = (value.bits & mask) >> std::countr_zero(mask);
            } else {
                if (!parse_initial_symbol(initial, 0)) return false;
                initial.bits = 0;
                initial.mask = mask;
            }
            if (!expect(')', "after the masked value")) return false;
        }
    }
    variable.initial.push_back(std::move(initial));
    return true;
}

// symbol, symbol+4, generic(symbol), generic(symbol)+4
bool Parser::parse_initial_symbol(Initial& initial, int depth) {
    const Token name = token_;
    if (name.kind != Token::Kind::word || name.text.find('.') != std::string_view::npos ||
        depth > 1)
        return expected("a symbol");
    advance();
    if (name.is("generic") && token_.is('(')) {
        advance();
        initial.generic = true;
        if (!parse_initial_symbol(initial, depth + 1) || !expect(')', "after generic(symbol"))
            return false;
    } else {
        initial.symbol = std::string(name.text);
    }
    return parse_addend(initial.addend);
}

bool Parser::parse_parameters(std::vector<Variable>& parameters) {
    if (!expect('(', "before the parameters")) return false;
    if (accept(')')) return true;
    do {
        Variable base, variable;
        const Token at = token_;
        if (!parse_qualifiers(base)) return false;
        if (base.space != StateSpace::param && base.space != StateSpace::reg)
            return error(at, "parameters are in the state space .param or .reg");
        if (token_.is(',') || token_.is(')')) {  // a prototype may leave the name out
            base.name = "_";
            base.place = at.place;
            variable = base;
        } else if (!parse_declarator(base, variable)) {
            return false;
        }
        parameters.push_back(std::move(variable));
    } while (accept(','));
    return expect(')', "after the parameters");
}

}  // namespace ww::ptx
