// SPDX-License-Identifier: Apache-2.0
// What the tests of this room share: files under tests/, and the wanted value of a Result.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"

namespace ww::port {

inline std::filesystem::path tests_folder() {
    return std::filesystem::path(WW_SOURCE_DIR) / "tests" / "port";
}

// The value, or a test failure that shows the diagnostics.
template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(format(result.error()));
    return std::move(*result);
}

template <class T>
std::string error_of(const Result<T>& result) {
    return result ? "no error" : result.error().front().message;
}

}  // namespace ww::port
