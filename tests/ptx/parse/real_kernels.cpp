// SPDX-License-Identifier: Apache-2.0
// ptx_real_kernels FILE.cu: compiles it for four targets, and for one with line and debug
// information; each PTX is read, every instruction has a row, and ptxas takes the printed text. It
// makes the same cubin of it, unless that holds the PTX's own line numbers.
#include <cstdio>
#include <string>

#include "base/files.hpp"
#include "round_trip.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace {

using namespace ww;

enum class Info { none, lines, debug };

struct Run {
    const char* target;
    Info info;
    const char* name;
};

constexpr Run kRuns[] = {{"sm_80", Info::none, "sm_80"},
                         {"sm_90a", Info::none, "sm_90a"},
                         {"sm_90a", Info::lines, "sm_90a with lines"},
                         {"sm_90a", Info::debug, "sm_90a for debugging"},
                         {"sm_100a", Info::none, "sm_100a"},
                         {"sm_120a", Info::none, "sm_120a"}};

Status assembles(const std::string& original, const std::string& printed, const Run& run) {
    const toolchain::AssembleOptions options{.line_info = false};
    WW_TRY(expected, toolchain::assemble(original, run.target, "kernel.ptx", options));
    WW_TRY(got, toolchain::assemble(printed, run.target, "kernel.ptx", options));
    if (run.info == Info::none && expected.cubin != got.cubin)
        return fail("the printed text assembles to another cubin");
    return ok();
}

Status check(const std::string& source, const std::string& path, const Run& run) {
    toolchain::CompileRequest request{
        .source = source, .name = path, .target = run.target, .line_info = run.info == Info::lines};
    request.include_dirs = toolchain::cuda_include_dirs();
    if (run.info == Info::debug) request.options = {"--device-debug"};
    WW_TRY(compiled, toolchain::compile_ptx(request));
    WW_TRY(trip, ptx::round_trip(compiled.ptx, run.name));
    std::printf("%s: %zu instructions, every one has a row\n", run.name, trip.instructions);
    return assembles(compiled.ptx, trip.printed, run);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: ptx_real_kernels FILE.cu\n");
        return 2;
    }
    for (const char* part : {"nvrtc", "headers", "ptxas"})
        if (toolchain::find_part(part).origin == toolchain::Origin::missing) {
            std::printf("skipped: %s is missing\n", part);
            return 77;
        }
    const auto source = read_file(argv[1]);
    if (!source) {
        std::fprintf(stderr, "%s\n", format(source.error()).c_str());
        return 2;
    }
    bool good = true;
    for (const Run& run : kRuns) {
        const auto status = check(*source, argv[1], run);
        if (status) continue;
        std::printf("%s: %s\n", run.name, format(status.error()).c_str());
        good = false;
    }
    return good ? 0 : 1;
}
