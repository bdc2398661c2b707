// SPDX-License-Identifier: Apache-2.0
#include "context/language.hpp"

#include <string>

namespace ww::context {
namespace {

bool mentions(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

Language python_kind(std::string_view text) {
    if (mentions(text, "cutlass.cute")) return Language::cutedsl;
    if (mentions(text, "import triton") || mentions(text, "from triton")) return Language::triton;
    return Language::python;
}

Language cpp_kind(std::string_view text) {
    for (const std::string_view word : {"__device__", "__global__", "CUTE_DEVICE", "CUTE_HOST_DEVICE", "CUTLASS_DEVICE",
                                        "CUTLASS_HOST_DEVICE"})
        if (mentions(text, word)) return Language::cuda;
    return Language::cpp;
}

}  // namespace

std::string_view name(Language language) {
    switch (language) {
        case Language::cuda: return "CUDA C++";
        case Language::cpp: return "C++";
        case Language::ptx: return "PTX";
        case Language::python: return "Python";
        case Language::triton: return "Triton";
        case Language::cutedsl: return "CuTeDSL";
        case Language::markdown: return "Markdown";
        case Language::text: return "text";
        case Language::cmake: return "CMake";
        case Language::shell: return "shell";
        case Language::data: return "data";
        case Language::other: return "other";
    }
    return "other";
}

Language language_of(const std::filesystem::path& path, std::string_view text) {
    const std::string extension = path.extension().string(), file = path.filename().string();
    // A zero byte near the beginning: no text.
    if (text.substr(0, 4096).find('\0') != std::string_view::npos) return Language::other;
    const auto is = [&](std::initializer_list<std::string_view> extensions) {
        for (const std::string_view each : extensions)
            if (extension == each) return true;
        return false;
    };
    if (is({".cu", ".cuh"})) return Language::cuda;
    if (is({".h", ".hpp", ".hxx", ".hh", ".cpp", ".cxx", ".cc", ".c", ".inl", ".inc", ".ipp"})) return cpp_kind(text);
    if (is({".ptx"})) return Language::ptx;
    if (is({".py", ".pyi"})) return python_kind(text);
    if (is({".md"})) return Language::markdown;
    if (is({".rst", ".txt"}) && file != "CMakeLists.txt") return Language::text;
    if (is({".cmake"}) || file == "CMakeLists.txt") return Language::cmake;
    if (is({".sh", ".bash"}) || file == "Makefile") return Language::shell;
    if (is({".json", ".toml", ".yaml", ".yml", ".csv", ".ipynb", ".xml", ".svg", ".cfg", ".ini"})) return Language::data;
    if (file.starts_with("LICENSE") || file.starts_with("LICENCE") || file.starts_with("COPYING") ||
        file.starts_with("README") || file.starts_with("NOTICE"))
        return Language::text;
    return Language::other;
}

bool is_readable(Language language) { return language != Language::other; }

bool is_cpp(Language language) { return language == Language::cuda || language == Language::cpp; }

bool is_python(Language language) {
    return language == Language::python || language == Language::triton || language == Language::cutedsl;
}

}  // namespace ww::context
