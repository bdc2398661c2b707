// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cache.hpp"

#include "fixture.hpp"
#include "toolchain/include_scan.hpp"

namespace ww::toolchain {
namespace {

namespace fs = std::filesystem;
using CacheTest = ToolchainTest;

fs::path only_file_below(const fs::path& root) {
    fs::path found;
    for (const auto& entry : fs::recursive_directory_iterator(root))
        if (entry.is_regular_file()) found = entry.path();
    return found;
}

TEST_F(CacheTest, GivesBackWhatWasPut) {
    fresh_objects();
    CacheKey key("test");
    key.add("a");
    EXPECT_FALSE(cache_get(key));
    const std::vector<std::string> blobs{std::string("\0binary\n", 8), ""};
    cache_put(key, blobs);
    EXPECT_EQ(cache_get(key), blobs);
}

TEST_F(CacheTest, PartsAreNotJoined) {
    CacheKey one("test"), two("test"), kind("tes");
    one.add("ab");
    one.add("c");
    two.add("a");
    two.add("bc");
    kind.add("tab");
    kind.add("c");
    EXPECT_NE(one.hex(), two.hex());
    EXPECT_NE(one.hex(), kind.hex());
}

TEST_F(CacheTest, ADamagedEntryCountsAsNone) {
    fresh_objects();
    CacheKey key("test");
    cache_put(key, {"some text that is long enough"});
    const fs::path entry = only_file_below(folder_ / "cache" / "objects");
    const std::string good = read_file(entry).value();
    for (size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        ASSERT_TRUE(write_file(entry, bad));
        EXPECT_FALSE(cache_get(key)) << "byte " << i;
        ASSERT_TRUE(write_file(entry, good.substr(0, i)));
        EXPECT_FALSE(cache_get(key)) << "cut at " << i;
    }
    ASSERT_TRUE(write_file(entry, good));
    EXPECT_TRUE(cache_get(key));
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsNoError) {
    set("WARPWRIGHT_CACHE", put("file", "").string());
    CacheKey key("test");
    cache_put(key, {"x"});
    EXPECT_FALSE(cache_get(key));
}

TEST_F(CacheTest, ScanFollowsHeadersThatAreFound) {
    fs::create_directories(folder_ / "lib");
    put("lib/far.cuh", "#pragma once\n#include \"deep.cuh\"\n");
    put("lib/deep.cuh", "int deep;\n#include \"far.cuh\"\n");  // a cycle ends
    put("near.cuh", "int near;\n");
    const IncludeScan scan = scan_includes(
        "#include \"near.cuh\"\n  #  include <far.cuh>\n#if __has_include(<gone.h>)\n#endif\n"
        "#inc\\\nlude \"none.h\"\n/* x */ #include <cuda_fp16.h>\n",
        folder_, {folder_ / "lib"});
    ASSERT_EQ(scan.headers.size(), 3u);
    EXPECT_EQ(scan.headers[0].first.filename(), "near.cuh");
    EXPECT_EQ(scan.headers[1].first.filename(), "far.cuh");
    EXPECT_EQ(scan.headers[2].first.filename(), "deep.cuh");
    EXPECT_EQ(scan.external, (std::vector<std::string>{"gone.h", "none.h", "cuda_fp16.h"}));
    EXPECT_FALSE(scan.computed);
}

TEST_F(CacheTest, ScanMarksComputedIncludes) {
    EXPECT_TRUE(scan_includes("#include HEADER\n", folder_, {}).computed);
}

}  // namespace
}  // namespace ww::toolchain
