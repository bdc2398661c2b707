// SPDX-License-Identifier: Apache-2.0
#include "sass/trip.hpp"

#include <algorithm>

#include "sass/opcode.hpp"

namespace ww::sass {
namespace {

class TripFinder {
  public:
    TripFinder(const Function& function, const Graph& graph, const Loop& loop)
        : f_(function), g_(graph), loop_(loop), inside_(graph.blocks.size(), 0) {
        for (const int block : loop.blocks) inside_[block] = 1;
    }

    TripHint find() {
        TripHint out;
        if (loop_.latches.size() != 1) return out;
        const int branch = g_.blocks[loop_.latches.front()].end - 1;
        const Instruction& jump = f_.instructions[branch];
        if (!is_direct_branch(jump) || jump.target != g_.blocks[loop_.header].first) return out;
        const auto guard = register_of(jump.guard.substr(std::min<size_t>(1, jump.guard.size())));
        if (!guard || guard->index < 0) return out;
        const int test = definition_before(branch, *guard);
        if (test < 0) return out;
        const Instruction& compare = f_.instructions[test];
        const std::string_view base = base_name(compare.opcode);
        const auto operands = operands_of(compare);
        if (!compare.guard.empty()) return out;
        if ((base != "ISETP" && base != "UISETP") || operands.size() < 5) return out;
        out.comparison = std::string(compare.opcode);
        for (const int side : {2, 3}) {
            const auto counter = register_of(operands[side]);
            if (!counter || counter->index < 0 || operands[side].front() == '-') continue;
            const int update = only_definition(*counter);
            if (update < 0) continue;
            const auto step = step_of(f_.instructions[update], *counter);
            if (!step) continue;
            out.counter = std::string(operands[side].substr(0, operands[side].find('.')));
            out.step = step;
            out.bound = std::string(operands[5 - side]);
            if (operands[4] == "PT" && operands[1] == "PT" && leaves_only_at(branch))
                out.count = count(*counter, update, test, jump.guard.starts_with("@!"),
                                  side == 3, out);
            return out;
        }
        return out;
    }

  private:
    bool writes(int instruction, const Register& reg) const {
        const auto written = written_by(f_.instructions[instruction]);
        return std::any_of(written.begin(), written.end(),
                           [&](const Written& each) { return each.has(reg); });
    }

    // Loops with another exit may run less often than the counter says.
    bool leaves_only_at(int branch) const {
        for (const int block : loop_.blocks) {
            const int last = g_.blocks[block].end - 1;
            const std::string_view base = base_name(f_.instructions[last].opcode);
            if (base == "EXIT" || base == "RET") return false;
            for (const int to : g_.blocks[block].successors)
                if (!inside_[to] && last != branch) return false;
        }
        return true;
    }

    // In the latch, or in blocks of the loop that dominate it.
    int definition_before(int branch, const Register& reg) const {
        int end = branch;
        for (int block = g_.block_of[branch]; block >= 0 && inside_[block];
             block = g_.dominator[block]) {
            for (int i = std::min(end, g_.blocks[block].end) - 1; i >= g_.blocks[block].first; --i)
                if (writes(i, reg)) return i;
            end = static_cast<int>(f_.instructions.size());
        }
        return -1;
    }

    int only_definition(const Register& reg) const {
        int found = -1;
        for (const int block : loop_.blocks)
            for (int i = g_.blocks[block].first; i < g_.blocks[block].end; ++i)
                if (writes(i, reg)) {
                    if (found >= 0) return -1;
                    found = i;
                }
        // Once an iteration: not in an inner loop, nor in a branch that may be left out.
        if (found < 0 || !f_.instructions[found].guard.empty()) return -1;
        const int block = g_.block_of[found];
        const bool always = g_.blocks[block].loop == g_.blocks[loop_.header].loop &&
                            g_.dominates(block, loop_.latches.front());
        return always ? found : -1;
    }

    // IADD3 R2, R2, 0x4, RZ; VIADD R2, R2, 0xfffffffc; UIADD3 UR4, UPT, UPT, UR4, 0x1, URZ.
    static std::optional<int64_t> step_of(const Instruction& update, const Register& reg) {
        const std::string_view base = base_name(update.opcode);
        if (base != "IADD3" && base != "VIADD" && base != "UIADD3" && base != "IADD" &&
            base != "UIADD" && base != "UVIADD")
            return std::nullopt;
        if (has_modifier(update.opcode, "X") || has_modifier(update.opcode, "64")) return std::nullopt;
        bool itself = false;
        int64_t step = 0;
        const auto operands = operands_of(update);
        for (size_t i = 1; i < operands.size(); ++i) {
            if (const auto number = number_of(operands[i]))
                step += static_cast<int32_t>(static_cast<uint32_t>(*number));
            else if (const auto each = register_of(operands[i])) {
                if (each->index < 0) continue;
                if (*each != reg || itself || operands[i].front() == '-') return std::nullopt;
                itself = true;
            } else {
                return std::nullopt;
            }
        }
        if (!itself || step == 0) return std::nullopt;
        return static_cast<int32_t>(static_cast<uint32_t>(step));
    }

    // The constant that the register holds before the loop: its last definition on the way there,
    // if nothing else in between writes it.
    std::optional<int64_t> start_of(const Register& reg) const {
        const int header = g_.blocks[loop_.header].first;
        int found = -1;
        for (int block = g_.dominator[loop_.header]; block >= 0 && found < 0;
             block = g_.dominator[block])
            for (int i = g_.blocks[block].end - 1; i >= g_.blocks[block].first && found < 0; --i)
                if (writes(i, reg)) found = i;
        if (found < 0 || found >= header) return std::nullopt;
        for (int i = found + 1; i < header; ++i)
            if (writes(i, reg)) return std::nullopt;
        const Instruction& each = f_.instructions[found];
        const std::string_view base = base_name(each.opcode);
        const auto operands = operands_of(each);
        if (!each.guard.empty() || operands.size() < 2) return std::nullopt;
        if (base == "MOV" || base == "UMOV" || base == "CS2R") return number_of(operands[1]);
        if (each.opcode == "IMAD.MOV.U32" && operands.size() == 4 && operands[1] == "RZ")
            return number_of(operands[3]);
        return std::nullopt;
    }

    std::optional<int64_t> count(const Register& reg, int update, int test, bool negated,
                                 bool swapped, const TripHint& hint) const {
        constexpr int64_t kMost = 1 << 16;
        const auto start = start_of(reg), bound = number_of(hint.bound);
        if (!start || !bound) return std::nullopt;
        const bool is_unsigned = has_modifier(hint.comparison, "U32");
        const bool updated_first =
            g_.block_of[update] == g_.block_of[test]
                ? update < test
                : g_.dominates(g_.block_of[update], g_.block_of[test]);
        const auto value = [&](int64_t raw) -> int64_t {
            const uint32_t low = static_cast<uint32_t>(raw);
            return is_unsigned ? int64_t{low} : int64_t{static_cast<int32_t>(low)};
        };
        int64_t counter = static_cast<int32_t>(static_cast<uint32_t>(*start));
        for (int64_t iteration = 1; iteration <= kMost; ++iteration) {
            if (updated_first) counter += *hint.step;
            const int64_t a = swapped ? value(*bound) : value(counter);
            const int64_t b = swapped ? value(counter) : value(*bound);
            const auto holds = compare(hint.comparison, a, b);
            if (!holds) return std::nullopt;
            if (*holds == negated) return iteration;
            if (!updated_first) counter += *hint.step;
        }
        return std::nullopt;
    }

    static std::optional<bool> compare(std::string_view opcode, int64_t a, int64_t b) {
        if (has_modifier(opcode, "EX")) return std::nullopt;
        if (has_modifier(opcode, "NE")) return a != b;
        if (has_modifier(opcode, "EQ")) return a == b;
        if (has_modifier(opcode, "LT")) return a < b;
        if (has_modifier(opcode, "LE")) return a <= b;
        if (has_modifier(opcode, "GT")) return a > b;
        if (has_modifier(opcode, "GE")) return a >= b;
        return std::nullopt;
    }

    const Function& f_;
    const Graph& g_;
    const Loop& loop_;
    std::vector<char> inside_;
};

}  // namespace

TripHint trip_hint(const Function& function, const Graph& graph, const Loop& loop) {
    return TripFinder(function, graph, loop).find();
}

}  // namespace ww::sass
