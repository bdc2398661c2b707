// SPDX-License-Identifier: Apache-2.0
// What a bind finds out once about an instruction and Inst::aux then points to: one for all
// instructions that were written alike, for as long as the program runs.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "isa/row.hpp"

namespace ww::isa {

// more: what the plan depends on besides the row, its choices and the target.
template <class Plan>
uint64_t kept_plan(const Match& match, const Plan& plan, const std::string& more = {}) {
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<const Plan>> plans;
    std::string key = std::string(match.row->syntax) + std::to_string(match.target_sm) + "," + more;
    for (const Choice& choice : match.choices) key += choice.second;
    const std::lock_guard lock(mutex);
    std::unique_ptr<const Plan>& kept = plans[key];
    if (!kept) kept = std::make_unique<const Plan>(plan);
    return reinterpret_cast<uint64_t>(kept.get());
}

}  // namespace ww::isa
