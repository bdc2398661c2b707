// SPDX-License-Identifier: Apache-2.0
// What a random program must compute: its lines, one after the other, for one thread.
#include "random_program.hpp"

#include <cctype>
#include <stdexcept>

namespace ww::emulator_test {
namespace {

using Kind = Line::Kind;

class Interpreter {
  public:
    Interpreter(const RandomProgram& program, size_t function) : program_(program), lines_(program.functions[function].lines) {
        for (size_t i = 0; i < lines_.size(); ++i)
            if (lines_[i].kind == Kind::label) labels_[lines_[i].d] = i;
    }
    std::map<std::string, uint64_t> registers;

    void run() {
        for (size_t at = 0; at < lines_.size(); ++at) {
            const Line& line = lines_[at];
            if (!line.guard.empty() && !holds(line.guard)) continue;
            if (line.kind == Kind::jump) at = labels_.at(line.d);
            else if (line.kind != Kind::label) execute(line);
        }
    }

  private:
    // at(): a register that was never written is a bug of the generator.
    bool holds(const std::string& guard) const {
        return guard[0] == '!' ? !registers.at(guard.substr(1)) : registers.at(guard) != 0;
    }
    uint32_t word(const std::string& name) const {
        return static_cast<uint32_t>(std::isdigit(static_cast<unsigned char>(name[0])) ? std::stoul(name) : registers.at(name));
    }
    uint64_t wide(const std::string& name) const { return registers.at(name); }

    void execute(const Line& l) {
        uint64_t& d = registers[l.d.empty() ? "w_out" : l.d];
        switch (l.kind) {
            case Kind::add: d = word(l.a) + word(l.b); break;
            case Kind::sub: d = word(l.a) - word(l.b); break;
            case Kind::mul: d = word(l.a) * word(l.b); break;
            case Kind::bxor: d = word(l.a) ^ word(l.b); break;
            case Kind::bor: d = word(l.a) | word(l.b); break;
            case Kind::band: d = word(l.a) & word(l.b); break;
            case Kind::shl: d = word(l.a) << word(l.b); break;
            case Kind::min: d = word(l.a) < word(l.b) ? word(l.a) : word(l.b); break;
            case Kind::set: d = word(l.a) < word(l.b); break;
            case Kind::selp: d = holds(l.c) ? word(l.a) : word(l.b); break;
            case Kind::mad_wide: d = uint64_t{word(l.a)} * word(l.b) + wide(l.c); break;
            case Kind::add64: d = wide(l.a) + wide(l.b); break;
            case Kind::xor64: d = wide(l.a) ^ wide(l.b); break;
            case Kind::low: d = static_cast<uint32_t>(wide(l.a)); break;
            case Kind::high: d = wide(l.a) >> 32; break;
            case Kind::pack: d = uint64_t{word(l.b)} << 32 | word(l.a); break;
            case Kind::unpack: {
                const uint64_t value = wide(l.a);
                d = static_cast<uint32_t>(value);
                registers[l.e] = value >> 32;
                break;
            }
            case Kind::call: {
                Interpreter callee(program_, static_cast<size_t>(l.function));
                callee.registers = {{"w_a", word(l.a)}, {"w_b", word(l.b)}};
                callee.run();
                d = callee.registers.at("w_out");
                break;
            }
            case Kind::result: d = word(l.a); break;
            default: throw std::logic_error("a jump or label is no statement");
        }
    }

    const RandomProgram& program_;
    const std::vector<Line>& lines_;
    std::map<std::string, size_t> labels_;
};

}  // namespace

std::vector<uint32_t> RandomProgram::run(uint32_t thread) const {
    Interpreter interpreter(*this, 0);
    for (size_t i = 0; i < variables.size(); ++i) {
        const uint32_t factor = static_cast<uint32_t>(2654435761u + 2 * i);
        interpreter.registers[variables[i]] = i == 0 ? thread : static_cast<uint32_t>(thread * factor + i * i);
    }
    interpreter.run();
    std::vector<uint32_t> out;
    for (const std::string& name : variables) out.push_back(static_cast<uint32_t>(interpreter.registers.at(name)));
    return out;
}

}  // namespace ww::emulator_test
