// SPDX-License-Identifier: Apache-2.0
#include "sass/findings.hpp"

#include <algorithm>
#include <map>

#include "sass/registers.hpp"

namespace ww::sass {
namespace {

constexpr int kWidest = 128;  // bits of a lane's access; 256 needs sm_100 and global memory

bool can_be_wider(const Instruction& instruction) {
    const Opcode opcode = classify(instruction.opcode);
    const bool memory = opcode.of == Class::shared || opcode.of == Class::global ||
                        opcode.of == Class::generic || opcode.of == Class::local;
    return memory && opcode.access != Access::none && access_bits(instruction.opcode) < kWidest;
}

struct Key {
    std::string_view opcode, guard, base;
    auto operator<=>(const Key&) const = default;
};
using Open = std::map<Key, std::map<int64_t, int>>;  // by offset, the instruction

// Splits a run of neighbours into aligned pieces, the widest first; appends what can be merged.
void merge_run(const std::vector<std::pair<int64_t, int>>& run, NarrowAccess& out) {
    const int64_t step = out.bits / 8;
    for (size_t i = 0; i < run.size();) {
        size_t take = 1;
        for (int wide = kWidest; wide > out.bits; wide /= 2) {
            const size_t parts = static_cast<size_t>(wide / out.bits);
            if (run[i].first % (step * static_cast<int64_t>(parts)) == 0 && i + parts <= run.size()) {
                take = parts;
                out.wide_bits = std::max(out.wide_bits, wide);
                break;
            }
        }
        if (take > 1) {
            for (size_t j = i; j < i + take; ++j) out.instructions.push_back(run[j].second);
            ++out.instead;
        }
        i += take;
    }
}

void close(const Key& key, const std::map<int64_t, int>& accesses, std::vector<NarrowAccess>& out) {
    if (accesses.size() < 2) return;
    const Opcode opcode = classify(key.opcode);
    NarrowAccess made;
    made.of = opcode.of;
    made.access = opcode.access;
    made.bits = access_bits(key.opcode);
    std::vector<std::pair<int64_t, int>> run;
    for (const auto& each : accesses) {
        if (!run.empty() && each.first != run.back().first + made.bits / 8) {
            merge_run(run, made);
            run.clear();
        }
        run.push_back(each);
    }
    merge_run(run, made);
    if (made.instead > 0) out.push_back(std::move(made));
}

// A base that changes ends what was collected for it.
void close_changed(const Instruction& instruction, Open& open, std::vector<NarrowAccess>& out) {
    const std::vector<Written> written = written_by(instruction);
    if (written.empty()) return;
    for (auto each = open.begin(); each != open.end();) {
        std::vector<Register> used = registers_in(each->first.base);
        for (const Register& reg : registers_in(each->first.guard)) used.push_back(reg);
        // An address of 64 bits is two registers, and the text names the first.
        for (size_t i = 0, n = used.size(); i < n; ++i)
            if (used[i].file == File::general || used[i].file == File::uniform)
                used.push_back({used[i].file, used[i].index + 1});
        const bool changed = std::any_of(used.begin(), used.end(), [&](const Register& reg) {
            return std::any_of(written.begin(), written.end(),
                               [&](const Written& w) { return w.has(reg); });
        });
        if (changed) {
            close(each->first, each->second, out);
            each = open.erase(each);
        } else {
            ++each;
        }
    }
}

bool waits_for_all(const Instruction& instruction) {
    return instruction.opcode.starts_with("WARPGROUP.DEPBAR") && instruction.operands.ends_with("0x0");
}

}  // namespace

std::vector<NarrowAccess> narrow_accesses(const Function& function, const Graph& graph) {
    std::vector<NarrowAccess> out;
    for (const Block& block : graph.blocks) {
        Open open;
        for (int i = block.first; i < block.end; ++i) {
            const Instruction& each = function.instructions[i];
            if (can_be_wider(each))
                if (const auto address = address_of(each))
                    open[{each.opcode, each.guard, address->base}].emplace(address->offset, i);
            close_changed(each, open, out);
        }
        for (const auto& [key, accesses] : open) close(key, accesses, out);
    }
    std::sort(out.begin(), out.end(), [](const NarrowAccess& a, const NarrowAccess& b) {
        return a.instructions.front() < b.instructions.front();
    });
    return out;
}

TensorOrder tensor_order(const Function& function, const Graph& graph) {
    TensorOrder out;
    for (const Block& block : graph.blocks) {
        std::vector<int> since_wait;
        std::optional<Register> made;  // by the tensor instruction before
        for (int i = block.first; i < block.end; ++i) {
            const Instruction& each = function.instructions[i];
            if (waits_for_all(each)) {
                if (since_wait.size() == 1) out.waited_alone.push_back(since_wait.front());
                since_wait.clear();
            }
            const auto work = tensor_work(each.opcode);
            if (!work) continue;
            if (work->warpgroup) {
                since_wait.push_back(i);
                continue;
            }
            // D, A, B, C (block scales behind them).
            const auto operands = operands_of(each);
            if (made && made->index >= 0 && operands.size() > 3 && register_of(operands[3]) == made)
                out.chained.push_back(i);
            made = operands.empty() ? std::nullopt : register_of(operands[0]);
        }
    }
    return out;
}

}  // namespace ww::sass
