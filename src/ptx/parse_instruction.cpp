// SPDX-License-Identifier: Apache-2.0
// Instructions: guard, opcode, operands. Which operands an opcode takes is for the rows to say.
#include <array>

#include "ptx/parser.hpp"

namespace ww::ptx {
namespace {

constexpr size_t kMaxOperands = 1024;

// Special registers of three components: %tid.x is one name.
bool is_special_vector(std::string_view name) {
    constexpr std::array<std::string_view, 8> kNames = {
        "%tid",       "%ntid",       "%ctaid",         "%nctaid",
        "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
    for (std::string_view special : kNames)
        if (name == special) return true;
    return false;
}

// Elements of vector registers, and the bytes and halves that video instructions select.
bool is_component(std::string_view text) {
    if (text.size() == 2)
        return std::string_view("xyzwrgba").find(text[1]) != std::string_view::npos;
    const size_t most = text[1] == 'b' ? 4 : text[1] == 'h' ? 2 : 0;  // .b0, .b3210, .h10
    return text.size() <= 2 + most &&
           text.find_first_not_of("01234567", 2) == std::string_view::npos;
}

}  // namespace

bool Parser::parse_guarded(Function& function) {
    Instruction instruction;
    instruction.place = token_.place;
    if (accept('@')) {
        instruction.guard_negated = accept('!');
        if (token_.kind != Token::Kind::word) return expected("a predicate register after '@'");
        instruction.guard = std::string(token_.text);
        advance();
    }
    if (token_.kind != Token::Kind::word) return expected("an instruction");
    const Token opcode = token_;
    advance();
    return parse_instruction(function, opcode, std::move(instruction));
}

bool Parser::parse_instruction(Function& function, const Token& opcode, Instruction instruction) {
    instruction.opcode = std::string(opcode.text);
    if (instruction.guard.empty()) instruction.place = opcode.place;
    while (token_.kind == Token::Kind::directive && !token_.first_on_line) {  // "add .s32"
        instruction.opcode += token_.text;
        advance();
    }
    in_call_ = instruction.opcode == "call" || instruction.opcode.starts_with("call.");
    if (!token_.is(';')) {
        if (token_.first_on_line && starts_expression() == false &&
            token_.kind != Token::Kind::word && !token_.is('{') && !token_.is('['))
            return expect(';', "after the instruction");
        do {
            Operand operand;
            if (!parse_operand(operand, 0)) return false;
            instruction.operands.push_back(std::move(operand));
            if (instruction.operands.size() > kMaxOperands) return error_here("too many operands");
        } while (accept(','));
    }
    if (!expect(';', "after the instruction")) return false;
    instruction.loc = loc_;
    matches_.match(instruction);
    const isa::Place place = instruction.place;
    function.instructions.push_back(std::move(instruction));
    add(function, Statement::Kind::instruction, function.instructions.size() - 1, place);
    return true;
}

bool Parser::parse_operand(Operand& operand, int depth) {
    if (depth > 8) return too_deep("operands are");
    operand.place = token_.place;
    if (accept('{')) {
        ++open_braces_;
        operand.kind = Operand::Kind::vector;
        return parse_operand_list(operand.items, '}', depth) && parse_pair_tail(operand, depth);
    }
    if (token_.is('[')) return parse_address(operand, depth);
    if (in_call_ && accept('(')) {
        operand.kind = Operand::Kind::group;
        return parse_operand_list(operand.items, ')', depth);
    }
    if (token_.kind == Token::Kind::word && !token_.is("WARP_SZ"))
        return parse_name_operand(operand) && parse_pair_tail(operand, depth);
    if (token_.is('!') || token_.is('-')) {  // !p, -a; but -1 and !1 are constants
        const Token sign = token_;
        const Lexer lexer = lexer_;
        advance();
        if (token_.kind == Token::Kind::word && !token_.is("WARP_SZ")) {
            operand.negated = sign.is('!');
            operand.minus = sign.is('-');
            return parse_name_operand(operand);
        }
        lexer_ = lexer;
        token_ = sign;
    }
    if (!starts_expression()) return expected("an operand");
    return parse_literal_operand(operand);
}

// d|p, and what else stands on the right of '|'.
bool Parser::parse_pair_tail(Operand& operand, int depth) {
    if (!token_.is('|')) return true;
    if (depth > 0) return error_here("'|' joins two destinations only");
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.place = operand.place;
    pair.items.push_back(std::move(operand));
    while (accept('|')) {
        Operand item;
        if (!parse_operand(item, depth + 1)) return false;
        pair.items.push_back(std::move(item));
        if (pair.items.size() > 2) return error_here("'|' joins two destinations only");
    }
    operand = std::move(pair);
    return true;
}

bool Parser::parse_operand_list(std::vector<Operand>& items, char close, int depth) {
    if (accept(close)) {
        if (close == '}') --open_braces_;
        return true;
    }
    do {
        Operand item;
        if (!parse_operand(item, depth + 1)) return false;
        items.push_back(std::move(item));
        if (items.size() > kMaxOperands) return error_here("too many operands");
    } while (accept(','));
    if (!expect(close, "to close the list of operands")) return false;
    if (close == '}') --open_braces_;
    return true;
}

bool Parser::parse_name_operand(Operand& operand) {
    const Token name = token_;
    advance();
    if (name.text == "_") {
        operand.kind = Operand::Kind::sink;
        operand.text = "_";
        return true;
    }
    operand.kind = Operand::Kind::name;
    const size_t dot = name.text.find('.');
    if (dot == std::string_view::npos || is_special_vector(name.text.substr(0, dot))) {
        operand.text = std::string(name.text);
    } else {
        operand.text = std::string(name.text.substr(0, dot));
        operand.component = std::string(name.text.substr(dot));
        if (!is_component(operand.component))
            return error(name, "'" + operand.component + "' is no component of a vector register");
    }
    if (token_.is('+') || token_.is('-')) return parse_addend(operand.displacement);
    return true;
}

bool Parser::parse_literal_operand(Operand& operand) {
    Constant constant;
    const Token first = token_;
    if (!parse_expression(constant)) return false;
    operand.kind = constant.is_real ? Operand::Kind::real : Operand::Kind::integer;
    operand.value = constant.bits;
    operand.value32 = constant.bits32;
    const char* end = previous_.text.data() + previous_.text.size();
    operand.text = std::string(first.text.data(), end);
    // An expression is kept as its value; the first two characters tell print() the notation.
    if (constant.is_real && operand.text.size() != first.text.size())
        operand.text = constant.single ? "0f" : "0d";
    return true;
}

// [base + displacement], [base, {coordinates}], [12]
bool Parser::parse_address(Operand& operand, int depth) {
    operand.kind = Operand::Kind::address;
    advance();
    do {
        Operand item;
        if (!parse_operand(item, depth + 1)) return false;
        if (operand.items.empty()) std::swap(operand.displacement, item.displacement);
        operand.items.push_back(std::move(item));
        if (operand.items.size() > kMaxOperands) return error_here("too many operands");
    } while (accept(','));
    if (!expect(']', "to close the address")) return false;
    if (token_.is(".unified") && !token_.first_on_line) {  // ld.global.u32 d, [a].unified
        operand.component = ".unified";
        advance();
    }
    return true;
}

}  // namespace ww::ptx
