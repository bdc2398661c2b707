// SPDX-License-Identifier: Apache-2.0
// The recursive-descent parser behind parse(). Internal to src/ptx. A parse_ function that returns
// bool has reported an error when it returns false; the statement loops then recover.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/expression.hpp"
#include "ptx/lexer.hpp"
#include "ptx/match_cache.hpp"
#include "ptx/module.hpp"

namespace ww::ptx {

constexpr size_t kMaxErrors = 100;
constexpr int kMaxDepth = 48;                        // nested parentheses, braces, scopes
constexpr uint64_t kMaxRange = uint64_t{1} << 22;    // registers of one %r<n>
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;    // of one variable
constexpr uint64_t kMaxPadding = uint64_t{1} << 20;  // zeros that one nested initialiser leaves out

class Parser {
  public:
    Parser(std::string_view text, std::string_view name);
    Result<Module> run();

  private:
    // Tokens and errors (parser.cpp).
    void advance();
    bool accept(char c);
    bool accept(std::string_view name);
    bool expect(char c, const char* after);
    bool error(const Token& at, std::string message);
    bool too_deep(std::string_view what);
    bool error_here(std::string message) { return error(token_, std::move(message)); }
    bool expected(std::string_view what);
    Token after_previous() const;
    void recover();

    // Constant expressions (parse_expression.cpp).
    bool starts_expression() const;
    bool parse_expression(Constant& value, int depth = 0);
    bool parse_binary(Constant& value, int least, int depth);
    bool parse_unary(Constant& value, int depth);
    bool parse_size(uint64_t& value, uint64_t limit, const char* what);
    bool parse_addend(int64_t& addend);

    // Module level (parse_module.cpp).
    void parse_module_statement();
    bool parse_directive();
    bool parse_version();
    bool parse_target();
    bool parse_address_size();
    bool parse_file();
    bool parse_pragma(std::vector<std::string>& pragmas);
    bool parse_section();
    bool parse_alias();
    bool parse_dwarf_line();
    bool parse_source_section();
    bool parse_function(Linkage linkage);
    bool parse_function_head(Function& function, Token& name);
    bool parse_function_directives(Function& function);
    bool parse_function_directive(std::vector<std::pair<std::string, std::string>>& directives);
    bool check_body(const Function& function, const Token& name);
    void recover_module();
    void add_item(Item::Kind kind, size_t size);

    // Declarations (parse_variable.cpp).
    bool parse_declaration(Linkage linkage, std::vector<Variable>& out);
    bool parse_qualifiers(Variable& variable);
    bool parse_qualifier(Variable& variable);
    bool parse_declarator(const Variable& base, Variable& variable);
    bool parse_dimensions(Variable& variable);
    bool parse_initialiser(Variable& variable);
    bool parse_initial_list(Variable& variable, size_t level, int depth);
    bool parse_initial(Variable& variable);
    bool parse_initial_symbol(Initial& initial, int depth);
    bool parse_attribute(std::string& attributes);
    bool parse_parameters(std::vector<Variable>& parameters);
    bool check_variable(const Variable& variable, const Token& at);

    // Function bodies (parse_body.cpp).
    bool parse_body(Function& function);
    void parse_statement(Function& function);
    bool parse_body_directive(Function& function);
    bool parse_loc(Function& function);
    bool parse_label(Function& function, const Token& name);
    bool parse_prototype(Label& label);
    bool parse_target_list(Label& label);
    void add(Function& function, Statement::Kind kind, size_t index, isa::Place place);

    // Instructions (parse_instruction.cpp).
    bool parse_guarded(Function& function);
    bool parse_instruction(Function& function, const Token& opcode, Instruction instruction);
    bool parse_operand(Operand& operand, int depth);
    bool parse_operand_list(std::vector<Operand>& items, char close, int depth);
    bool parse_name_operand(Operand& operand);
    bool parse_literal_operand(Operand& operand);
    bool parse_address(Operand& operand, int depth);
    bool parse_pair_tail(Operand& operand, int depth);

    // Names of one scope: the same name twice is an error.
    struct Scope {
        std::unordered_map<std::string_view, isa::Place> names, ranges;
        std::unordered_map<std::string_view, uint64_t> range_sizes;
    };
    bool declare(const Token& name);
    bool declare_range(const Token& name, uint64_t size);

    std::string_view text_;
    Lexer lexer_;
    Token token_;
    Token previous_;
    size_t previous_end_ = 0;
    Module module_;
    Diagnostics errors_;
    std::vector<Scope> scopes_;
    MatchCache matches_;
    int loc_ = -1;
    bool in_call_ = false;
    bool stop_ = false;    // reading on would only repeat the last error
    int open_braces_ = 0;  // of operands in the current statement, for recover()
    std::unordered_map<std::string, isa::Place> bodies_;
};

}  // namespace ww::ptx
