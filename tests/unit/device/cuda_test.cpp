// SPDX-License-Identifier: Apache-2.0
// The cuda device on a real GPU; skipped where there is none.
#include <gtest/gtest.h>

#include "device/device.hpp"

namespace ww::device {
namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry twice(.param .u64 data, .param .u32 count)
{
    .reg .u64 p, q;
    .reg .u32 i, n;
    .reg .f32 x;
    .reg .pred out;
    ld.param.u64 p, [data];
    ld.param.u32 n, [count];
    mov.u32 i, %tid.x;
    setp.ge.u32 out, i, n;
    @out ret;
    mul.wide.u32 q, i, 4;
    add.u64 p, p, q;
    ld.global.f32 x, [p];
    add.f32 x, x, x;
    st.shared.f32 [pool + 65536], x;
    st.global.f32 [p], x;
    ret;
}
.visible .entry fault()
{
    .reg .u32 x;
    .reg .u64 p;
    mov.u64 p, 16;
    ld.global.u32 x, [p];
    st.global.u32 [p], x;
    ret;
}
)";

class Cuda : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = open_cuda();
        if (!opened) {
            std::string why = opened.error().at(0).message;
            EXPECT_TRUE(why.find("no CUDA driver") == 0 || why.find("no GPU") == 0 ||
                        why.find("the CUDA context is lost") == 0)
                << why;
            GTEST_SKIP() << why;
        }
        device = std::move(*opened);
    }
    KernelId find(const char* name) {
        auto module = device->load({Image::Kind::ptx, "test.ptx", kPtx});
        EXPECT_TRUE(module) << format(module.error());
        auto kernel = device->kernel(*module, name);
        EXPECT_TRUE(kernel) << format(kernel.error());
        return *kernel;
    }
    std::unique_ptr<Device> device;
};

TEST_F(Cuda, RunsAKernelWithLargeSharedMemory) {
    KernelId kernel = find("twice");
    auto params = device->params(kernel);
    ASSERT_TRUE(params);
    ASSERT_EQ(params->size(), 2u);
    EXPECT_EQ((*params)[1].offset, 8u);
    EXPECT_EQ((*params)[1].size, 4u);
    std::vector<float> values = {1, 2, 3, 4};
    Address data = *device->allocate(16);
    ASSERT_TRUE(device->copy_in(data, std::as_bytes(std::span(values))));
    Launch launch;
    launch.block = {32, 1, 1};
    launch.dynamic_shared_bytes = 65536 + 1024;
    launch.arguments = {Argument::of(data), Argument::of(uint32_t{3})};
    auto report = device->launch(kernel, launch);
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_GT(report->seconds, 0);
    ASSERT_TRUE(device->copy_out(std::as_writable_bytes(std::span(values)), data));
    EXPECT_EQ(values, (std::vector<float>{2, 4, 6, 4}));
    EXPECT_TRUE(device->release(data));
    EXPECT_FALSE(device->release(data));
}

TEST_F(Cuda, TimesLaunchesInARow) {
    KernelId kernel = find("twice");
    Address data = *device->allocate(16);
    ASSERT_TRUE(device->fill(data, 0, 16));
    Launch launch;
    launch.block = {32, 1, 1};
    launch.dynamic_shared_bytes = 65536 + 1024;
    launch.arguments = {Argument::of(data), Argument::of(uint32_t{3})};
    const auto seconds = device->time_launches(kernel, launch, 10);
    ASSERT_TRUE(seconds) << format(seconds.error());
    ASSERT_EQ(seconds->size(), 10u);
    for (const double each : *seconds) EXPECT_TRUE(each > 0 && each < 1e-3) << each;
    launch.block = {2048, 1, 1};
    EXPECT_FALSE(device->time_launches(kernel, launch, 10));
}

TEST_F(Cuda, NamesTheKernelsOfAModule) {
    auto module = device->load({Image::Kind::ptx, "test.ptx", kPtx});
    ASSERT_TRUE(module);
    EXPECT_EQ(device->kernels(*module)->size(), 2u);
    auto kernel = device->kernel(*module, "thrice");
    ASSERT_FALSE(kernel);
    EXPECT_NE(kernel.error()[0].message.find("test.ptx has no kernel thrice"), std::string::npos);
    EXPECT_NE(kernel.error()[0].message.find("twice"), std::string::npos);
}

TEST_F(Cuda, ShowsTheCompilersMessage) {
    auto module = device->load({Image::Kind::ptx, "bad.ptx", ".version 8.0\n.target sm_80\nnonsense\n"});
    ASSERT_FALSE(module);
    EXPECT_NE(module.error()[0].message.find("ptxas"), std::string::npos)
        << module.error()[0].message;
}

TEST_F(Cuda, RefusesWrongArguments) {
    auto report = device->launch(find("twice"), Launch{});
    ASSERT_FALSE(report);
    EXPECT_NE(report.error()[0].message.find("takes 2 arguments, 0 given"), std::string::npos);
}

TEST_F(Cuda, RefusesWhatIsOverALimit) {
    const KernelId kernel = find("fault");
    EXPECT_TRUE(device->check(kernel, {}));
    EXPECT_TRUE(device->check(kernel, {.dynamic_shared_bytes = device->info().max_shared_bytes}));
    EXPECT_FALSE(device->check(kernel, {.dynamic_shared_bytes = device->info().max_shared_bytes + 16}));
    EXPECT_FALSE(device->check(kernel, {.block = {1025, 1, 1}}));
    EXPECT_FALSE(device->check(kernel, {.grid = {0, 1, 1}}));
}

TEST_F(Cuda, EncodesATensorMap) {
    if (device->info().sm < 90) GTEST_SKIP() << "tensor maps need sm_90";
    Address data = *device->allocate(64 * 64 * 4);
    TensorMapTiled tiled;
    tiled.data_type = 7;  // float32
    tiled.address = data;
    tiled.sizes = {64, 64};
    tiled.strides = {256};
    tiled.box = {32, 8};
    tiled.element_strides = {1, 1};
    EXPECT_TRUE(device->encode_tensor_map(tiled));
    tiled.strides = {};
    EXPECT_FALSE(device->encode_tensor_map(tiled));
}

// The last one: a process that saw a fault can do no more on the GPU.
TEST_F(Cuda, FailsCleanlyAfterAFault) {
    auto report = device->launch(find("fault"), Launch{});
    ASSERT_FALSE(report);
    EXPECT_NE(report.error()[0].message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
    auto memory = device->allocate(16);
    ASSERT_FALSE(memory);
    EXPECT_NE(memory.error()[0].message.find("context is lost"), std::string::npos);
    // Nor does another device of this process work; that one is told, rather than crash.
    device.reset();
    const auto again = open_cuda();
    ASSERT_FALSE(again);
    EXPECT_NE(again.error()[0].message.find("a new process is needed; its first error: kernel fault"),
              std::string::npos);
}

}  // namespace
}  // namespace ww::device
