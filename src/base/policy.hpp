// SPDX-License-Identifier: Apache-2.0
// What the machine leaves open and a run has to choose: when an asynchronous operation completes,
// and in which order warps run. Every choice is reproducible from its text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ww {

// eager: as soon as it is issued. lazy: when something waits for it and nothing else can run, so
// that what reads too early sees old data. random: anywhere between, by the seed.
struct AsyncPolicy {
    enum class Kind : uint8_t { eager, lazy, random };
    Kind kind = Kind::eager;
    uint64_t seed = 0;
};

// fair: warp after warp, thousands of instructions each. random: any order, short turns.
struct SchedulePolicy {
    bool random = false;
    uint64_t seed = 0;
};

Result<AsyncPolicy> parse_async_policy(std::string_view text);        // eager, lazy, random:SEED
Result<SchedulePolicy> parse_schedule_policy(std::string_view text);  // fair, random:SEED
std::string policy_text(const AsyncPolicy& policy);
std::string policy_text(const SchedulePolicy& policy);

// splitmix64: a sequence that depends on its seed alone.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // 0 <= result < bound; bound is small, so the bias does not matter.
    uint64_t below(uint64_t bound) { return next() % bound; }

  private:
    uint64_t state_;
};

}  // namespace ww
