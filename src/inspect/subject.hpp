// SPDX-License-Identifier: Apache-2.0
// What a command line names: [REV:]PATH[::KERNEL][@TARGET], a build of now or of a commit, or an
// asm_info.json; and the kernels of it that are meant.
#pragma once
#include <string>
#include <string_view>

#include "inspect/asm_info.hpp"
#include "inspect/facts.hpp"

namespace ww::inspect {

struct Subject {
    std::string revision;  // a git revision; empty: the files as they are
    std::string path;
    std::string kernel;  // a name, mangled or not, or a pattern of * and ?; empty: all
    std::string target;  // empty: all
};

Result<Subject> parse_subject(std::string_view text);

// Whether a kernel of these names is meant. files: its stem and target, "softmax_plain.sm_90a".
bool is_meant(const Subject& subject, std::string_view name, std::string_view demangled,
              std::string_view files, std::string_view target);

// Builds what the subject names with the request's other fields; asm_info.json is no build. The
// kernels that are not meant are left out; that none is left is a failure that names them all.
Result<AsmInfo> build(const Subject& subject, Request request);

// Builds or reads: asm_info.json too, and revisions.
Result<AsmFacts> facts_of(const Subject& subject, const Request& request);

}  // namespace ww::inspect
