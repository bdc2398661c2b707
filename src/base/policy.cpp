// SPDX-License-Identifier: Apache-2.0
#include "base/policy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace ww {
namespace {

constexpr std::string_view kRandom = "random:";

std::optional<uint64_t> seed_of(std::string_view text) {
    if (!text.starts_with(kRandom)) return std::nullopt;
    text.remove_prefix(kRandom.size());
    uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return seed;
}

}  // namespace

Result<AsyncPolicy> parse_async_policy(std::string_view text) {
    if (text == "eager") return AsyncPolicy{};
    if (text == "lazy") return AsyncPolicy{.kind = AsyncPolicy::Kind::lazy};
    if (const auto seed = seed_of(text))
        return AsyncPolicy{.kind = AsyncPolicy::Kind::random, .seed = *seed};
    return fail(fmt::format(
        "'{}' is no completion policy: eager, lazy or random:SEED with a 64-bit number", text));
}

Result<SchedulePolicy> parse_schedule_policy(std::string_view text) {
    if (text == "fair") return SchedulePolicy{};
    if (const auto seed = seed_of(text)) return SchedulePolicy{.random = true, .seed = *seed};
    return fail(
        fmt::format("'{}' is no schedule: fair or random:SEED with a 64-bit number", text));
}

std::string policy_text(const AsyncPolicy& policy) {
    switch (policy.kind) {
        case AsyncPolicy::Kind::eager:
            return "eager";
        case AsyncPolicy::Kind::lazy:
            return "lazy";
        case AsyncPolicy::Kind::random:
            break;
    }
    return fmt::format("{}{}", kRandom, policy.seed);
}

std::string policy_text(const SchedulePolicy& policy) {
    return policy.random ? fmt::format("{}{}", kRandom, policy.seed) : "fair";
}

}  // namespace ww
