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

struct Key {
    std::string_view opcode, guard, base;
    auto operator<=>(const Key&) const = default;
};

// The accesses of a block so far whose bases have not changed since.
class Open {
  public:
    explicit Open(std::vector<NarrowAccess>& out) : out_(out) {}

    void add(const Instruction& instruction, const Address& address, int index) {
        const Key key{instruction.opcode, instruction.guard, address.base};
        const auto [place, is_new] = of_key_.try_emplace(key, static_cast<int>(groups_.size()));
        if (is_new) {
            groups_.push_back({key, {}, true});
            for (const Register& each : used(key)) users_[each].push_back(place->second);
        }
        groups_[place->second].accesses.emplace(address.offset, index);
    }

    // A base that changes ends what was collected for it.
    void change(const std::vector<Written>& written) {
        for (const Written& each : written) {
            const auto from = users_.lower_bound(each.first);
            const auto to = users_.lower_bound({each.first.file, each.first.index + each.count});
            if (each.first.index < 0) continue;
            for (auto users = from; users != to; ++users)
                for (const int group : users->second) close(groups_[group]);
            users_.erase(from, to);
        }
    }

    void close_all() {
        for (Group& each : groups_) close(each);
        groups_.clear();
        users_.clear();
    }

  private:
    struct Group {
        Key key;
        std::map<int64_t, int> accesses;  // by offset, the instruction
        bool open = true;
    };

    // Registers that its base and guard read. The text names the first of an address of 64 bits.
    static std::vector<Register> used(const Key& key) {
        std::vector<Register> out = registers_in(key.base);
        const Class of = classify(key.opcode).of;
        const bool pairs = of != Class::shared && of != Class::local;
        for (size_t i = 0, n = out.size(); pairs && i < n; ++i)
            out.push_back({out[i].file, out[i].index < 0 ? -1 : out[i].index + 1});
        for (const Register& each : registers_in(key.guard)) out.push_back(each);
        std::erase_if(out, [](const Register& each) { return each.index < 0; });
        return out;
    }

    void close(Group& group) {
        if (!group.open) return;
        group.open = false;
        of_key_.erase(group.key);
        if (group.accesses.size() < 2) return;
        NarrowAccess made;
        made.of = classify(group.key.opcode).of;
        made.access = classify(group.key.opcode).access;
        made.bits = access_bits(group.key.opcode);
        std::vector<std::pair<int64_t, int>> run;
        for (const auto& each : group.accesses) {
            // Unsigned: hostile offsets lie further apart than an int64_t can say.
            const uint64_t step = static_cast<uint64_t>(made.bits) / 8;
            if (!run.empty() &&
                static_cast<uint64_t>(each.first) - static_cast<uint64_t>(run.back().first) !=
                    step) {
                merge_run(run, made);
                run.clear();
            }
            run.push_back(each);
        }
        merge_run(run, made);
        if (made.instead > 0) out_.push_back(std::move(made));
    }

    std::vector<NarrowAccess>& out_;
    std::vector<Group> groups_;
    std::map<Key, int> of_key_;
    std::map<Register, std::vector<int>> users_;
};

// Accesses before and after it cannot be one.
bool orders_memory(const Instruction& instruction) {
    const Class of = classify(instruction.opcode).of;
    return of == Class::barrier || of == Class::mbarrier ||
           base_name(instruction.opcode) == "DEPBAR";
}

bool waits_for_all(const Instruction& instruction) {
    return instruction.opcode.starts_with("WARPGROUP.DEPBAR") && instruction.operands.ends_with("0x0");
}

}  // namespace

std::vector<NarrowAccess> narrow_accesses(const Function& function, const Graph& graph) {
    std::vector<NarrowAccess> out;
    Open open(out);
    for (const Block& block : graph.blocks) {
        for (int i = block.first; i < block.end; ++i) {
            const Instruction& each = function.instructions[i];
            if (can_be_wider(each))
                if (const auto address = address_of(each)) open.add(each, *address, i);
            if (orders_memory(each))
                open.close_all();
            else
                open.change(written_by(each));
        }
        open.close_all();
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
