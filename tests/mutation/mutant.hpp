// SPDX-License-Identifier: Apache-2.0
// A fault planted in a kernel: what was changed where, and the files that hold it.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ww::mutation {

enum class Kind { constant, operand, dropped, bound, barrier, lane, comparison, opcode };
constexpr std::array<std::string_view, 8> kKindNames = {
    "changed constant", "swapped operand", "dropped instruction", "off-by-one bound",
    "removed barrier",  "wrong lane",      "changed comparison",  "changed opcode"};

// Code that faults are planted in: text, compiled PTX, or both.
struct Candidate {
    std::string_view name;
    std::string_view implementation;       // of port.toml
    std::vector<std::string_view> stages;  // those that a fault can change, in the port's order
    std::vector<std::string_view> parts;   // files below kernels/ whose text may be changed
    // The kernel of the first stage as it is compiled for this case: its PTX may be changed, in every
    // case that is compiled so. Empty: the text alone.
    std::string_view ptx_case;
    std::vector<std::string_view> cases;   // it runs in; empty: all but those whose data is a file
};

// A port that is measured, and how.
struct Subject {
    std::string_view port;                 // its folder below kernels/
    std::vector<Candidate> candidates;
    uint64_t budget = 0;                   // warp instructions of a launch: a mutant that runs away ends soon
    bool has_line_goal = false;
};
// Null when no port of that name is measured.
const Subject* find_subject(std::string_view port);

struct Mutant {
    bool in_ptx = false;
    Kind kind = Kind::constant;
    const Candidate* candidate = nullptr;
    std::string file;           // name of the source file whose line is at fault
    int line = 0;
    bool in_condition = false;  // source: within the parentheses of a for or an if
    std::string before, after;  // the text that was changed, and into what
    std::string site;           // PTX: the instruction, by Site::key
    std::map<std::string, std::string> files;  // path below kernels/ -> text
};

// Draws without the library's distributions, which differ between library versions.
class Random {
  public:
    explicit Random(uint64_t seed) : engine_(seed) {}
    size_t below(size_t bound) { return static_cast<size_t>(engine_() % bound); }

  private:
    std::mt19937_64 engine_;
};

}  // namespace ww::mutation
