// SPDX-License-Identifier: Apache-2.0
// Which loop of one build is which of another. Loops have no names, and their lines move when the
// source is edited; what they execute changes least. Siblings keep their order, so that each level
// of the tree is a sequence alignment; the loops of a pair are then aligned among themselves.
#include <algorithm>
#include <set>

#include "inspect/diff.hpp"

namespace ww::inspect {
namespace {

constexpr double kLeast = 0.3;       // less alike than this: one loop went, another came
constexpr double kLineWeight = 0.2;  // of the lines in the likeness; the rest are the instructions

// Twice what two bags share over what they hold: 1 for equal ones.
double class_likeness(const ClassCounts& a, const ClassCounts& b) {
    int64_t shared = 0;
    for (const auto& [name, count] : a.classes)
        if (const auto other = b.classes.find(name); other != b.classes.end())
            shared += std::min(count, other->second);
    return a.total + b.total > 0 ? 2.0 * static_cast<double>(shared) / static_cast<double>(a.total + b.total) : 1;
}

double likeness(const LoopFacts& a, const LoopFacts& b) {
    const double classes = class_likeness(a.all, b.all);
    if (a.lines.empty() || b.lines.empty()) return classes;
    const std::set<std::string> lines(a.lines.begin(), a.lines.end());
    const auto shared = std::count_if(b.lines.begin(), b.lines.end(),
                                      [&](const std::string& line) { return lines.count(line) > 0; });
    const double same = 2.0 * static_cast<double>(shared) / static_cast<double>(a.lines.size() + b.lines.size());
    return (1 - kLineWeight) * classes + kLineWeight * same;
}

class Aligner {
  public:
    Aligner(const std::vector<LoopFacts>& before, const std::vector<LoopFacts>& after)
        : before_(before), after_(after) {}

    // The loops directly within the loops a and b (-1: the kernels), and all within those.
    void align(int a, int b) {
        const std::vector<int> left = a < -1 ? std::vector<int>() : within(before_, a);
        const std::vector<int> right = b < -1 ? std::vector<int>() : within(after_, b);
        for (const auto& [x, y] : pairs_of(left, right)) {
            out.emplace_back(x, y);
            align(x < 0 ? kNowhere : x, y < 0 ? kNowhere : y);
        }
    }

    std::vector<std::pair<int, int>> out;

  private:
    static constexpr int kNowhere = -2;

    static std::vector<int> within(const std::vector<LoopFacts>& loops, int parent) {
        std::vector<int> out;
        for (size_t i = 0; i < loops.size(); ++i)
            if (loops[i].parent == parent) out.push_back(static_cast<int>(i));
        return out;
    }

    // Needleman-Wunsch without a price for gaps: the order-keeping pairs of most likeness.
    std::vector<std::pair<int, int>> pairs_of(const std::vector<int>& left, const std::vector<int>& right) const {
        const size_t n = left.size(), m = right.size();
        std::vector<std::vector<double>> best(n + 1, std::vector<double>(m + 1, 0)), alike = best;
        for (size_t i = n; i-- > 0;)
            for (size_t j = m; j-- > 0;) {
                alike[i][j] = likeness(before_[left[i]], after_[right[j]]);
                best[i][j] = std::max(best[i + 1][j], best[i][j + 1]);
                if (alike[i][j] >= kLeast) best[i][j] = std::max(best[i][j], alike[i][j] + best[i + 1][j + 1]);
            }
        std::vector<std::pair<int, int>> out;
        size_t i = 0, j = 0;
        while (i < n || j < m) {
            if (i < n && j < m && alike[i][j] >= kLeast && best[i][j] == alike[i][j] + best[i + 1][j + 1])
                out.emplace_back(left[i++], right[j++]);
            else if (j == m || (i < n && best[i][j] == best[i + 1][j]))
                out.emplace_back(left[i++], -1);
            else
                out.emplace_back(-1, right[j++]);
        }
        return out;
    }

    const std::vector<LoopFacts>&before_, &after_;
};

}  // namespace

std::vector<std::pair<int, int>> align_loops(const std::vector<LoopFacts>& before,
                                             const std::vector<LoopFacts>& after) {
    Aligner aligner(before, after);
    aligner.align(-1, -1);
    return std::move(aligner.out);
}

}  // namespace ww::inspect
