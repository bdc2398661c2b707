// SPDX-License-Identifier: Apache-2.0
#include "exectest/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "exectest/expand.hpp"
#include "ptx/module.hpp"

namespace ww::exectest {
namespace {

bool inside(int line, int first, const std::string& text) {
    return line >= first && line < first + std::count(text.begin(), text.end(), '\n');
}

}  // namespace

Result<std::vector<RowCoverage>> row_coverage(const std::vector<TestFile>& tests) {
    std::vector<RowCoverage> coverage;
    std::unordered_map<const isa::Row*, size_t> index;
    for (const isa::Row& row : isa::rows()) {
        index.emplace(&row, coverage.size());
        coverage.push_back({&row, {}});
    }
    for (const TestFile& test : tests) {
        const Expanded expanded = expand(test);
        const auto module = ptx::parse(expanded.ptx, test.path.string());
        if (!module) {
            Diagnostics errors = module.error();
            for (Diagnostic& error : errors) error = relocate(error, test, expanded);
            return fail(std::move(errors));
        }
        for (const ptx::Function& function : module->functions)
            for (const ptx::Instruction& instruction : function.instructions) {
                const int line = instruction.place.line;
                if (!instruction.row || (!inside(line, expanded.body_line, test.body) &&
                                         !inside(line, expanded.module_line, test.module_text)))
                    continue;
                std::vector<std::string>& names = coverage[index.at(instruction.row)].tests;
                if (names.empty() || names.back() != test.name) names.push_back(test.name);
            }
    }
    return coverage;
}

std::vector<std::string> check_untested(const std::vector<RowCoverage>& coverage,
                                        std::span<const isa::UntestedRow> untested) {
    std::vector<std::string> wrong;
    for (const RowCoverage& entry : coverage) {
        if (!entry.row->bind || !entry.tests.empty()) continue;
        if (std::none_of(untested.begin(), untested.end(), [&](const isa::UntestedRow& u) { return u.names(*entry.row); }))
            wrong.push_back(fmt::format("no test executes '{}' ({}) {}", entry.row->syntax, entry.row->chapter, entry.row->sets));
    }
    for (const isa::UntestedRow& listed : untested) {
        const auto found = std::find_if(coverage.begin(), coverage.end(),
                                        [&](const RowCoverage& entry) { return listed.names(*entry.row); });
        if (found == coverage.end())
            wrong.push_back(fmt::format("listed as untested, but no row: '{}'", listed.syntax));
        else if (!found->row->bind)
            wrong.push_back(fmt::format("listed as untested, but without semantics: '{}'", listed.syntax));
        else if (!found->tests.empty())
            wrong.push_back(fmt::format("listed as untested, but {} executes it: '{}'", found->tests.front(), listed.syntax));
    }
    return wrong;
}

}  // namespace ww::exectest
