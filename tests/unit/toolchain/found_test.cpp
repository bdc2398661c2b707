// SPDX-License-Identifier: Apache-2.0
#include "toolchain/found.hpp"

#include "fixture.hpp"

namespace ww::toolchain {
namespace {

namespace fs = std::filesystem;

class FoundTest : public ToolchainTest {
  protected:
    // A machine with nothing on it: no toolkit, no wheels.
    void empty_machine() {
        for (const char* name : {"WARPWRIGHT_PTXAS", "WARPWRIGHT_NVRTC", "WARPWRIGHT_NVDISASM"})
            set(name, "");
        set("WARPWRIGHT_NO_TOOLKIT", "1");
        set("WARPWRIGHT_CACHE", (folder_ / "cache").string());
    }
    fs::path put_program(const fs::path& path) {
        fs::create_directories(path.parent_path());
        EXPECT_TRUE(write_file(path, "#!/bin/sh\nexit 0\n"));
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }
};

TEST_F(FoundTest, NothingThereSaysWhatToDo) {
    empty_machine();
    EXPECT_EQ(find_part("ptxas").origin, Origin::missing);
    const auto needed = need_part("ptxas");
    ASSERT_FALSE(needed);
    EXPECT_NE(needed.error()[0].message.find("nvidia-cuda-nvcc"), std::string::npos);
    EXPECT_NE(needed.error()[0].message.find("WARPWRIGHT_PTXAS"), std::string::npos);
}

TEST_F(FoundTest, TakesAWheelInTheCache) {
    empty_machine();
    const fs::path ptxas =
        put_program(folder_ / "cache/wheels/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas");
    EXPECT_EQ(find_part("ptxas").origin, Origin::wheel);
    EXPECT_EQ(find_part("ptxas").path, ptxas);
    EXPECT_EQ(find_part("nvdisasm").origin, Origin::missing);
}

TEST_F(FoundTest, WhileTheToolchainStaysItIsLookedForOnce) {
    empty_machine();
    const fs::path ptxas =
        put_program(folder_ / "cache/wheels/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas");
    {
        const ToolchainStays stays;
        EXPECT_EQ(find_part("ptxas").path, ptxas);
        fs::remove(ptxas);
        EXPECT_EQ(find_part("ptxas").path, ptxas);
    }
    EXPECT_EQ(find_part("ptxas").origin, Origin::missing);
}

TEST_F(FoundTest, ToolkitComesBeforeWheelPartByPart) {
    empty_machine();
    set("WARPWRIGHT_NO_TOOLKIT", "0");
    set("CUDA_HOME", (folder_ / "toolkit").string());
    const fs::path site = folder_ / "cache/wheels/lib/python3.11/site-packages/nvidia/cu13";
    put_program(site / "bin/ptxas");
    const fs::path nvdisasm = put_program(site / "bin/nvdisasm");
    const fs::path ptxas = put_program(folder_ / "toolkit/bin/ptxas");
    EXPECT_EQ(find_part("ptxas").path, ptxas);
    EXPECT_EQ(find_part("ptxas").origin, Origin::toolkit);
    if (find_part("nvdisasm").origin != Origin::toolkit) {  // unless this machine has one
        EXPECT_EQ(find_part("nvdisasm").path, nvdisasm);
    }
}

TEST_F(FoundTest, EnvironmentComesFirstAndIsNotGuessedAround) {
    empty_machine();
    const fs::path own = put_program(folder_ / "own-ptxas");
    set("WARPWRIGHT_PTXAS", own.string());
    EXPECT_EQ(find_part("ptxas").origin, Origin::env);
    set("WARPWRIGHT_PTXAS", "/nowhere/ptxas");
    const auto needed = need_part("ptxas");
    ASSERT_FALSE(needed);
    EXPECT_NE(needed.error()[0].message.find("WARPWRIGHT_PTXAS is set to /nowhere/ptxas"),
              std::string::npos);
}

TEST_F(FoundTest, AProgramMustBeExecutable) {
    empty_machine();
    set("WARPWRIGHT_PTXAS", put("ptxas", "text").string());
    EXPECT_EQ(find_part("ptxas").origin, Origin::missing);
}

TEST_F(FoundTest, CacheFolderFollowsTheEnvironment) {
    set("WARPWRIGHT_CACHE", "");
    set("XDG_CACHE_HOME", "/somewhere");
    EXPECT_EQ(cache_root(), fs::path("/somewhere/warpwright"));
    set("XDG_CACHE_HOME", "");
    set("HOME", "/home/u");
    EXPECT_EQ(cache_root(), fs::path("/home/u/.cache/warpwright"));
    set("WARPWRIGHT_CACHE", "/c");
    EXPECT_EQ(cache_root(), fs::path("/c"));
}

}  // namespace
}  // namespace ww::toolchain
