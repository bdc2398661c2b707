// SPDX-License-Identifier: Apache-2.0
// ptx_files FILE.ptx...: each makes the round trip, and where ptxas is there, it takes the printed
// text as it takes the file; without line or debug information it makes the same cubin of both.
#include <cstdio>
#include <string>

#include "base/files.hpp"
#include "round_trip.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace {

using namespace ww;

Status assembles(const std::string& original, const ptx::RoundTrip& trip, const std::string& name) {
    const toolchain::AssembleOptions options{.line_info = false};
    const std::string& target = trip.module.targets.front();
    // A file that this ptxas is too old for says nothing about us.
    const auto expected = toolchain::assemble(original, target, name, options);
    if (!expected) {
        std::printf("%s: this ptxas does not take it\n", name.c_str());
        return ok();
    }
    WW_TRY(got, toolchain::assemble(trip.printed, target, name + " (printed)", options));
    const bool has_lines = original.find(".loc") != std::string::npos ||
                           original.find(".section") != std::string::npos;
    if (!has_lines && expected->cubin != got.cubin)
        return fail(Diagnostic{.file = name, .message = "the printed text assembles to another cubin"});
    return ok();
}

Status check(const std::string& path, bool with_ptxas) {
    WW_TRY(text, read_file(path));
    WW_TRY(trip, ptx::round_trip(text, path));
    std::printf("%s: %zu instructions, every one has a row\n", path.c_str(), trip.instructions);
    if (!with_ptxas) return ok();
    if (trip.module.targets.empty()) return fail(Diagnostic{.file = path, .message = "no .target"});
    return assembles(text, trip, path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: ptx_files FILE.ptx...\n");
        return 2;
    }
    const bool with_ptxas =
        toolchain::find_part("ptxas").origin != toolchain::Origin::missing;
    bool good = true;
    for (int i = 1; i < argc; ++i) {
        const Status status = check(argv[i], with_ptxas);
        if (status) continue;
        std::printf("%s\n", format(status.error()).c_str());
        good = false;
    }
    return good ? 0 : 1;
}
