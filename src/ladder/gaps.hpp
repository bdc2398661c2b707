// SPDX-License-Identifier: Apache-2.0
// Source lines that left no code where a statement seems to be missing. They are found by position
// only: what they hold (nothing, a comment, a statement that was compiled away) is not asked.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ladder/kernel_text.hpp"
#include "ladder/report.hpp"

namespace ww::ladder {

class Gaps {
  public:
    explicit Gaps(const KernelText& text) : text_(text) {}

    // From where the value was last defined to where it is stored.
    void between(const std::vector<SourceLines>& definitions, const SourceLines& store);
    // Next to a store and its calls, within their blocks.
    void around(const SourceLines& store);
    // Right before a line, within its block.
    void before(const device::SourceLine& line);

    std::vector<LineRange> take();

  private:
    struct Line {
        bool bounds = false;  // opens or closes a block
        bool plain = true;    // could hold a statement: no preprocessor line, no return
    };
    const std::vector<Line>& lines_of(const std::string& file);
    bool is_empty(const std::string& file, int line);
    // The next few lines from first on in steps of 1 or -1, up to the end of the block.
    void run(const std::string& file, int first, int step);

    const KernelText& text_;
    std::map<std::string, std::vector<Line>> files_;
    std::map<std::string, std::set<int>> found_;
};

}  // namespace ww::ladder
