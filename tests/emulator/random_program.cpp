// SPDX-License-Identifier: Apache-2.0
// The generator: nested scopes with branches, loops and jumps to the end of any scope around. A
// register is read only where every path has written it, as a compiler's output does.
#include "random_program.hpp"

#include <fmt/format.h>

namespace ww::emulator_test {
namespace {

using Kind = Line::Kind;

class Generator {
  public:
    Generator(std::mt19937& random, Function& out, int callees) : random_(random), out_(out), callees_(callees) {}

    void declare(const std::string& name) { words_.push_back(name), out_.words.push_back(name); }
    // Variables outlive every scope; the last statements of a program fold into them.
    void keep(const std::string& name) { declare(name), variables_.push_back(name); }

    void scope(uint32_t statements, uint32_t depth) {
        const size_t words = words_.size(), longs = longs_.size(), predicates = predicates_.size();
        const std::string end = label();
        ends_.push_back(end);
        for (left_ = std::min(left_, statements); statements > 0; --statements) statement(statements, depth);
        ends_.pop_back();
        emit({.kind = Kind::label, .d = end});
        words_.resize(words), longs_.resize(longs), predicates_.resize(predicates);
    }

    void emit(Line line) { out_.lines.push_back(std::move(line)); }

  private:
    uint32_t below(uint32_t n) { return n ? std::uniform_int_distribution<uint32_t>(0, n - 1)(random_) : 0; }
    bool chance(uint32_t percent) { return below(100) < percent; }
    std::string label() { return fmt::format("L{}", next_label_++); }
    // Mostly one of the youngest, so that lifetimes differ.
    const std::string& pick(const std::vector<std::string>& from) {
        const uint32_t n = static_cast<uint32_t>(from.size());
        return chance(60) && n > 8 ? from[n - 1 - below(8)] : from[below(n)];
    }
    std::string word() { return chance(15) ? std::to_string(below(1000)) : pick(words_); }
    std::string wide() { return pick(longs_); }

    std::string new_word() {
        const std::string name = fmt::format("w{}", out_.words.size());
        out_.words.push_back(name);
        return name;
    }
    std::string new_long() {
        const std::string name = fmt::format("l{}", out_.longs.size());
        out_.longs.push_back(name);
        return name;
    }

    // A destination: a fresh register, an old one, or an old one under a guard.
    std::string target(std::string& guard) {
        if (chance(65)) return new_word();
        if (chance(40) && !predicates_.empty()) guard = (chance(50) ? "!" : "") + pick(predicates_);
        return pick(chance(50) ? variables_ : words_);
    }
    void written(const std::string& name) {
        for (const std::string& known : words_)
            if (known == name) return;
        words_.push_back(name);
    }

    void statement(uint32_t& statements, uint32_t depth) {
        const uint32_t choice = below(100);
        if (choice < 8 && depth < 5) return branch(statements, depth);
        if (choice < 12 && depth < 4) return loop(statements, depth);
        if (choice < 15 && depth > 0 && !predicates_.empty()) return leave();
        if (choice < 18 && callees_ > 0) return call();
        if (choice < 28) return predicate();
        if (choice < 44) return long_operation();
        word_operation();
    }

    void word_operation() {
        static constexpr Kind kKinds[] = {Kind::add, Kind::sub, Kind::mul, Kind::bxor, Kind::bor, Kind::band, Kind::min, Kind::shl};
        Line line{.kind = kKinds[below(8)], .a = pick(words_), .b = word()};
        if (line.kind == Kind::shl) line.b = std::to_string(below(31));
        if (!predicates_.empty() && chance(12)) {
            line.kind = Kind::selp;
            line.c = pick(predicates_);
        }
        line.d = target(line.guard);
        const std::string name = line.d;
        emit(std::move(line));
        written(name);
    }

    void long_operation() {
        if (longs_.empty() || chance(30)) {
            Line line{.kind = chance(50) ? Kind::mad_wide : Kind::pack, .a = pick(words_), .b = pick(words_)};
            if (line.kind == Kind::mad_wide && longs_.empty()) line.kind = Kind::pack;
            if (line.kind == Kind::mad_wide) line.c = wide();
            line.d = new_long();
            longs_.push_back(line.d);
            return emit(std::move(line));
        }
        if (chance(50)) {
            Line line{.kind = chance(50) ? Kind::add64 : Kind::xor64, .a = wide(), .b = wide()};
            line.d = chance(60) ? new_long() : wide();
            if (line.d == out_.longs.back()) longs_.push_back(line.d);
            return emit(std::move(line));
        }
        if (chance(40)) {
            Line line{.kind = Kind::unpack, .a = wide()};
            line.d = new_word();
            line.e = new_word();
            words_.push_back(line.d), words_.push_back(line.e);
            return emit(std::move(line));
        }
        Line line{.kind = chance(50) ? Kind::low : Kind::high, .a = wide()};
        line.d = target(line.guard);
        const std::string name = line.d;
        emit(std::move(line));
        written(name);
    }

    void predicate() {
        const std::string name = fmt::format("p{}", out_.predicates.size());
        out_.predicates.push_back(name);
        emit({.kind = Kind::set, .d = name, .a = pick(words_), .b = word()});
        predicates_.push_back(name);
    }

    void branch(uint32_t& statements, uint32_t depth) {
        if (predicates_.empty() || chance(40)) predicate();
        const std::string condition = pick(predicates_), other = label(), join = label();
        const uint32_t size = 1 + below(std::min(statements, 20u));
        emit({.kind = Kind::jump, .d = other, .guard = (chance(50) ? "!" : "") + condition});
        scope(size, depth + 1);
        if (chance(60)) {
            emit({.kind = Kind::jump, .d = join});
            emit({.kind = Kind::label, .d = other});
            scope(size, depth + 1);
        } else {
            emit({.kind = Kind::label, .d = other});
        }
        emit({.kind = Kind::label, .d = join});
        statements -= std::min(statements - 1, size);
    }

    // The trip count differs by lane: up to 5 by bits of a register, read once.
    void loop(uint32_t& statements, uint32_t depth) {
        const std::string count = new_word(), head = label();
        const std::string test = fmt::format("p{}", out_.predicates.size());
        out_.predicates.push_back(test);
        const uint32_t size = 1 + below(std::min(statements, 15u));
        emit({.kind = Kind::band, .d = count, .a = pick(words_), .b = chance(50) ? "3" : "1"});
        emit({.kind = Kind::label, .d = head});
        scope(size, depth + 1);
        emit({.kind = Kind::set, .d = test, .a = "0", .b = count});
        emit({.kind = Kind::sub, .d = count, .a = count, .b = "1", .guard = test});
        emit({.kind = Kind::jump, .d = head, .guard = test});
        words_.push_back(count);
        statements -= std::min(statements - 1, size);
    }

    void leave() {
        emit({.kind = Kind::jump, .d = ends_[below(static_cast<uint32_t>(ends_.size()))], .guard = pick(predicates_)});
    }

    void call() {
        Line line{.kind = Kind::call, .a = pick(words_), .b = pick(words_), .function = 1 + static_cast<int>(below(static_cast<uint32_t>(callees_)))};
        line.d = target(line.guard);
        const std::string name = line.d;
        emit(std::move(line));
        written(name);
    }

    std::mt19937& random_;
    Function& out_;
    int callees_;
    uint32_t left_ = UINT32_MAX, next_label_ = 0;
    std::vector<std::string> words_, longs_, predicates_, variables_, ends_;
};

std::string print(const Line& l) {
    std::string g;
    if (!l.guard.empty()) g = "@" + l.guard + " ";
    const auto three = [&](const char* opcode) { return fmt::format("    {}{} {}, {}, {};\n", g, opcode, l.d, l.a, l.b); };
    switch (l.kind) {
        case Kind::add: return three("add.u32");
        case Kind::sub: return three("sub.u32");
        case Kind::mul: return three("mul.lo.u32");
        case Kind::bxor: return three("xor.b32");
        case Kind::bor: return three("or.b32");
        case Kind::band: return three("and.b32");
        case Kind::shl: return three("shl.b32");
        case Kind::min: return three("min.u32");
        case Kind::add64: return three("add.u64");
        case Kind::xor64: return three("xor.b64");
        case Kind::set: return three("setp.lt.u32");
        case Kind::mad_wide: return fmt::format("    {}mad.wide.u32 {}, {}, {}, {};\n", g, l.d, l.a, l.b, l.c);
        case Kind::selp: return fmt::format("    {}selp.b32 {}, {}, {}, {};\n", g, l.d, l.a, l.b, l.c);
        case Kind::low: return fmt::format("    {}cvt.u32.u64 {}, {};\n", g, l.d, l.a);
        case Kind::high: return fmt::format("    {{ .reg .b32 unused; {}mov.b64 {{unused, {}}}, {}; }}\n", g, l.d, l.a);
        case Kind::pack: return fmt::format("    {}mov.b64 {}, {{{}, {}}};\n", g, l.d, l.a, l.b);
        case Kind::unpack: return fmt::format("    {}mov.b64 {{{}, {}}}, {};\n", g, l.d, l.e, l.a);
        case Kind::jump: return fmt::format("    {}bra {};\n", g, l.d);
        case Kind::label: return l.d + ":\n";
        case Kind::call: return fmt::format("    {}call ({}), f{}, ({}, {});\n", g, l.d, l.function, l.a, l.b);
        case Kind::result: return fmt::format("    mov.u32 w_out, {};\n", l.a);
    }
    return {};
}

std::string declarations(const Function& function) {
    std::string text;
    const auto declare = [&](const char* type, const std::vector<std::string>& names) {
        for (const std::string& name : names)
            if (name != "w_a" && name != "w_b") text += fmt::format("    .reg {} {};\n", type, name);
    };
    declare(".b32", function.words);
    declare(".b64", function.longs);
    declare(".pred", function.predicates);
    return text;
}

std::string print(const RandomProgram& program) {
    std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
    for (size_t f = program.functions.size() - 1; f > 0; --f) {
        text += fmt::format(".func (.reg .b32 w_out) f{}(.reg .b32 w_a, .reg .b32 w_b)\n{{\n", f) + declarations(program.functions[f]);
        for (const Line& line : program.functions[f].lines) text += print(line);
        text += "    ret;\n}\n";
    }
    text += ".visible .entry k(.param .u64 out)\n{\n    .reg .b64 address;\n" + declarations(program.functions[0]);
    text += "    mov.u32 v0, %tid.x;\n";
    for (size_t i = 1; i < program.variables.size(); ++i) text += fmt::format("    mad.lo.u32 v{}, v0, {}, {};\n", i, 2654435761u + 2 * i, i * i);
    for (const Line& line : program.functions[0].lines) text += print(line);
    text += fmt::format("    {{ .reg .b32 t; .reg .b64 offset; mov.u32 t, %tid.x; mul.wide.u32 offset, t, {};\n"
                        "    ld.param.u64 address, [out]; add.u64 address, address, offset; }}\n",
                        4 * program.variables.size());
    for (size_t i = 0; i < program.variables.size(); ++i) text += fmt::format("    st.global.u32 [address+{}], v{};\n", 4 * i, i);
    return text + "    ret;\n}\n";
}

}  // namespace

RandomProgram random_program(uint32_t seed, uint32_t statements) {
    std::mt19937 random(seed);
    RandomProgram program;
    constexpr int kCallees = 3, kVariables = 6;
    program.functions.resize(kCallees + 1);
    for (int f = kCallees; f > 0; --f) {  // a function calls only those behind it
        Function& function = program.functions[static_cast<size_t>(f)];
        Generator generator(random, function, 0);
        generator.keep("w_a"), generator.keep("w_b");
        generator.scope(12, 2);
        generator.emit({.kind = Kind::result, .a = "w_a"});
    }
    Generator generator(random, program.functions[0], kCallees);
    for (int i = 0; i < kVariables; ++i) {
        program.variables.push_back(fmt::format("v{}", i));
        generator.keep(program.variables.back());
    }
    generator.scope(statements, 0);
    program.ptx = print(program);
    return program;
}

}  // namespace ww::emulator_test
