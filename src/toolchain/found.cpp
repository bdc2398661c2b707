// SPDX-License-Identifier: Apache-2.0
// The search itself: one row a part, and where each origin keeps it.
#include "toolchain/found.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "toolchain/parts.hpp"

namespace ww::toolchain {
namespace fs = std::filesystem;
namespace {

constexpr std::array<PartRow, 6> kParts{{
    {"nvrtc",
     "WARPWRIGHT_NVRTC",
     "nvidia-cuda-nvrtc",
     {"lib64/libnvrtc.so.13", "lib/libnvrtc.so.13", "targets/x86_64-linux/lib/libnvrtc.so.13",
      "lib64/libnvrtc.so.12"},
     "libnvrtc.so.13",
     PartKind::library,
     "compiling CUDA C++ kernels to PTX"},
    {"headers",
     "WARPWRIGHT_CUDA_INCLUDE",
     "nvidia-cuda-runtime",
     {"include", "targets/x86_64-linux/include"},
     "",
     PartKind::headers,
     "kernels that include cuda_fp16.h, cuda_bf16.h or other CUDA headers"},
    {"ptxas",
     "WARPWRIGHT_PTXAS",
     "nvidia-cuda-nvcc",
     {"bin/ptxas"},
     "ptxas",
     PartKind::program,
     "assembling PTX to a cubin: registers, spills, and kernels built for one GPU"},
    {"nvdisasm",
     "WARPWRIGHT_NVDISASM",
     "nvidia-cuda-nvdisasm",
     {"bin/nvdisasm"},
     "nvdisasm",
     PartKind::program,
     "reading the machine code (SASS) of a cubin"},
    {"cuobjdump",
     "WARPWRIGHT_CUOBJDUMP",
     "nvidia-cuda-cuobjdump",
     {"bin/cuobjdump"},
     "cuobjdump",
     PartKind::program,
     "taking cubins and PTX out of other people's binaries"},
    {"nvcc",
     "WARPWRIGHT_NVCC",
     nullptr,
     {"bin/nvcc"},
     "nvcc",
     PartKind::program,
     "looking at kernels in files with host code (asm --frontend nvcc)"},
}};

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool hide_toolkit() {
    const std::string value = environment("WARPWRIGHT_NO_TOOLKIT");
    return !value.empty() && value != "0";
}

// The folder names of PATH.
std::vector<fs::path> search_path() {
    std::vector<fs::path> folders;
    const std::string path = environment("PATH");
    for (const std::string_view folder : split(path, ':'))
        if (!folder.empty()) folders.emplace_back(folder);
    return folders;
}

std::vector<fs::path> toolkit_roots() {
    std::vector<fs::path> roots;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string root = environment(name); !root.empty()) roots.emplace_back(root);
    roots.emplace_back("/usr/local/cuda");
    std::error_code code;
    for (const fs::path& folder : search_path())
        if (fs::exists(folder / "nvcc", code)) {
            const fs::path nvcc = fs::canonical(folder / "nvcc", code);
            if (!code) roots.push_back(nvcc.parent_path().parent_path());
        }
    return roots;
}

// The wheels unpack into <venv>/lib/python3.N/site-packages/nvidia/cu13.
std::vector<fs::path> wheel_roots() {
    std::vector<fs::path> roots;
    std::error_code code;
    for (fs::directory_iterator entry(cache_root() / "wheels" / "lib", code), end;
         !code && entry != end; entry.increment(code))
        if (entry->path().filename().string().starts_with("python3"))
            roots.push_back(entry->path() / "site-packages" / "nvidia" / "cu13");
    std::sort(roots.begin(), roots.end());
    return roots;
}

bool is_there(const PartRow& part, const fs::path& path) {
    std::error_code code;
    switch (part.kind) {
        case PartKind::library:
            return fs::is_regular_file(path, code);
        case PartKind::headers:
            return fs::is_regular_file(path / "cuda_fp16.h", code);
        case PartKind::program:
            return fs::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
    }
    return false;
}

fs::path find_below(const PartRow& part, const std::vector<fs::path>& roots) {
    for (const fs::path& root : roots)
        for (const char* place : part.places)
            if (place && is_there(part, root / place)) return root / place;
    return {};
}

// What the dynamic loader or PATH would take.
fs::path find_in_system(const PartRow& part) {
    if (part.kind == PartKind::program) {
        for (const fs::path& folder : search_path())
            if (is_there(part, folder / part.system_name)) return folder / part.system_name;
    }
    if (part.kind == PartKind::library) {
        void* library = ::dlopen(part.system_name, RTLD_LAZY | RTLD_LOCAL);
        if (!library) return {};
        Dl_info info{};
        void* symbol = ::dlsym(library, "nvrtcVersion");
        if (symbol && ::dladdr(symbol, &info) && info.dli_fname) return info.dli_fname;
    }
    return {};
}

Found search_part(const std::string& component) {
    const PartRow& part = part_row(component);
    Found found{.component = part.name, .unlocks = part.unlocks};
    // A path set by the user is taken even when nothing is there: need_part then says so.
    if (const std::string set = environment(part.variable); !set.empty()) {
        found.path = set;
        found.origin = is_there(part, set) ? Origin::env : Origin::missing;
        return found;
    }
    const auto take = [&](const fs::path& path, Origin origin) {
        if (path.empty()) return false;
        found.path = path;
        found.origin = origin;
        return true;
    };
    if (!hide_toolkit() && take(find_below(part, toolkit_roots()), Origin::toolkit)) return found;
    if (part.wheel && take(find_below(part, wheel_roots()), Origin::wheel)) return found;
    if (!hide_toolkit()) take(find_in_system(part), Origin::system);
    return found;
}

// What a ToolchainStays keeps.
struct Kept {
    std::map<std::string, Found> parts;
    std::map<fs::path, FileIdentity> identities;
};
std::optional<Kept> kept;

}  // namespace

ToolchainStays::ToolchainStays() {
    WW_CHECK(!kept, "one ToolchainStays lives already");
    kept.emplace();
}

ToolchainStays::~ToolchainStays() { kept.reset(); }

FileIdentity* kept_identity(const fs::path& path) { return kept ? &kept->identities[path] : nullptr; }

std::span<const PartRow> part_rows() { return kParts; }

const PartRow& part_row(const std::string& component) {
    const auto row = std::find_if(kParts.begin(), kParts.end(),
                                  [&](const PartRow& part) { return component == part.name; });
    WW_CHECK(row != kParts.end(), "no such part of the toolchain: " + component);
    return *row;
}

std::string_view origin_name(Origin origin) {
    switch (origin) {
        case Origin::env:
            return "env";
        case Origin::toolkit:
            return "toolkit";
        case Origin::wheel:
            return "wheel";
        case Origin::system:
            return "system";
        case Origin::missing:
            return "missing";
    }
    return "missing";
}

Found find_part(const std::string& component) {
    if (!kept) return search_part(component);
    const auto it = kept->parts.find(component);
    return it != kept->parts.end() ? it->second : kept->parts.emplace(component, search_part(component)).first->second;
}

Result<Found> need_part(const std::string& component) {
    Found found = find_part(component);
    if (found.origin != Origin::missing) return found;
    const PartRow& part = part_row(component);
    if (!found.path.empty())
        return fail(fmt::format("{} is set to {}, and there is no {} there", part.variable,
                                found.path.string(),
                                part.kind == PartKind::headers ? "cuda_fp16.h" : part.name));
    if (!part.wheel)
        return fail(fmt::format("{} was not found (needed for {}): install a CUDA 13.0 toolkit, or set {} to its path",
                                part.name, part.unlocks, part.variable));
    return fail(fmt::format(
        "{} was not found (needed for {}): ./warpwright fetches the {} wheel from PyPI by itself; "
        "else install a CUDA 13.0 toolkit, or set {} to its path",
        part.name, part.unlocks, part.wheel, part.variable));
}

fs::path cache_root() {
    if (const std::string set = environment("WARPWRIGHT_CACHE"); !set.empty()) return set;
    if (const std::string set = environment("XDG_CACHE_HOME"); !set.empty())
        return fs::path(set) / "warpwright";
    if (const std::string home = environment("HOME"); !home.empty())
        return fs::path(home) / ".cache" / "warpwright";
    return fs::temp_directory_path() / fmt::format("warpwright-{}", ::getuid());
}

std::vector<fs::path> cuda_include_dirs() {
    const Found headers = find_part("headers");
    if (headers.origin == Origin::missing) return {};
    std::vector<fs::path> dirs{headers.path};
    std::error_code code;
    if (fs::is_directory(headers.path / "cccl", code)) dirs.push_back(headers.path / "cccl");
    return dirs;
}

}  // namespace ww::toolchain
