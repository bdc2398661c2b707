// SPDX-License-Identifier: Apache-2.0
// Small text helpers: splitting, trimming, spelling suggestions, glob patterns.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ww {

std::string_view trim(std::string_view text);
// Pieces between separators, empty ones kept.
std::vector<std::string_view> split(std::string_view text, char separator);
// Pieces between runs of white space; none is empty.
std::vector<std::string_view> split_words(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
// Number of single-character edits between a and b; two neighbours that changed places are one.
int edit_distance(std::string_view a, std::string_view b);
// The candidate nearest to word, or "" when none is near enough to be meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
// The candidates, those that word was most likely meant for first.
std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> candidates);
// Shell-like pattern: * and ? only.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace ww
