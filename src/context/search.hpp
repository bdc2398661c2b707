// SPDX-License-Identifier: Apache-2.0
// Finds a pattern in the context: file, line and enclosing function, what defines a name first.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "context/sources.hpp"

namespace ww::context {

struct Match {
    std::string file;  // below context/
    int line = 0;
    std::string function;  // the enclosing one; empty: none
    std::string text;      // the line
    int score = 0;
};

struct SearchRequest {
    std::string pattern;  // POSIX extended regular expression
    bool ignore_case = false;
    size_t limit = 50;
};

struct SearchReport {
    std::vector<Match> matches;  // the best first, at most limit
    size_t found = 0;            // of all
    int files = 0;               // that were searched
    std::vector<Source> missing;  // sources that are not here
};

Result<SearchReport> search(const Context& context, const SearchRequest& request);

std::string to_text(const SearchReport& report);
std::string to_json(const SearchReport& report);

}  // namespace ww::context
