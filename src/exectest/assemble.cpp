// SPDX-License-Identifier: Apache-2.0
// The check that ptxas accepts every test: one module for each target, all its kernels in it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exectest/expand.hpp"
#include "exectest/run.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::exectest {
namespace {

struct Member {
    const TestFile* test;
    Expanded expanded;
};

struct Batch {
    std::string ptx;
    std::vector<Member> members;
};

void append(Batch& batch, const TestFile& test) {
    Member member{&test, expand(test)};
    int lines = static_cast<int>(std::count(batch.ptx.begin(), batch.ptx.end(), '\n'));
    int header = lines - (member.expanded.module_line - 1);
    member.expanded.module_line += header;
    member.expanded.body_line += header;
    batch.ptx += member.expanded.module + member.expanded.entry;
    batch.members.push_back(std::move(member));
}

Diagnostic in_its_test(Diagnostic diagnostic, const Batch& batch) {
    for (const Member& member : batch.members) {
        Diagnostic moved = relocate(diagnostic, *member.test, member.expanded);
        if (moved.file != diagnostic.file) return moved;
    }
    return diagnostic;
}

}  // namespace

bool too_new_for_assembler(const Diagnostics& errors) {
    return std::any_of(errors.begin(), errors.end(), [](const Diagnostic& error) {
        return error.message.find("Unsupported .version") != std::string::npos ||
               error.message.find("not defined for option 'gpu-name'") != std::string::npos;
    });
}

Result<Assembly> assemble_tests(const std::vector<TestFile>& tests) {
    std::map<std::pair<std::string, std::string>, Batch> batches;
    for (const TestFile& test : tests) {
        Batch& batch = batches[{test.target, test.version}];
        if (batch.ptx.empty()) batch.ptx = ptx_header(test.version, test.target);
        append(batch, test);
    }
    Diagnostics errors;
    Assembly done;
    for (const auto& [key, batch] : batches) {
        std::string name = fmt::format("instruction tests for {}", key.first);
        // Only acceptance matters here, so the assembler need not optimise.
        auto assembled = toolchain::assemble(batch.ptx, key.first, name, {{"-O1"}, false});
        const bool too_new = !assembled && too_new_for_assembler(assembled.error());
        (too_new ? done.too_new : done.assembled) += batch.members.size();
        if (assembled || too_new) continue;
        for (const Diagnostic& diagnostic : assembled.error())
            errors.push_back(in_its_test(diagnostic, batch));
    }
    if (!errors.empty()) return fail(errors);
    return done;
}

}  // namespace ww::exectest
