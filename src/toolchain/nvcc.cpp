// SPDX-License-Identifier: Apache-2.0
// CUDA C++ with host code -> PTX by nvcc. What it includes of the host's headers is not tracked, so
// that nothing is cached here; ptxas' work on the PTX is.
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/target.hpp"
#include "toolchain/compiler_messages.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::toolchain {

Result<Compiled> compile_ptx_nvcc(const CompileRequest& request) {
    WW_TRY(target, parse_target(request.target));
    WW_TRY(nvcc, need_part("nvcc"));
    WW_TRY(folder, TemporaryFolder::make());
    const std::string output = (folder.path() / "out.ptx").string();
    std::vector<std::string> options{"-ptx", "-arch=" + target.text()};
    if (request.line_info) options.push_back("-lineinfo");
    for (const auto& [name, value] : request.defines)
        options.push_back(value.empty() ? "-D" + name : "-D" + name + "=" + value);
    for (const std::filesystem::path& dir : request.include_dirs) options.push_back("-I" + dir.string());
    options.insert(options.end(), request.options.begin(), request.options.end());
    std::vector<std::string> argv{nvcc.path.string()};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"-o", output, request.name});
    WW_TRY(finished, run_process({.argv = argv, .timeout = std::chrono::minutes(10)}));
    const std::string log = finished.out + finished.err;
    if (finished.exit_code != 0) {
        Diagnostics messages = parse_nvrtc_log(log);
        if (!has_error(messages))
            messages.push_back({.file = request.name,
                                .message = fmt::format("nvcc failed with exit code {}", finished.exit_code)});
        return fail(std::move(messages));
    }
    WW_TRY(ptx, read_file(output));
    return Compiled{.ptx = std::move(ptx), .log = log, .options = std::move(options)};
}

}  // namespace ww::toolchain
