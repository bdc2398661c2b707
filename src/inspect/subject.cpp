// SPDX-License-Identifier: Apache-2.0
#include "inspect/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"
#include "toolchain/process.hpp"

namespace ww::inspect {
namespace {

namespace fs = std::filesystem;

// The names are all that a person may have seen: "_Z3fooPf", "foo(float*)", "foo", "stem".
bool matches(std::string_view pattern, std::string_view name) {
    return pattern == name || glob_match(pattern, name);
}

Failure none_is_meant(const Subject& subject, const std::set<std::string>& names) {
    std::vector<std::string> all(names.begin(), names.end());
    all = nearest_first(subject.kernel, std::move(all));
    return fail(Diagnostic{.file = subject.path,
                           .message = fmt::format("no kernel{}{}{}; there are: {}",
                                                  subject.kernel.empty() ? "" : " is called ", subject.kernel,
                                                  subject.target.empty() ? std::string() : fmt::format(" for {}", subject.target),
                                                  join(all, ", "))});
}

// Drops the kernels that are not meant from info or facts, and fails when none is left.
template <class Kernels, class FilesOf>
Status keep_meant(const Subject& subject, Kernels& kernels, FilesOf files_of) {
    std::set<std::string> names;
    Kernels kept;
    for (auto& kernel : kernels) {
        names.insert(fmt::format("{} ({})", kernel.demangled, kernel.target));
        if (is_meant(subject, kernel.name, kernel.demangled, files_of(kernel), kernel.target))
            kept.push_back(std::move(kernel));
    }
    if (kept.empty()) return none_is_meant(subject, names);
    kernels = std::move(kept);
    return ok();
}

Result<std::string> git(const std::vector<std::string>& words, const std::string& what) {
    toolchain::Command command{.argv = {"git"}};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    WW_TRY(done, toolchain::run_process(command));
    if (done.exit_code != 0) return fail(fmt::format("{}: {}", what, trim(done.err)));
    return std::string(trim(done.out));
}

// The files of a revision, in a folder; and the subject's path within.
Result<fs::path> check_out(const Subject& subject, const fs::path& folder) {
    const std::string what = fmt::format("{}:{}", subject.revision, subject.path);
    WW_TRY(commit, git({"rev-parse", "--verify", "--quiet", "--end-of-options", subject.revision + "^{commit}"},
                       fmt::format("{}: no revision '{}' here", what, subject.revision)));
    WW_TRY(root, git({"rev-parse", "--show-toplevel"}, what));
    const std::string archive = (folder / "tree.tar").string();
    WW_TRY(made, git({"-C", root, "archive", "--format=tar", "-o", archive, commit}, what));
    (void)made;
    const fs::path tree = folder / "tree";
    fs::create_directory(tree);
    WW_TRY(unpacked, toolchain::run_process({.argv = {"tar", "-xf", archive, "-C", tree.string()}}));
    if (unpacked.exit_code != 0) return fail(fmt::format("{}: tar: {}", what, trim(unpacked.err)));
    std::error_code code;
    const fs::path relative = fs::relative(fs::absolute(subject.path), root, code);
    if (code || relative.empty() || *relative.begin() == "..")
        return fail(fmt::format("{}: the path is not below {}", what, root));
    if (!fs::exists(tree / relative, code))
        return fail(fmt::format("{}: {} is not in that revision", what, relative.string()));
    return tree / relative;
}

}  // namespace

Result<Subject> parse_subject(std::string_view text) {
    Subject out;
    if (const size_t at = text.rfind('@'); at != std::string_view::npos && text.substr(at + 1).starts_with("sm_")) {
        out.target = text.substr(at + 1);
        text = text.substr(0, at);
        WW_TRY(target, parse_target(out.target));
        (void)target;
    }
    if (const size_t at = text.find("::"); at != std::string_view::npos) {
        out.kernel = text.substr(at + 2);
        text = text.substr(0, at);
        if (out.kernel.empty()) return fail(fmt::format("{}:: names no kernel", text));
    }
    std::error_code code;
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos && !fs::exists(fs::path(text), code)) {
        out.revision = text.substr(0, colon);
        text = text.substr(colon + 1);
    }
    out.path = text;
    if (out.path.empty()) return fail("a path is missing: [REV:]PATH[::KERNEL][@TARGET]");
    return out;
}

bool is_meant(const Subject& subject, std::string_view name, std::string_view demangled,
              std::string_view files, std::string_view target) {
    if (!subject.target.empty() && subject.target != target) return false;
    if (subject.kernel.empty()) return true;
    const std::string_view stem = files.substr(0, files.rfind('.'));
    const std::string_view plain = demangled.substr(0, demangled.find_first_of("(<"));
    return matches(subject.kernel, name) || matches(subject.kernel, demangled) || matches(subject.kernel, files) ||
           matches(subject.kernel, stem) || matches(subject.kernel, plain.substr(plain.rfind(' ') + 1));
}

Result<AsmInfo> build(const Subject& subject, Request request) {
    request.path = subject.path;
    if (!subject.target.empty() && request.path.extension() != ".cubin") request.targets = {subject.target};
    std::optional<toolchain::TemporaryFolder> folder;
    if (!subject.revision.empty()) {
        WW_TRY(made, toolchain::TemporaryFolder::make());
        folder.emplace(std::move(made));
        WW_TRY(path, check_out(subject, folder->path()));
        request.path = path;
    }
    WW_TRY(info, asm_info(request));
    WW_TRY(kept, keep_meant(subject, info.kernels, [](const KernelInfo& kernel) {
               return kernel.image->stem + "." + kernel.image->target;
           }));
    (void)kept;
    return std::move(info);
}

Result<AsmFacts> facts_of(const Subject& subject, const Request& request) {
    if (!subject.path.ends_with(".json")) {
        WW_TRY(info, build(subject, request));
        return read_facts(to_json(info), subject.path);
    }
    if (!subject.revision.empty())
        return fail(fmt::format("{}:{}: a revision of an asm_info.json is not built; check it out", subject.revision,
                                subject.path));
    WW_TRY(text, read_file(subject.path));
    WW_TRY(facts, read_facts(text, subject.path));
    WW_TRY(kept, keep_meant(subject, facts.kernels, [](const KernelFacts& kernel) { return kernel.files; }));
    (void)kept;
    return std::move(facts);
}

}  // namespace ww::inspect
