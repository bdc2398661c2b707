// SPDX-License-Identifier: Apache-2.0
// CUDA C++ -> PTX by NVRTC, through the compile cache.
#include <fmt/format.h>

#include <algorithm>

#include "base/target.hpp"
#include "toolchain/cache.hpp"
#include "toolchain/compiler_messages.hpp"
#include "toolchain/found.hpp"
#include "toolchain/include_scan.hpp"
#include "toolchain/nvrtc.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::toolchain {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> compile_options(const CompileRequest& request, const std::string& arch,
                                         const std::vector<fs::path>& cuda_dirs) {
    std::vector<std::string> options{"--gpu-architecture=compute_" + arch};
    const auto given = [&](std::string_view prefix) {
        return std::any_of(request.options.begin(), request.options.end(),
                           [&](const std::string& option) { return option.starts_with(prefix); });
    };
    if (!given("-std") && !given("--std")) options.push_back("--std=c++20");
    if (request.line_info) options.push_back("--generate-line-info");
    for (const auto& [name, value] : request.defines)
        options.push_back(value.empty() ? "-D" + name : "-D" + name + "=" + value);
    for (const fs::path& dir : request.include_dirs) options.push_back("-I" + dir.string());
    for (const fs::path& dir : cuda_dirs) options.push_back("-I" + dir.string());
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
}

// A missing include folder is a warning to NVRTC; to us it is an error in the port.
Status check_include_dirs(const CompileRequest& request) {
    std::error_code code;
    for (const fs::path& dir : request.include_dirs)
        if (!fs::is_directory(dir, code))
            return fail(Diagnostic{.file = request.name,
                                   .message = "include folder does not exist: " + dir.string()});
    return ok();
}

fs::path source_folder(const CompileRequest& request) {
    return fs::path(request.name).parent_path();
}

void add_dependencies(CacheKey& key, const CompileRequest& request, const IncludeScan& scan,
                      const std::vector<std::string>& options,
                      const std::vector<fs::path>& cuda_dirs, const Found& nvrtc) {
    key.add(request.name);
    key.add(request.source);
    for (const std::string& option : options) key.add(option);
    key.add("headers");
    for (const auto& [path, text] : scan.headers) {
        key.add(path.string());
        key.add(text);
    }
    // The compiler's own headers belong to its version; a name found nowhere may turn up later.
    std::error_code code;
    for (const std::string& name : scan.external) {
        key.add(name);
        for (const fs::path& dir : cuda_dirs)
            if (fs::exists(dir / name, code)) {
                key.add_file_identity(dir / name);
                break;
            }
    }
    for (const fs::path& dir : cuda_dirs)
        if (fs::exists(dir / "cuda.h", code)) key.add_file_identity(dir / "cuda.h");
    key.add_file_identity(nvrtc.path);
}

std::string sized_text(const Nvrtc& api, Nvrtc::Program program,
                       int (*size_of)(Nvrtc::Program, size_t*), int (*get)(Nvrtc::Program, char*)) {
    size_t size = 0;
    if (size_of(program, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    const int error = get(program, text.data());
    WW_CHECK(error == 0, api.error_string(error));
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

// An option or target that NVRTC refuses is no fault of the source: those messages name no file.
Failure compile_failure(const CompileRequest& request, const Nvrtc& api, int error,
                        const std::string& log) {
    constexpr int kInvalidOption = 5;  // NVRTC_ERROR_INVALID_OPTION
    const std::string file = error == kInvalidOption ? "" : request.name;
    Diagnostics messages = parse_nvrtc_log(log);
    for (Diagnostic& message : messages)
        if (message.file.empty()) message.file = file;
    const bool bad_arch = log.find("gpu-architecture") != std::string::npos;
    if (bad_arch) {
        std::string known;
        for (const int arch : nvrtc_supported_archs(api)) known += fmt::format(" sm_{}", arch);
        messages.push_back({.severity = Severity::note,
                            .file = file,
                            .message = fmt::format("target {} is not known to NVRTC {}, which "
                                                   "compiles for{}",
                                                   request.target, nvrtc_version(api), known)});
    }
    if (!has_error(messages))
        messages.push_back(
            {.file = file, .message = fmt::format("NVRTC: {}", api.error_string(error))});
    return fail(std::move(messages));
}

Result<Compiled> run_nvrtc(const CompileRequest& request, const Nvrtc& api,
                           const std::vector<std::string>& options) {
    Nvrtc::Program program = nullptr;
    int error = api.create_program(&program, request.source.c_str(), request.name.c_str(), 0,
                                   nullptr, nullptr);
    if (error != 0)
        return fail(Diagnostic{.file = request.name,
                               .message = fmt::format("NVRTC: {}", api.error_string(error))});
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    error = api.compile_program(program, static_cast<int>(pointers.size()), pointers.data());
    Compiled compiled;
    compiled.log = sized_text(api, program, api.log_size, api.log);
    if (error == 0) compiled.ptx = sized_text(api, program, api.ptx_size, api.ptx);
    api.destroy_program(&program);
    if (error != 0) return compile_failure(request, api, error, compiled.log);
    return compiled;
}

}  // namespace

Result<Compiled> compile_ptx(const CompileRequest& request) {
    WW_TRY(target, parse_target(request.target));
    WW_TRY(nvrtc, need_part("nvrtc"));
    WW_TRY(checked, check_include_dirs(request));
    (void)checked;
    if (request.source.find('\0') != std::string::npos)
        return fail(Diagnostic{.file = request.name, .message = "the source holds a zero byte"});
    const std::vector<fs::path> cuda_dirs = cuda_include_dirs();
    const std::vector<std::string> options = compile_options(request, target.arch(), cuda_dirs);
    const IncludeScan scan =
        scan_includes(request.source, source_folder(request), request.include_dirs);
    CacheKey key("ptx");
    add_dependencies(key, request, scan, options, cuda_dirs, nvrtc);
    if (!scan.computed)
        if (auto blobs = cache_get(key); blobs && blobs->size() == 2)
            return Compiled{.ptx = (*blobs)[0], .log = (*blobs)[1], .options = options, .cached = true};
    WW_TRY(api, load_nvrtc(nvrtc));
    WW_TRY(compiled, run_nvrtc(request, api, options));
    compiled.options = options;
    if (!scan.computed) cache_put(key, {compiled.ptx, compiled.log});
    return compiled;
}

}  // namespace ww::toolchain
