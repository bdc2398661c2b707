// SPDX-License-Identifier: Apache-2.0
#include "sass/trip.hpp"

#include <algorithm>

#include "sass/opcode.hpp"
#include "sass/progression.hpp"

namespace ww::sass {
namespace {

// Loops with another exit may run less often than the counter says; and where the branch only goes
// elsewhere in the loop, it says nothing.
bool leaves_only_at(int branch, const Function& function, const Graph& graph, const Loop& loop) {
    bool leaves = false;
    for (const int block : loop.blocks) {
        const int last = graph.blocks[block].end - 1;
        const std::string_view base = base_name(function.instructions[last].opcode);
        if (base == "EXIT" || base == "RET") return false;
        for (const int to : graph.blocks[block].successors)
            if (!std::binary_search(loop.blocks.begin(), loop.blocks.end(), to)) {
                if (last != branch) return false;
                leaves = true;
            }
    }
    return leaves;
}

// IADD3 R2, R2, 0x4, RZ; VIADD R2, R2, 0xfffffffc; UIADD3 UR4, UPT, UPT, UR4, 0x1, URZ.
std::optional<int64_t> step_of(const Instruction& update, const Register& counter) {
    const std::string_view base = base_name(update.opcode);
    if (base != "IADD3" && base != "VIADD" && base != "UIADD3" && base != "IADD" &&
        base != "UIADD" && base != "UVIADD")
        return std::nullopt;
    if (has_modifier(update.opcode, "X") || has_modifier(update.opcode, "64")) return std::nullopt;
    bool itself = false;
    uint32_t step = 0;
    const auto operands = operands_of(update);
    for (size_t i = 1; i < operands.size(); ++i) {
        if (const auto number = number_of(operands[i])) {
            step += static_cast<uint32_t>(*number);
        } else if (const auto each = register_of(operands[i])) {
            if (each->index < 0) continue;
            if (*each != counter || itself || operands[i].find_first_of("-~|") == 0)
                return std::nullopt;
            itself = true;
        } else {
            return std::nullopt;
        }
    }
    if (!itself || step == 0) return std::nullopt;
    return static_cast<int32_t>(step);
}

// The number that the instruction puts into its result.
std::optional<int64_t> constant_of(const Instruction& instruction) {
    const std::string_view base = base_name(instruction.opcode);
    const auto operands = operands_of(instruction);
    if (!instruction.guard.empty() || operands.size() < 2) return std::nullopt;
    if (base == "MOV" || base == "UMOV" || base == "CS2R") return number_of(operands[1]);
    if (instruction.opcode == "IMAD.MOV.U32" && operands.size() == 4 && operands[1] == "RZ")
        return number_of(operands[3]);
    // Zero from the pipe that is free: HFMA2.MMA R0, -RZ, RZ, 0, 0.
    if (base == "HFMA2" && operands.size() == 5 && operands[1] == "-RZ" && operands[2] == "RZ" &&
        operands[3] == "0" && operands[4] == "0")
        return 0;
    return std::nullopt;
}

// Counters of 32 bits only; nothing for other comparisons. mirrored: the counter is on the right.
std::optional<Comparison> comparison_of(std::string_view opcode, bool mirrored) {
    if (has_modifier(opcode, "EX") || has_modifier(opcode, "S64") || has_modifier(opcode, "U64"))
        return std::nullopt;
    struct {
        std::string_view name;
        Comparison as_is, mirrored;
    } constexpr kAll[] = {
        {"NE", Comparison::ne, Comparison::ne}, {"EQ", Comparison::eq, Comparison::eq},
        {"LT", Comparison::lt, Comparison::gt}, {"LE", Comparison::le, Comparison::ge},
        {"GT", Comparison::gt, Comparison::lt}, {"GE", Comparison::ge, Comparison::le}};
    for (const auto& each : kAll)
        if (has_modifier(opcode, each.name)) return mirrored ? each.mirrored : each.as_is;
    return std::nullopt;
}

}  // namespace

TripHints::TripHints(const Function& function, const Graph& graph)
    : function_(function), graph_(graph), definitions_(function, graph) {}

TripHint TripHints::of(const Loop& loop) const {
    TripHint out;
    if (loop.latches.size() != 1) return out;
    const int branch = graph_.blocks[loop.latches.front()].end - 1;
    const Instruction& jump = function_.instructions[branch];
    if (!is_direct_branch(jump) || jump.target != graph_.blocks[loop.header].first) return out;
    const auto guard = register_of(jump.guard.substr(std::min<size_t>(1, jump.guard.size())));
    if (!guard || guard->index < 0) return out;
    const int test = definitions_.reaching(branch, *guard, loop);
    if (test < 0) return out;
    const Instruction& compare = function_.instructions[test];
    const std::string_view base = base_name(compare.opcode);
    const auto operands = operands_of(compare);
    if (!compare.guard.empty() || (base != "ISETP" && base != "UISETP") || operands.size() < 5)
        return out;
    out.comparison = std::string(compare.opcode);
    for (const int side : {2, 3}) {
        const auto counter = register_of(operands[side]);
        if (!counter || counter->index < 0 || operands[side].front() == '-') continue;
        const int update = update_of(loop, *counter);
        if (update < 0) continue;
        out.step = step_of(function_.instructions[update], *counter);
        if (!out.step) continue;
        out.counter = std::string(operands[side].substr(0, operands[side].find('.')));
        out.bound = std::string(operands[5 - side]);
        const auto comparison = comparison_of(compare.opcode, side == 3);
        const auto bound = number_of(out.bound), start = start_of(loop, *counter);
        // The predicate is the comparison alone, not also the one that is an operand.
        const bool alone = operands[4] == "PT" || operands[4] == "UPT";
        // Cycles that are no loop here may run the update more than once.
        const bool loops_known = graph_.irreducible == 0 && graph_.too_deep == 0;
        if (!comparison || !bound || !start || !alone || !loops_known ||
            register_of(operands[0]) != guard || !leaves_only_at(branch, function_, graph_, loop))
            return out;
        Range32 stop = numbers_where(*comparison, static_cast<uint32_t>(*bound),
                                     has_modifier(compare.opcode, "U32"));
        if (!jump.guard.starts_with("@!")) stop = stop.others();
        const int update_block = graph_.block_of[update], test_block = graph_.block_of[test];
        const bool updated_first =
            update_block == test_block ? update < test : graph_.dominates(update_block, test_block);
        const uint32_t step = static_cast<uint32_t>(*out.step);
        const uint32_t first = static_cast<uint32_t>(*start) + (updated_first ? step : 0);
        if (const auto steps = steps_into(stop, first, step))
            out.count = static_cast<int64_t>(*steps) + 1;
        return out;
    }
    return out;
}

// The one instruction that changes it, once an iteration: not in an inner loop, nor in a branch
// that may be left out.
int TripHints::update_of(const Loop& loop, const Register& counter) const {
    const int found = definitions_.only_one_in(loop, counter);
    if (found < 0 || !function_.instructions[found].guard.empty()) return -1;
    const int block = graph_.block_of[found];
    const bool always = graph_.blocks[block].loop == graph_.blocks[loop.header].loop &&
                        graph_.dominates(block, loop.latches.front());
    return always ? found : -1;
}

// The constant that the register holds whenever the loop is entered.
std::optional<int64_t> TripHints::start_of(const Loop& loop, const Register& counter) const {
    const int found = definitions_.reaching_entry(loop, counter);
    return found < 0 ? std::nullopt : constant_of(function_.instructions[found]);
}

}  // namespace ww::sass
