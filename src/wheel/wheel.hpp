// SPDX-License-Identifier: Apache-2.0
// The Python wheel: the package's files, which are in this program, with a built libsage3.so. Nothing is
// compiled when it is installed.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wheel/shared_object.hpp"

namespace ww::wheel {

struct PythonFile {
    const char* name;  // below site-packages
    const char* text;
};
// Made by cmake from python/.
const std::vector<PythonFile>& python_files();
const char* license_text();

struct WheelOptions {
    std::filesystem::path library;  // libsage3.so
    std::filesystem::path out;      // folder; made where it is not there
};

struct Wheel {
    std::filesystem::path path;
    std::string tag;  // "py3-none-manylinux_2_35_x86_64"; "py3-none-linux_x86_64": for machines like this one
    SharedObject library;
    uint64_t bytes = 0;
    bool portable() const { return library.foreign().empty(); }
};

Result<Wheel> make_wheel(const WheelOptions& options);

}  // namespace ww::wheel
