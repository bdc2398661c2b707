// SPDX-License-Identifier: Apache-2.0
// A temporary folder, and environment variables that are put back at the end of a test.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"

namespace ww::toolchain {

class ToolchainTest : public ::testing::Test {
  protected:
    ~ToolchainTest() override {
        for (auto& [name, value] : saved_)
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
    void set(const std::string& name, const std::string& value) {
        const char* old = std::getenv(name.c_str());
        saved_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
        ::setenv(name.c_str(), value.c_str(), 1);
    }
    std::filesystem::path put(const std::string& name, const std::string& text) {
        EXPECT_TRUE(write_file(folder_ / name, text));
        return folder_ / name;
    }
    // Results of earlier runs must not answer this test.
    void fresh_objects() {
        const auto wheels = folder_ / "cache" / "wheels";
        std::filesystem::create_directories(wheels.parent_path());
        std::filesystem::create_directory_symlink(real_cache_ / "wheels", wheels);
        set("WARPWRIGHT_CACHE", (folder_ / "cache").string());
    }

    TemporaryFolder temporary_ = TemporaryFolder::make().value();
    std::filesystem::path folder_ = temporary_.path();
    std::filesystem::path real_cache_ = cache_root();

  private:
    std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};

}  // namespace ww::toolchain
