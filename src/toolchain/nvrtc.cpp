// SPDX-License-Identifier: Apache-2.0
// dlopen of NVRTC and its built-ins library.
#include "toolchain/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/resolve.hpp"

namespace ww::toolchain {
namespace fs = std::filesystem;
namespace {

// NVRTC looks for its built-ins by the loader's rules; loading those beside it first keeps it from
// taking another version's.
void load_builtins(const fs::path& nvrtc) {
    std::error_code code;
    for (fs::directory_iterator entry(nvrtc.parent_path(), code), end; !code && entry != end;
         entry.increment(code))
        if (entry->path().filename().string().starts_with("libnvrtc-builtins.so."))
            ::dlopen(entry->path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

Result<Nvrtc> load_nvrtc(const Found& found) {
    load_builtins(found.path);
    void* library = ::dlopen(found.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = ::dlerror();
        return fail(Diagnostic{.file = found.path.string(),
                               .message = fmt::format("cannot load NVRTC: {}", why ? why : "?")});
    }
    Nvrtc api;
    const bool complete = resolve(library, "nvrtcVersion", api.version) &&
                          resolve(library, "nvrtcGetNumSupportedArchs", api.num_supported_archs) &&
                          resolve(library, "nvrtcGetSupportedArchs", api.supported_archs) &&
                          resolve(library, "nvrtcCreateProgram", api.create_program) &&
                          resolve(library, "nvrtcDestroyProgram", api.destroy_program) &&
                          resolve(library, "nvrtcCompileProgram", api.compile_program) &&
                          resolve(library, "nvrtcGetPTXSize", api.ptx_size) &&
                          resolve(library, "nvrtcGetPTX", api.ptx) &&
                          resolve(library, "nvrtcGetCUBINSize", api.cubin_size) &&
                          resolve(library, "nvrtcGetCUBIN", api.cubin) &&
                          resolve(library, "nvrtcGetProgramLogSize", api.log_size) &&
                          resolve(library, "nvrtcGetProgramLog", api.log) &&
                          resolve(library, "nvrtcGetErrorString", api.error_string);
    if (!complete)
        return fail(Diagnostic{.file = found.path.string(),
                               .message = "this library lacks functions of NVRTC 12 or later"});
    return api;
}

std::string nvrtc_version(const Nvrtc& nvrtc) {
    int major = 0, minor = 0;
    if (nvrtc.version(&major, &minor) != 0) return "";
    return fmt::format("{}.{}", major, minor);
}

std::vector<int> nvrtc_supported_archs(const Nvrtc& nvrtc) {
    int count = 0;
    if (nvrtc.num_supported_archs(&count) != 0 || count <= 0) return {};
    std::vector<int> archs(static_cast<size_t>(count));
    if (nvrtc.supported_archs(archs.data()) != 0) return {};
    return archs;
}

}  // namespace ww::toolchain
