// SPDX-License-Identifier: Apache-2.0
// These run the real compilers; where a part is missing the test is skipped and says so.
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "toolchain/compiler_messages.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::toolchain {
namespace {

namespace fs = std::filesystem;

class CompileTest : public ToolchainTest {
  protected:
    void SetUp() override {
        for (const char* part : {"nvrtc", "headers", "ptxas"})
            if (find_part(part).origin == Origin::missing)
                GTEST_SKIP() << part << " is not on this machine";
        fresh_objects();
    }
    CompileRequest request(const std::string& source) {
        return {.source = source, .name = (folder_ / "k.cu").string(), .target = "sm_90a"};
    }
};

constexpr const char* kScale =
    "#include <cuda_fp16.h>\n"
    "#include <cuda_bf16.h>\n"
    "#include \"factor.cuh\"\n"
    "extern \"C\" __global__ void scale(float* p) {\n"
    "    p[threadIdx.x] = p[threadIdx.x] * FACTOR + __half2float(__float2half(2.0f)) * GAIN;\n"
    "}\n";

TEST_F(CompileTest, CompilesAssemblesAndCaches) {
    put("factor.cuh", "#define FACTOR 3.0f\n");
    CompileRequest scale = request(kScale);
    scale.defines = {{"GAIN", "1.0f"}};
    const auto first = compile_ptx(scale);
    ASSERT_TRUE(first) << format(first.error());
    EXPECT_FALSE(first->cached);
    EXPECT_NE(first->ptx.find(".visible .entry scale("), std::string::npos);
    EXPECT_NE(first->ptx.find(".target sm_90a"), std::string::npos);
    EXPECT_NE(first->ptx.find("k.cu\""), std::string::npos) << "line info names the source";
    const auto second = compile_ptx(scale);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->cached);
    EXPECT_EQ(second->ptx, first->ptx);

    const auto cubin = assemble(first->ptx, "sm_90a", "k.ptx");
    ASSERT_TRUE(cubin) << format(cubin.error());
    EXPECT_EQ(cubin->cubin.substr(0, 4),
              "\x7f"
              "ELF");
    EXPECT_NE(cubin->log.find("registers"), std::string::npos);
    EXPECT_TRUE(assemble(first->ptx, "sm_90a", "k.ptx")->cached);
}

TEST_F(CompileTest, MakesACubinByNvrtcAlone) {
    CompileRequest plain = request("extern \"C\" __global__ void set(float* p) { p[0] = GAIN; }\n");
    plain.defines = {{"GAIN", "1.0f"}};
    plain.cuda_headers = false;
    set("WARPWRIGHT_PTXAS", "/nowhere");
    set("WARPWRIGHT_CUDA_INCLUDE", "/nowhere");
    const auto first = compile_cubin(plain);
    ASSERT_TRUE(first) << format(first.error());
    EXPECT_EQ(first->cubin.substr(0, 4),
              "\x7f"
              "ELF");
    EXPECT_FALSE(first->cached);
    const auto second = compile_cubin(plain);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->cached);
    EXPECT_EQ(second->cubin, first->cubin);
    EXPECT_FALSE(compile_ptx(plain)->cached) << "another product, another entry";
    plain.target = "sm_120a";
    const auto other = compile_cubin(plain);
    ASSERT_TRUE(other);
    EXPECT_NE(other->cubin, first->cubin);
}

TEST_F(CompileTest, EveryInputIsPartOfTheKey) {
    put("factor.cuh", "#define FACTOR 3.0f\n");
    CompileRequest scale = request(kScale);
    scale.defines = {{"GAIN", "1.0f"}};
    const std::string ptx = compile_ptx(scale).value().ptx;
    put("factor.cuh", "#define FACTOR 5.0f\n");  // a header
    auto changed = compile_ptx(scale);
    ASSERT_TRUE(changed);
    EXPECT_FALSE(changed->cached);
    EXPECT_NE(changed->ptx, ptx);
    scale.defines = {{"GAIN", "7.0f"}};  // a define
    EXPECT_FALSE(compile_ptx(scale)->cached);
    scale.target = "sm_80";  // the target
    changed = compile_ptx(scale);
    EXPECT_FALSE(changed->cached);
    EXPECT_NE(changed->ptx.find(".target sm_80"), std::string::npos);
    scale.options = {"--fmad=false"};  // an option
    EXPECT_FALSE(compile_ptx(scale)->cached);
    scale.line_info = false;
    changed = compile_ptx(scale);
    EXPECT_FALSE(changed->cached);
    EXPECT_EQ(changed->ptx.find(".loc"), std::string::npos);
    scale.trial = 1;
    EXPECT_FALSE(compile_ptx(scale)->cached);
    EXPECT_TRUE(compile_ptx(scale)->cached);
}

TEST_F(CompileTest, AHeaderThatAppearsIsSeen) {
    const CompileRequest probing = request(
        "#if __has_include(\"late.cuh\")\nextern \"C\" __global__ void late() {}\n#else\n"
        "extern \"C\" __global__ void early() {}\n#endif\n");
    EXPECT_NE(compile_ptx(probing).value().ptx.find("early"), std::string::npos);
    put("late.cuh", "");
    EXPECT_NE(compile_ptx(probing).value().ptx.find("late"), std::string::npos);
}

TEST_F(CompileTest, ErrorsCarryFileLineAndColumn) {
    put("bad.cuh", "\ninline __device__ int f() { return zz; }\n");
    const auto failed =
        compile_ptx(request("#include \"bad.cuh\"\n__global__ void k() {\n    foo();\n}\n"));
    ASSERT_FALSE(failed);
    const Diagnostics& messages = failed.error();
    ASSERT_EQ(messages.size(), 2u) << format(messages);
    EXPECT_EQ(fs::path(messages[0].file).filename(), "bad.cuh");
    EXPECT_EQ(messages[0].line, 2);
    EXPECT_EQ(fs::path(messages[1].file).filename(), "k.cu");
    EXPECT_EQ(messages[1].line, 3);
    EXPECT_EQ(messages[1].col, 5);
    EXPECT_EQ(messages[1].message, "identifier \"foo\" is undefined");
}

TEST_F(CompileTest, AWrongTargetSaysWhichAreKnown) {
    CompileRequest odd = request("__global__ void k() {}\n");
    odd.target = "sm_91";
    const auto failed = compile_ptx(odd);
    ASSERT_FALSE(failed);
    EXPECT_NE(format(failed.error()).find("sm_90"), std::string::npos);
    odd.target = "hopper";
    EXPECT_NE(format(compile_ptx(odd).error()).find("'hopper' is no compile target"),
              std::string::npos);
}

TEST_F(CompileTest, AMissingIncludeFolderIsAnError) {
    CompileRequest odd = request("__global__ void k() {}\n");
    odd.include_dirs = {folder_ / "nowhere"};
    EXPECT_FALSE(compile_ptx(odd));
}

TEST_F(CompileTest, AssemblerErrorsPointIntoThePtx) {
    const auto failed = assemble(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
        "    frob.u32 %r1, %r2;\n    ret;\n}\n",
        "sm_90a", "my.ptx");
    ASSERT_FALSE(failed);
    ASSERT_FALSE(failed.error().empty());
    EXPECT_EQ(failed.error()[0].file, "my.ptx");
    EXPECT_EQ(failed.error()[0].line, 5);
    EXPECT_EQ(failed.error()[0].source_line, "    frob.u32 %r1, %r2;");
}

TEST_F(CompileTest, Disassembles) {
    if (find_part("nvdisasm").origin == Origin::missing)
        GTEST_SKIP() << "nvdisasm is not on this machine";
    const auto ptx = compile_ptx(request("extern \"C\" __global__ void k(int* p) { *p = 1; }\n"));
    ASSERT_TRUE(ptx);
    const auto cubin = assemble(ptx->ptx, "sm_90a", "k.ptx");
    ASSERT_TRUE(cubin);
    const auto sass = disassemble(cubin->cubin, "k.cubin");
    ASSERT_TRUE(sass) << format(sass.error());
    EXPECT_NE(sass->find("EXIT"), std::string::npos);
    EXPECT_FALSE(disassemble("no cubin", "bad.cubin"));
}

TEST(CompilerMessages, KeepWhatTheyDoNotKnow) {
    const Diagnostics nvrtc =
        parse_nvrtc_log("something odd\n/a (b)/k.cu(7): catastrophic error: x\n");
    ASSERT_EQ(nvrtc.size(), 2u);
    EXPECT_EQ(nvrtc[0].message, "something odd");
    EXPECT_EQ(nvrtc[1].file, "/a (b)/k.cu");
    EXPECT_EQ(nvrtc[1].line, 7);
    EXPECT_EQ(nvrtc[1].severity, Severity::error);
    const Diagnostics ptxas = parse_ptxas_log(
        "ptxas /tmp/in.ptx, line 2; fatal   : no\nptxas fatal   : Ptx assembly aborted due to "
        "errors\nodd\n",
        "k.ptx", "one\n\ttwo\n");
    ASSERT_EQ(ptxas.size(), 2u);
    EXPECT_EQ(ptxas[0].line, 2);
    EXPECT_EQ(ptxas[0].col, 2);
    EXPECT_EQ(ptxas[1].message, "odd");
}

}  // namespace
}  // namespace ww::toolchain
