// SPDX-License-Identifier: Apache-2.0
// What a file is written in, by its name and what it mentions. Reads no files.
#pragma once
#include <filesystem>
#include <string_view>

namespace ww::context {

enum class Language { cuda, cpp, ptx, python, triton, cutedsl, markdown, text, cmake, shell, data, other };

std::string_view name(Language language);  // "CUDA C++"
Language language_of(const std::filesystem::path& path, std::string_view text);
// Whether it is text that a person writes: worth searching.
bool is_readable(Language language);
bool is_cpp(Language language);
bool is_python(Language language);

}  // namespace ww::context
