// SPDX-License-Identifier: Apache-2.0
// Seeded random PTX programs and what each thread must compute, by a small interpreter that shares
// nothing with the emulator: one thread at a time, one named register at a time.
#pragma once
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ww::emulator_test {

// A statement on registers that have names of their own. w*: 32 bits, l*: 64 bits, p*: predicates.
struct Line {
    enum class Kind { add, sub, mul, bxor, bor, band, shl, min, mad_wide, add64, xor64, low, high, pack, unpack, selp, set, jump, label, call, result };
    Kind kind = Kind::add;
    std::string d, e;           // destinations; label of a jump
    std::string a, b, c;        // sources: registers, or decimal immediates
    std::string guard;          // "p3", "!p3" or empty
    int function = -1;          // of a call
};

struct Function {
    std::vector<Line> lines;
    std::vector<std::string> words, longs, predicates;  // its registers
};

struct RandomProgram {
    std::vector<Function> functions;  // [0] is the kernel; the others take w_a, w_b and return w_out
    std::vector<std::string> variables;  // 32-bit, stored at the end
    std::string ptx;
    // Values of the variables at the end, of the thread with this number.
    std::vector<uint32_t> run(uint32_t thread) const;
};

// statements: about how many the kernel has.
RandomProgram random_program(uint32_t seed, uint32_t statements);

}  // namespace ww::emulator_test
