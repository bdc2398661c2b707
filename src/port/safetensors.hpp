// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors files. The reader takes any bytes: every length, offset, dtype and
// shape is checked, and no two tensors may overlap.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "port/tensor.hpp"

namespace ww::port {

struct SafetensorsFile {
    std::map<std::string, std::string> metadata;
    std::vector<Tensor> tensors;  // contiguous, in file order

    const Tensor* find(std::string_view name) const;
};

// name is only for messages.
Result<SafetensorsFile> parse_safetensors(std::string_view bytes, const std::string& name);
Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path);
// One tensor of a file, without keeping the others.
Result<Tensor> read_safetensor(const std::filesystem::path& path, std::string_view tensor);

// Types that safetensors lacks are written as unsigned integers of the same size (4-bit: U8, two
// a byte) and named in metadata as "dtype:<tensor>"; parse_safetensors turns them back.
// Strided tensors are written row-major. Fails when the last axis of a 4-bit tensor is odd.
Result<std::string> format_safetensors(const SafetensorsFile& file);
Status write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

}  // namespace ww::port
