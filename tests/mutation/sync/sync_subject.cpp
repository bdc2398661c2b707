// SPDX-License-Identifier: Apache-2.0
// Runs PTX in place of a kernel of ours, as `check` does at its default level: `sync_subject NAME FILE`
// exits with 1 where a race, a deadlock or a wrong result is found, and says which. `sync_subject NAME`
// prints the kernel's own PTX, and `sync_subject` all names with
// the kernels' own.
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "hopper_problem.hpp"
#include "ladder/check.hpp"
#include "port/reader.hpp"
#include "references.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"
#include "toolchain/toolchain.hpp"

namespace {

using namespace ww;
namespace fs = std::filesystem;

constexpr uint64_t kBudget = 5'000'000;  // warp instructions of a launch

struct Subject {
    std::string_view name, entry, port, implementation, stage;
    std::string_view cases;  // globs, a space between
    std::string_view compiled_for;  // the case whose kernel it is
    const hopper::Kernel* gemm = nullptr;
};
constexpr Subject kSubjects[] = {
    {"softmax_cp_async", "softmax_cp_async", "softmax", "cp_async", "softmax", "long_row*", "long_row"},
    {"softmax_bulk", "softmax_bulk", "softmax", "bulk", "softmax", "long_row*", "long_row"},
    {"sage3_attention_d64", "sage3_attention", "sage3", "fp4", "attention", "ring", "ring"},
    {"sage3_attention_d128", "sage3_attention", "sage3", "fp4", "attention", "ring_128", "ring_128"},
    {"sage3_mean", "sage3_mean", "sage3", "fp4", "mean_k", "gqa_9_3", "gqa_9_3"},
    {"sage3_key_bias", "sage3_key_bias", "sage3", "fp4", "key_bias", "gqa_9_3", "gqa_9_3"},
    {"hopper_means", "hopper_means", "sage3_hopper", "int8", "means", "*window*128", "packed_window_128"},
    {"hopper_quantize", "hopper_quantize", "sage3_hopper", "int8", "quantize", "gqa_9_3", "gqa_9_3"},
    {"sage3_hopper_d64", "hopper_attention", "sage3_hopper", "int8", "attention", "packed ring 135_heads", "ring"},
    {"sage3_hopper_d128", "hopper_attention", "sage3_hopper", "int8", "attention", "packed_128 ring_128", "ring_128"},
    {"sage3_hopper_d256", "hopper_attention", "sage3_hopper", "int8", "attention", "packed_d136 ring_256", "ring_256"},
    {"sage3_hopper_mask", "hopper_attention", "sage3_hopper", "int8", "attention", "mask_no_keys mask_bytes_causal_128", "mask_bytes_causal_128"},
    {"sage3_exact_d64", "exact_attention", "sage3_exact", "exact", "attention", "ring", "ring"},
    {"hopper_gemm", "", "", "", "", "", "", &hopper::kRing},
    {"hopper_cluster_gemm", "", "", "", "", "", "", &hopper::kCluster},
};

int report(const Diagnostics& problems) {
    fmt::print(stderr, "{}\n", format(problems));
    return 2;
}

fs::path folder_of(const Subject& subject) { return fs::path(WW_SOURCE_DIR) / "kernels" / subject.port; }

// ---- kernels of ports ----
// Plans are plain functions: they can hold nothing.
const Subject* subject_now = nullptr;
fs::path ptx_now;
std::vector<std::pair<std::string, std::string>> defines_now;
bool planned_now = false;  // some case ran the PTX

Result<port::KernelImpl> plan_of(const Subject& subject, const port::Scope& scope, std::string_view stage) {
    if (subject.port == "sage3_hopper") return kernels::hopper_plan(scope, stage);
    return subject.port == "sage3_exact" ? kernels::exact_plan(scope, stage) : kernels::sage3_plan(scope, stage);
}

Result<port::KernelImpl> planned(const port::Scope& scope, std::string_view stage) {
    WW_TRY(made, plan_of(*subject_now, scope, stage));
    WW_TRY(defines, port::defines_of(made, scope));
    if (stage != subject_now->stage || defines != defines_now) return std::move(made);
    planned_now = true;
    made.kind = port::KernelImpl::Source::ptx;
    made.source = made.taps_source = ptx_now;
    made.tap_args.clear();
    return std::move(made);
}

// As it is compiled for the subject's case; defines_now from there on.
Result<port::KernelImpl> kernel_of(const Subject& subject) {
    WW_TRY(port, port::load_port(folder_of(subject)));
    const port::Case* found = port.find_case(subject.compiled_for);
    WW_CHECK(found != nullptr, std::string(subject.name));
    WW_TRY(scope, port::scope_of(port, *found));
    port::KernelImpl kernel = std::get<port::KernelImpl>(port.implementation(subject.implementation)->stages.find(subject.stage)->second.value);
    if (!kernel.plan.empty()) {
        WW_TRY(made, plan_of(subject, scope, subject.stage));
        kernel = std::move(made);
    }
    WW_TRY(defines, port::defines_of(kernel, scope));
    defines_now = defines;
    if (kernel.source.is_relative()) kernel.source = folder_of(subject) / kernel.source;
    if (kernel.target.empty()) kernel.target = port.target;
    return kernel;
}

// port.toml with the PTX in place of the subject's source, in a folder of its own; without taps.
Status plant(const Subject& subject, const port::KernelImpl& kernel, const fs::path& folder) {
    WW_TRY(text, read_file(folder_of(subject) / "port.toml"));
    const size_t begin = text.find(fmt::format("[implementations.{}.{}]", subject.implementation, subject.stage));
    const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = text.find(from, begin);
        WW_CHECK(begin != std::string::npos && at != std::string::npos, from);
        text.replace(at, from.size(), to);
    };
    if (subject.port == "softmax") {  // not by a plan
        replace("source = \"" + kernel.source.filename().string() + "\"", "source = \"" + ptx_now.string() + "\"");
        replace("options = [\"--fmad=false\"]\n", "");
        replace("taps = { define = \"WW_TAPS\"", "# ");
    }
    return write_file(folder / "port.toml", text);
}

// What port.toml names beside itself and above.
Status link_files(const Subject& subject, const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder, code);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(subject), code))
        if (entry.path().filename() != "port.toml") fs::create_symlink(entry.path(), folder / entry.path().filename(), code);
    fs::create_symlink(folder_of(subject).parent_path() / "common", folder.parent_path() / "common", code);
    fs::create_directory_symlink(fs::path(WW_SOURCE_DIR) / "tests", folder.parent_path().parent_path() / "tests", code);
    return code ? fail("cannot make links in " + folder.string() + ": " + code.message()) : ok();
}

int check_cases(const Subject& subject, const fs::path& port, std::string_view cases) {
    ladder::CheckOptions options{.port = port,
                                 .implementation = std::string(subject.implementation),
                                 .case_glob = std::string(cases),
                                 .rung_glob = fmt::format("stage/{}/{}/*", subject.implementation, subject.stage),
                                 .libraries = kernels::references(),
                                 .plans = {{"sage3_plan", planned}, {"hopper_plan", planned}, {"exact_plan", planned}}};
    options.open_device = [](const std::string& target, uint32_t) -> Result<std::unique_ptr<device::Device>> {
        device::EmulatorOptions emulator{.threads = 1, .instruction_budget = kBudget, .async = {AsyncPolicy::Kind::lazy}};
        if (!target.empty()) emulator.target = target;
        return device::open_emulated(emulator);
    };
    planned_now = subject.port == "softmax";  // which has no plan
    const auto checked = ladder::check(options);
    if (!checked) return report(checked.error());
    if (!planned_now) {
        fmt::print(stderr, "no case of '{}' runs the kernel of '{}'\n", cases, subject.compiled_for);
        return 2;
    }
    for (const ladder::Rung& rung : checked->rungs) {
        for (const device::RaceRecord& race : rung.races) fmt::print("{}\n", format({race_diagnostic(race)}));
        if (rung.failure) fmt::print("{}: {}: {}\n{}\n", rung.name, name(rung.failure->kind), rung.failure->message, format(rung.failure->diagnostics));
    }
    if (!checked->pass) fmt::print("{}\n", checked->reason);
    return checked->exit_code();
}

// Until something is found.
int check_port(const Subject& subject) {
    const auto kernel = kernel_of(subject);
    if (!kernel) return report(kernel.error());
    const auto folder = toolchain::TemporaryFolder::make();
    if (!folder) return report(folder.error());
    const fs::path copy = folder->path() / "kernels" / subject.port;
    if (const auto linked = link_files(subject, copy); !linked) return report(linked.error());
    if (const auto planted = plant(subject, *kernel, copy); !planted) return report(planted.error());
    for (const std::string_view cases : split_words(subject.cases))
        if (const int code = check_cases(subject, copy, cases); code != 0) return code;
    return 0;
}

Result<std::string> ptx_of(const Subject& subject) {
    toolchain::CompileRequest request;
    if (subject.gemm) {
        request.name = std::string(WW_SOURCE_DIR "/tests/emulator/real/") + subject.gemm->file;
        request.include_dirs = toolchain::cuda_include_dirs();
    } else {
        WW_TRY(kernel, kernel_of(subject));
        request.name = kernel.source.string();
        request.options = kernel.options;
        request.defines = defines_now;
        request.include_dirs = kernel.include;
        if (!kernel.target.empty()) request.target = kernel.target;
    }
    WW_TRY(source, read_file(request.name));
    request.source = std::move(source);
    WW_TRY(made, toolchain::compile_ptx(request));
    return made.ptx;
}

// ---- matrix products ----
int check_gemm(const Subject& subject) {
    const auto ptx = read_file(ptx_now);
    if (!ptx) return report(ptx.error());
    const hopper::Problem problem = hopper::problem();
    const auto device = device::open_emulated({.threads = 1, .instruction_budget = kBudget, .async = {AsyncPolicy::Kind::lazy}});
    device->check_races(RaceLevel::warning);
    const auto out = hopper::run(*device, *subject.gemm, *ptx, problem);
    bool failed = !out;
    for (const device::RaceRecord& race : device->take_races()) {
        failed |= race.level == RaceLevel::error;
        fmt::print("{}\n", format({race_diagnostic(race)}));
    }
    if (!out) fmt::print("stopped: {}\n", format(out.error()));
    if (out && *out != problem.expected) fmt::print("wrong: C is not the product\n");
    return failed || *out != problem.expected ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (const auto compiler = toolchain::need_part("nvrtc"); argc == 2 && !compiler) {
        fmt::print(stderr, "{}\n", format(compiler.error()));
        return 77;
    }
    for (const Subject& subject : kSubjects) {
        if (argc == 1) fmt::print("{} {}\n", subject.name, subject.gemm ? subject.gemm->entry : subject.entry);
        if (subject.name != wanted) continue;
        subject_now = &subject;
        if (argc == 2) {
            const auto ptx = ptx_of(subject);
            if (!ptx) return report(ptx.error());
            fmt::print("{}", *ptx);
            return 0;
        }
        ptx_now = fs::absolute(argv[2]);
        return subject.gemm ? check_gemm(subject) : check_port(subject);
    }
    if (argc == 1) return 0;
    fmt::print(stderr, "no subject is called '{}'\n", wanted);
    return 2;
}
