// SPDX-License-Identifier: Apache-2.0
// CUDA C++ -> PTX or cubin by NVRTC, through the compile cache.
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

// What NVRTC is asked for.
enum class Product { ptx, cubin };

std::vector<std::string> compile_options(const CompileRequest& request, Product product,
                                         const std::string& arch,
                                         const std::vector<fs::path>& cuda_dirs) {
    std::vector<std::string> options{
        fmt::format("--gpu-architecture={}_{}", product == Product::ptx ? "compute" : "sm", arch)};
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
    if (request.trial != 0) key.add(fmt::format("trial {}", request.trial));
}

std::string sized(const Nvrtc& api, Nvrtc::Program program, int (*size_of)(Nvrtc::Program, size_t*),
                  int (*get)(Nvrtc::Program, char*)) {
    size_t size = 0;
    if (size_of(program, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    const int error = get(program, text.data());
    WW_CHECK(error == 0, api.error_string(error));
    return text;
}

std::string text_of(std::string text) {
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

struct Made {
    std::string bytes, log;
    std::vector<std::string> options;
    bool cached = false;
};

Result<Made> run_nvrtc(const CompileRequest& request, Product product, const Nvrtc& api,
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
    Made made{.log = text_of(sized(api, program, api.log_size, api.log)), .options = options};
    if (error == 0)
        made.bytes = product == Product::ptx ? text_of(sized(api, program, api.ptx_size, api.ptx))
                                             : sized(api, program, api.cubin_size, api.cubin);
    api.destroy_program(&program);
    if (error != 0) return compile_failure(request, api, error, made.log);
    return made;
}

Result<Made> compile(const CompileRequest& request, Product product) {
    WW_TRY(target, parse_target(request.target));
    WW_TRY(nvrtc, need_part("nvrtc"));
    WW_TRY(checked, check_include_dirs(request));
    (void)checked;
    if (request.source.find('\0') != std::string::npos)
        return fail(Diagnostic{.file = request.name, .message = "the source holds a zero byte"});
    const std::vector<fs::path> cuda_dirs =
        request.cuda_headers ? cuda_include_dirs() : std::vector<fs::path>();
    const std::vector<std::string> options = compile_options(request, product, target.arch(), cuda_dirs);
    const IncludeScan scan =
        scan_includes(request.source, source_folder(request), request.include_dirs);
    CacheKey key(product == Product::ptx ? "ptx" : "nvrtc cubin");
    add_dependencies(key, request, scan, options, cuda_dirs, nvrtc);
    if (!scan.computed)
        if (auto blobs = cache_get(key); blobs && blobs->size() == 2)
            return Made{(*blobs)[0], (*blobs)[1], options, true};
    WW_TRY(api, load_nvrtc(nvrtc));
    WW_TRY(made, run_nvrtc(request, product, api, options));
    if (!scan.computed) cache_put(key, {made.bytes, made.log});
    return made;
}

}  // namespace

Result<Compiled> compile_ptx(const CompileRequest& request) {
    WW_TRY(made, compile(request, Product::ptx));
    return Compiled{.ptx = std::move(made.bytes), .log = std::move(made.log),
                    .options = std::move(made.options), .cached = made.cached};
}

Result<CompiledCubin> compile_cubin(const CompileRequest& request) {
    WW_TRY(made, compile(request, Product::cubin));
    return CompiledCubin{.cubin = std::move(made.bytes), .log = std::move(made.log), .cached = made.cached};
}

}  // namespace ww::toolchain
