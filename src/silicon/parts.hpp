// SPDX-License-Identifier: Apache-2.0
// What the processes of `warpwright silicon` tell each other: each part's JSON document, written
// where it ran and read where the report is made.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "silicon/report.hpp"

namespace ww::exectest {
struct RunReport;
}

namespace ww::silicon {

std::string sums_document(const std::vector<Outputs>& measured);
std::string times_document(const ladder::TimesReport& times);
std::string tests_document(const exectest::RunReport& tests);

Result<SumsReport> read_sums(const std::string& text);
Result<ladder::TimesReport> read_times(const std::string& text);
Result<std::vector<TestOutcome>> read_tests(const std::string& text);
// Of `warpwright check --json`, into the case's fields.
Status read_check(const std::string& text, LadderCase& into);
// Of `warpwright fidelity --json`.
Status read_fidelity(const std::string& text, Fidelity& into);

}  // namespace ww::silicon
