// SPDX-License-Identifier: Apache-2.0
// The binary distribution format of PyPA: files, METADATA, WHEEL, RECORD.
#include "wheel/wheel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "wheel/sha256.hpp"
#include "wheel/zip.hpp"

namespace ww::wheel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "warpwright/sage3/libsage3.so";
constexpr std::string_view kInfo = "warpwright-" WW_VERSION ".dist-info";

std::string metadata() {
    return "Metadata-Version: 2.1\n"
           "Name: warpwright\n"
           "Version: " WW_VERSION "\n"
           "Summary: Sage Attention 3 in FP4 for consumer Blackwell, for PyTorch\n"
           "License: Apache-2.0\n"
           "Requires-Python: >=3.9\n"
           "Provides-Extra: torch\n"
           "Requires-Dist: torch>=2.4; extra == 'torch'\n"
           "Description-Content-Type: text/markdown\n"
           "\n"
           "FP4 attention for GPUs of compute capability 12.0 and 12.1. Emulated; not yet run on silicon.\n"
           "\n"
           "    from warpwright import sage3\n"
           "    o = sage3.attention(q, k, v, is_causal=True)\n"
           "\n"
           "Kernels are compiled by NVRTC, which torch brings along, at first use, and kept in ~/.cache/warpwright.\n"
           "The library needs a processor with AVX2 and FMA (x86-64-v3).\n";
}

std::string tag_of(const SharedObject& library) {
    return library.foreign().empty() ? fmt::format("py3-none-manylinux_2_{}_x86_64", library.glibc_minor)
                                     : "py3-none-linux_x86_64";
}

// Of every file but itself.
std::string record(const std::vector<ZipFile>& files, const std::string& self) {
    std::string out;
    for (const ZipFile& each : files)
        out += fmt::format("{},sha256={},{}\n", each.name, sha256_base64(each.bytes), each.bytes.size());
    return out + self + ",,\n";
}

}  // namespace

Result<Wheel> make_wheel(const WheelOptions& options) {
    WW_TRY(library, read_file(options.library));
    WW_TRY(object, read_shared_object(library, display_path(options.library)));
    if (std::find(object.names.begin(), object.names.end(), "sage3_attention") == object.names.end())
        return fail(Diagnostic{.file = display_path(options.library), .message = "it is no libsage3.so"});
    Wheel out;
    out.tag = tag_of(object);
    out.library = object;
    std::vector<ZipFile> files;
    for (const PythonFile& each : python_files()) files.push_back({each.name, each.text});
    files.push_back({std::string(kLibrary), std::move(library), true});
    const std::string info(kInfo);
    files.push_back({info + "/METADATA", metadata()});
    files.push_back({info + "/licenses/LICENSE", license_text()});
    files.push_back({info + "/WHEEL", fmt::format("Wheel-Version: 1.0\nGenerator: warpwright " WW_VERSION "\n"
                                                  "Root-Is-Purelib: false\nTag: {}\n", out.tag)});
    std::string list = record(files, info + "/RECORD");
    files.push_back({info + "/RECORD", std::move(list)});
    const std::string bytes = zip(files);
    out.bytes = bytes.size();
    std::error_code code;
    fs::create_directories(options.out, code);
    if (code) return fail(Diagnostic{.file = display_path(options.out), .message = "cannot make the folder: " + code.message()});
    out.path = options.out / fmt::format("warpwright-" WW_VERSION "-{}.whl", out.tag);
    WW_TRY(written, write_file(out.path, bytes));
    (void)written;
    return out;
}

}  // namespace ww::wheel
