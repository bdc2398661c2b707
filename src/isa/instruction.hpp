// SPDX-License-Identifier: Apache-2.0
// One PTX instruction as text gives it: opcode, guard, operands, place. Produced by src/ptx,
// matched against rows here, decoded by src/emulator.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::isa {

struct Row;

struct Place {
    int line = 0, col = 0;  // 1-based, in the PTX text
};

struct Operand {
    enum class Kind : uint8_t {
        name,     // register, special register, variable, function or label
        integer,  // value
        real,     // f64 bits in value; f32 bits in value32
        vector,   // {a, b}: items
        address,  // [base + displacement], [map, {coordinates}]: items[0] = base, then coordinates
        pair,     // d|p: items
        group,    // (a, b): items, of calls
        sink      // _
    };
    Kind kind = Kind::sink;
    bool negated = false;       // !p
    bool minus = false;         // -a of the video instructions
    std::string text;           // name as written; literal as written
    std::string component;      // ".x" of %tid.x is part of text; this is for vector registers v.x
    uint64_t value = 0;         // integer: two's complement; real: f64 bits
    uint32_t value32 = 0;       // real: f32 bits
    int64_t displacement = 0;   // address, or name + constant
    std::vector<Operand> items;
    Place place;
};

// The alternative that was chosen for a set of a row: {".type", ".u32"}; a literal optional
// modifier stands for itself: {".sat", ".sat"}.
using Choice = std::pair<std::string_view, std::string_view>;

struct Instruction {
    std::string opcode;            // "mad.lo.s32", as written
    std::string guard;             // predicate register of @p, or empty
    bool guard_negated = false;    // @!p
    std::vector<Operand> operands;  // as written
    Place place;
    int loc = -1;                  // index into Module::locs, or -1

    // Filled by match(). A null row: no grammar line fits, and why says so.
    const Row* row = nullptr;
    std::vector<Choice> choices;
    std::vector<int> positions;    // per position of the row's syntax: index in flat(), or -1 when left out
    std::string why;
};

}  // namespace ww::isa
