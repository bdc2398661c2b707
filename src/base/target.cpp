// SPDX-License-Identifier: Apache-2.0
#include "base/target.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww {

std::string Target::arch() const {
    return suffix ? fmt::format("{}{}", sm, suffix) : fmt::format("{}", sm);
}

std::string Target::text() const { return fmt::format("sm_{}", arch()); }

bool Target::is_within(int device_sm) const {
    return device_sm >= sm && (suffix == 0 || device_sm / 10 == sm / 10);
}

Result<Target> parse_target(std::string_view text) {
    constexpr std::string_view kPrefix = "sm_";
    const bool prefixed = text.starts_with(kPrefix);
    const std::string_view arch = prefixed ? text.substr(kPrefix.size()) : text;
    const size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
    const std::string_view suffix = arch.substr(digits);
    if (!prefixed || digits < 2 || digits > 3 ||
        !(suffix.empty() || suffix == "a" || suffix == "f"))
        return fail(
            fmt::format("'{}' is no compile target: write it as sm_90, sm_90a or sm_120a", text));
    Target target;
    for (const char digit : arch.substr(0, digits)) target.sm = target.sm * 10 + (digit - '0');
    if (!suffix.empty()) target.suffix = suffix.front();
    return target;
}

}  // namespace ww
