// SPDX-License-Identifier: Apache-2.0
#include "port/suggest.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace ww::port {
namespace {

constexpr size_t kMaxWord = 64;    // longer words are not compared: edit distance is quadratic
constexpr size_t kMaxKnown = 256;  // nor longer lists
constexpr size_t kMaxListed = 24;

}  // namespace

std::string shown(std::string_view word) {
    if (word.size() <= kMaxWord) return std::string(word);
    return std::string(word.substr(0, kMaxWord)) + "...";
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
    if (known.empty()) return "; there are none";
    std::vector<std::string> candidates;
    for (const std::string& each : known.first(std::min(known.size(), kMaxKnown)))
        if (each.size() <= kMaxWord) candidates.push_back(each);
    const std::string near = word.size() <= kMaxWord ? nearest(word, candidates) : "";
    // Short names are all near each other: one that shares nothing was not meant.
    const auto longer = static_cast<int>(std::max(word.size(), near.size()));
    if (!near.empty() && edit_distance(word, near) < longer)
        return "; did you mean '" + near + "'?";
    const size_t listed = std::min(candidates.size(), kMaxListed);
    return "; there are " + join(std::span<const std::string>(candidates).first(listed), ", ") +
           (listed < known.size() ? ", ..." : "");
}

}  // namespace ww::port
