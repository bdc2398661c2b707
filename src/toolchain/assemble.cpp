// SPDX-License-Identifier: Apache-2.0
// PTX -> cubin by ptxas and cubin -> SASS text by nvdisasm, through the compile cache.
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"
#include "toolchain/cache.hpp"
#include "toolchain/compiler_messages.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::toolchain {
namespace {

Failure tool_failure(Diagnostics messages, const std::string& tool, const Finished& finished,
                     const std::string& name) {
    if (!has_error(messages))
        messages.push_back(
            {.file = name,
             .message =
                 finished.exit_code >= 128
                     ? fmt::format("{} was ended by signal {}", tool, finished.exit_code - 128)
                     : fmt::format("{} failed with exit code {}", tool, finished.exit_code)});
    return fail(std::move(messages));
}

}  // namespace

Result<Assembled> assemble(const std::string& ptx, const std::string& target,
                           const std::string& name, const AssembleOptions& options) {
    WW_TRY(checked, parse_target(target));
    (void)checked;
    WW_TRY(ptxas, need_part("ptxas"));
    std::vector<std::string> given{"-v", "-arch=" + target};
    if (options.line_info) given.push_back("--generate-line-info");
    given.insert(given.end(), options.options.begin(), options.options.end());
    CacheKey key("cubin");
    for (const std::string& option : given) key.add(option);
    key.add_file_identity(ptxas.path);
    key.add(ptx);
    if (auto blobs = cache_get(key); blobs && blobs->size() == 2)
        return Assembled{.cubin = (*blobs)[0], .log = (*blobs)[1], .options = given, .cached = true};

    WW_TRY(folder, TemporaryFolder::make());
    const std::filesystem::path input = folder.path() / "in.ptx",
                                output = folder.path() / "out.cubin";
    WW_TRY(written, write_file(input, ptx));
    (void)written;
    std::vector<std::string> argv{ptxas.path.string()};
    argv.insert(argv.end(), given.begin(), given.end());
    argv.insert(argv.end(), {input.string(), "-o", output.string()});
    WW_TRY(finished, run_process({.argv = argv, .timeout = std::chrono::minutes(10)}));
    const std::string log = finished.out + finished.err;
    if (finished.exit_code != 0)
        return tool_failure(parse_ptxas_log(log, name, ptx), "ptxas", finished, name);
    WW_TRY(cubin, read_file(output));
    cache_put(key, {cubin, log});
    return Assembled{.cubin = cubin, .log = log, .options = given};
}

Result<std::string> disassemble(const std::string& cubin, const std::string& name,
                                const std::vector<std::string>& options) {
    WW_TRY(nvdisasm, need_part("nvdisasm"));
    CacheKey key("sass");
    key.add_file_identity(nvdisasm.path);
    for (const std::string& option : options) key.add(option);
    key.add(cubin);
    if (auto blobs = cache_get(key); blobs && blobs->size() == 1) return (*blobs)[0];

    WW_TRY(folder, TemporaryFolder::make());
    const std::filesystem::path input = folder.path() / "in.cubin";
    WW_TRY(written, write_file(input, cubin));
    (void)written;
    std::vector<std::string> argv{nvdisasm.path.string()};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(input.string());
    WW_TRY(finished, run_process({.argv = argv, .timeout = std::chrono::minutes(5)}));
    if (finished.exit_code != 0) {
        Diagnostics messages;
        for (const std::string_view line : split(finished.err, '\n'))
            if (!trim(line).empty())
                messages.push_back(
                    {.severity = Severity::note, .file = name, .message = std::string(trim(line))});
        return tool_failure(std::move(messages), "nvdisasm", finished, name);
    }
    cache_put(key, {finished.out});
    return finished.out;
}

}  // namespace ww::toolchain
