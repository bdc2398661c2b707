// SPDX-License-Identifier: Apache-2.0
// One test for each .ptx file below this folder.
#include <gtest/gtest.h>

#include <algorithm>

#include "test_text.hpp"

namespace ww::emulator_test {
namespace {

class FileTest : public testing::Test {
  public:
    FileTest(std::filesystem::path path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}
    void TestBody() override {
        const Result<TextTest> test = parse_text_test(path_, name_);
        ASSERT_TRUE(test) << format(test.error());
        EXPECT_EQ(run_text_test(*test), "");
    }

  private:
    std::filesystem::path path_;
    std::string name_;
};

size_t register_files(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
        const std::string folder = std::filesystem::relative(path.parent_path(), root).string();
        const std::string name = path.stem().string();
        testing::RegisterTest(folder.c_str(), name.c_str(), nullptr, nullptr, path.c_str(), 1,
                              [path, full = folder + "/" + name]() -> testing::Test* { return new FileTest(path, full); });
    }
    return paths.size();
}

}  // namespace
}  // namespace ww::emulator_test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (ww::emulator_test::register_files(WW_SOURCE_DIR "/tests/emulator") == 0) return 1;
    return RUN_ALL_TESTS();
}
