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

// The implementations of kernels/softmax that faults are planted in.
struct Candidate {
    std::string_view name, source, entry;
    std::vector<std::string_view> parts;  // further files whose text may be changed
};
inline const std::array<Candidate, 2> kCandidates = {
    {{"plain", "softmax/softmax_plain.cu", "softmax_plain",
      {"softmax/softmax_common.cuh", "common/exp2_fma.cuh", "common/ptx_math.cuh",
       "common/ptx_sync.cuh"}},
     {"cp_async", "softmax/softmax_cp_async.cu", "softmax_cp_async",
      {"softmax/softmax_common.cuh", "common/exp2_fma.cuh", "common/ptx_math.cuh",
       "common/ptx_sync.cuh", "common/ptx_cp_async.cuh"}}}};

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
