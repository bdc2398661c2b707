// SPDX-License-Identifier: Apache-2.0
// Asks each part for its version: NVRTC by its function, headers by CUDA_VERSION, programs by
// --version.
#include <fmt/format.h>

#include <cstdlib>

#include "base/files.hpp"
#include "base/text.hpp"
#include "toolchain/found.hpp"
#include "toolchain/nvrtc.hpp"
#include "toolchain/parts.hpp"
#include "toolchain/process.hpp"

namespace ww::toolchain {
namespace {

// "#define CUDA_VERSION 13000" in cuda.h.
std::string headers_version(const Found& found) {
    const Result<std::string> text = read_file(found.path / "cuda.h");
    if (!text) return "";
    constexpr std::string_view kMark = "#define CUDA_VERSION ";
    const size_t at = text->find(kMark);
    if (at == std::string::npos) return "";
    const int number = std::atoi(text->c_str() + at + kMark.size());
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// "Cuda compilation tools, release 13.0, V13.0.88".
std::string program_version(const Found& found) {
    const Result<Finished> finished = run_process(
        {.argv = {found.path.string(), "--version"}, .timeout = std::chrono::seconds(20)});
    if (!finished || finished->exit_code != 0) return "";
    const size_t at = finished->out.find(", V");
    if (at == std::string::npos) return "";
    const std::vector<std::string_view> words =
        split_words(std::string_view(finished->out).substr(at + 3));
    return words.empty() ? "" : std::string(words[0]);
}

std::string library_version(const Found& found) {
    const Result<Nvrtc> api = load_nvrtc(found);
    return api ? nvrtc_version(*api) : "";
}

}  // namespace

Found ask_part(const std::string& component) {
    Found found = find_part(component);
    if (found.origin == Origin::missing) return found;
    switch (part_row(component).kind) {
        case PartKind::library:
            found.version = library_version(found);
            break;
        case PartKind::headers:
            found.version = headers_version(found);
            break;
        case PartKind::program:
            found.version = program_version(found);
            break;
    }
    return found;
}

std::vector<Found> survey() {
    std::vector<Found> all;
    for (const PartRow& part : part_rows()) all.push_back(ask_part(part.name));
    return all;
}

}  // namespace ww::toolchain
