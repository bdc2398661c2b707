// SPDX-License-Identifier: Apache-2.0
// cubin::read on what ptxas makes, against what ptxas -v and cuobjdump -res-usage say of the same.
// links: toolchain
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/files.hpp"
#include "cubin/cubin.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::cubin {
namespace {

struct Told {  // of one kernel
    int registers = 0, barriers = 0;
    uint64_t shared = 0, frame = 0, stack = 0, local = 0;
    std::map<int, uint64_t> constant;
    bool stack_known = true;
};

uint64_t number(const std::string& text, const std::string& pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? std::stoull(match[1]) : 0;
}

// ptxas -v, by kernel.
std::map<std::string, Told> told_by_ptxas(const std::string& log) {
    std::map<std::string, Told> all;
    std::string kernel;
    bool frame_seen = true;
    for (size_t at = 0; at < log.size(); at = log.find('\n', at) + 1) {
        const std::string line = log.substr(at, log.find('\n', at) - at);
        std::smatch match;
        if (std::regex_search(line, match, std::regex("Compiling entry function '([^']+)'"))) {
            kernel = match[1];
            frame_seen = false;
        } else if (!frame_seen && line.find("bytes stack frame") != std::string::npos) {
            all[kernel].frame = number(line, "(\\d+) bytes stack frame");
            frame_seen = true;
        } else if (line.find(": Used ") != std::string::npos) {
            all[kernel].registers = static_cast<int>(number(line, "Used (\\d+) registers"));
            all[kernel].barriers = static_cast<int>(number(line, "used (\\d+) barriers"));
            all[kernel].shared = number(line, "(\\d+) bytes smem");
            all[kernel].stack = number(line, "(\\d+) bytes cumulative stack size");
        }
        if (log.find('\n', at) == std::string::npos) break;
    }
    return all;
}

// cuobjdump -res-usage, by function.
std::map<std::string, Told> told_by_cuobjdump(const std::string& text) {
    std::map<std::string, Told> all;
    const std::regex function("Function ([^\\n]+):\\n\\s*(REG:[^\\n]+)"),
        bank("CONSTANT\\[(\\d+)\\]:(\\d+)");
    for (std::sregex_iterator it(text.begin(), text.end(), function), end; it != end; ++it) {
        const std::string line = (*it)[2];
        Told& told = all[(*it)[1]];
        told.registers = static_cast<int>(number(line, "REG:(\\d+)"));
        told.shared = number(line, "SHARED:(\\d+)");
        told.local = number(line, "LOCAL:(\\d+)");
        told.stack = number(line, "STACK:(\\d+)");
        told.stack_known = line.find("STACK:UNKNOWN") == std::string::npos;
        for (std::sregex_iterator b(line.begin(), line.end(), bank); b != end; ++b)
            told.constant[std::stoi((*b)[1])] = std::stoull((*b)[2]);
    }
    return all;
}

// A kernel that keeps n values alive over a barrier.
std::string many_values(const std::string& name, const std::string& bounds, int n) {
    std::string body;
    for (int i = 0; i < n; ++i) body += fmt::format("  ld.global.f32 %f{}, [%rd1+{}];\n", i, 4 * i);
    body += "  bar.sync 0;\n";
    for (int i = 0; i < n; ++i)
        body += fmt::format("  fma.rn.f32 %f{0}, %f{0}, %f{1}, %f{2};\n", i, (i * 7 + 3) % n,
                            (i + 1) % n);
    for (int i = 0; i < n; ++i) body += fmt::format("  st.global.f32 [%rd1+{}], %f{};\n", 4 * i, i);
    return fmt::format(
        ".visible .entry {}(.param .u64 p) {}\n{{\n  .reg .f32 %f<{}>;\n"
        "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [p];\n{}  ret;\n}}\n",
        name, bounds, n, body);
}

std::string kernels_text(const std::string& target, bool dynamic_shared) {
    std::string text = ".version 8.7\n.target " + target + "\n.address_size 64\n";
    if (dynamic_shared) text += ".extern .shared .align 128 .b8 dynamic[];\n";
    text += ".const .align 4 .b8 table[96];\n.global .align 4 .b8 counter[8];\n";
    text += many_values("plain", "", 20) + many_values("spills", ".maxnreg 24", 80) +
            many_values("bounded", ".maxntid 128, 2, 1 .minnctapersm 3", 60) +
            many_values("required", ".reqntid 64, 2, 2", 8);
    text += R"(
.visible .entry shared_and_barriers(.param .u64 p)
{
  .shared .align 4 .b8 buffer[4004];
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; st.shared.u32 [buffer+4000], %r1;
  bar.sync 0; bar.sync 6, 64; ld.shared.u32 %r2, [buffer+4000];)";
    if (dynamic_shared) text += " ld.shared.u32 %r3, [dynamic]; add.u32 %r2, %r2, %r3;";
    text += R"(
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry stack(.param .u64 p, .param .u32 n)
{
  .local .align 8 .b8 array[264];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u64 %rd2, array; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;
  st.local.u32 [%rd2], %r1; ld.local.u32 %r2, [array+8]; st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry big_parameter(.param .align 64 .b8 map[128], .param .u64 p, .param .u16 h)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [map+124]; st.global.u32 [%rd1], %r1;
  ret;
}
.func (.param .b32 out) fibonacci(.param .b32 in);
.func (.param .b32 out) fibonacci(.param .b32 in)
{
  .reg .pred %p1; .reg .b32 %r<6>;
  .param .b32 a; .param .b32 b;
  ld.param.u32 %r1, [in]; setp.lt.u32 %p1, %r1, 2; mov.u32 %r5, %r1;
  @%p1 bra DONE;
  add.u32 %r2, %r1, -1; st.param.b32 [a], %r2; call (b), fibonacci, (a); ld.param.b32 %r3, [b];
  add.u32 %r2, %r1, -2; st.param.b32 [a], %r2; call (b), fibonacci, (a); ld.param.b32 %r4, [b];
  add.u32 %r5, %r3, %r4;
DONE:
  st.param.b32 [out], %r5;
  ret;
}
.visible .entry recursion(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>; .param .b32 a; .param .b32 b;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.param.b32 [a], %r1;
  call (b), fibonacci, (a); ld.param.b32 %r2, [b]; st.global.u32 [%rd1], %r2;
  ret;
}
)";
    if (target != "sm_80")
        text += many_values("cluster", ".explicitcluster .reqnctapercluster 2, 2, 1", 4) +
                many_values("cluster_rank", ".maxntid 96 .maxclusterrank 8", 4);
    return text;
}

void compare(const Cubin& cubin, const std::map<std::string, Told>& ptxas,
             const std::map<std::string, Told>& cuobjdump) {
    for (const auto& [name, told] : ptxas) {
        const Kernel* kernel = cubin.find(name);
        ASSERT_TRUE(kernel) << name;
        EXPECT_TRUE(kernel->entry);
        EXPECT_EQ(kernel->registers, told.registers) << name;
        EXPECT_EQ(kernel->barriers, told.barriers) << name;
        EXPECT_EQ(kernel->static_shared_bytes, told.shared) << name;
        if (cubin.relocatable) continue;  // stacks are known after linking
        EXPECT_EQ(kernel->frame_bytes, told.frame) << name;
        EXPECT_EQ(kernel->stack_bytes, told.stack) << name;
    }
    for (const auto& [name, told] : cuobjdump) {
        const Kernel* kernel = cubin.find(name);
        ASSERT_TRUE(kernel) << name;
        EXPECT_EQ(kernel->static_shared_bytes + kernel->reserved_shared_bytes, told.shared) << name;
        EXPECT_EQ(kernel->local_bytes, told.local) << name;
        EXPECT_EQ(kernel->stack_bytes, told.stack) << name;
        EXPECT_EQ(kernel->stack_known, told.stack_known) << name;
        EXPECT_EQ(kernel->constant_bytes, told.constant) << name;
        if (kernel->entry) {
            EXPECT_EQ(kernel->registers, told.registers) << name;
        }
    }
}

std::map<std::string, Told> ask_cuobjdump(const std::string& bytes) {
    const auto found = toolchain::find_part("cuobjdump");
    if (found.origin == toolchain::Origin::missing) return {};
    const auto folder = toolchain::TemporaryFolder::make().value();
    const auto path = folder.path() / "x.cubin";
    EXPECT_TRUE(write_file(path, bytes));
    const auto run = toolchain::run_process({.argv = {found.path, "-res-usage", path}}).value();
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return told_by_cuobjdump(run.out);
}

class PtxasTest : public ::testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (toolchain::find_part("ptxas").origin == toolchain::Origin::missing)
            GTEST_SKIP() << "ptxas is not on this machine";
    }
    std::string assemble(bool dynamic_shared, std::vector<std::string> options) {
        const auto assembled =
            toolchain::assemble(kernels_text(GetParam(), dynamic_shared), GetParam(), "k.ptx",
                                {.options = std::move(options)});
        EXPECT_TRUE(assembled) << format(assembled.error());
        if (!assembled) return {};
        log_ = assembled->log;
        return assembled->cubin;
    }
    std::string log_;
};

TEST_P(PtxasTest, EveryNumberIsPtxasAndCuobjdumps) {
    for (const bool dynamic_shared : {false, true})
        for (const std::string option : {"-O3", "-O0", "-c"}) {
            SCOPED_TRACE(option + (dynamic_shared ? " dynamic" : ""));
            const std::string bytes = assemble(dynamic_shared, {option});
            const auto cubin = read(bytes, "k.cubin");
            ASSERT_TRUE(cubin) << format(cubin.error());
            EXPECT_EQ(cubin->target, GetParam());
            EXPECT_EQ(cubin->relocatable, option == "-c");
            const auto ptxas = told_by_ptxas(log_);
            EXPECT_EQ(ptxas.size(), GetParam() == "sm_80" ? 8u : 10u);
            compare(*cubin, ptxas, ask_cuobjdump(bytes));
        }
}

TEST_P(PtxasTest, BoundsParametersFunctionsAndText) {
    const std::string bytes = assemble(false, {});
    const auto cubin = read(bytes, "k.cubin");
    ASSERT_TRUE(cubin) << format(cubin.error());
    EXPECT_GT(cubin->find("spills")->frame_bytes, 0u);
    EXPECT_EQ(cubin->find("spills")->max_registers, 24);
    EXPECT_EQ(cubin->find("shared_and_barriers")->static_shared_bytes, 4004u);
    EXPECT_EQ(cubin->find("shared_and_barriers")->barriers, 7);
    const Kernel& bounded = *cubin->find("bounded");
    EXPECT_EQ(bounded.max_block, (std::array<int, 3>{128, 2, 1}));
    EXPECT_EQ(bounded.max_threads, 256);
    EXPECT_EQ(bounded.max_registers, 80);  // 3 blocks of 256 threads share 65536
    EXPECT_EQ(cubin->find("required")->required_block, (std::array<int, 3>{64, 2, 2}));
    EXPECT_EQ(cubin->find("required")->max_threads, 256);
    const Kernel& big = *cubin->find("big_parameter");
    ASSERT_EQ(big.parameters.size(), 3u);
    EXPECT_EQ(big.parameters[0].bytes, 128u);
    EXPECT_EQ((big.parameter_base + big.parameters[0].offset) % 64, 0u);
    EXPECT_EQ(big.parameters[1].bytes, 8u);
    EXPECT_EQ(big.parameters[2].offset, big.parameters[1].offset + 8);
    EXPECT_EQ(big.parameters[2].bytes, 2u);
    if (GetParam() != "sm_80") {
        EXPECT_EQ(cubin->find("cluster")->cluster_size, (std::array<int, 3>{2, 2, 1}));
        EXPECT_TRUE(cubin->find("cluster")->explicit_cluster);
        EXPECT_EQ(cubin->find("cluster_rank")->max_cluster_rank, 8);
        EXPECT_EQ(cubin->find("cluster_rank")->max_threads, 96);
    }
    const Kernel* function = cubin->find("$recursion$fibonacci");
    ASSERT_TRUE(function);
    EXPECT_FALSE(function->entry);
    EXPECT_EQ(function->inside, "recursion");
    EXPECT_EQ(cubin->find("plain")->code_bytes % 128, 0u);
    EXPECT_NE(cubin->ptx.find(".entry shared_and_barriers"), std::string::npos);
    EXPECT_EQ(cubin->constant_bytes.at(3), 96u);
}

INSTANTIATE_TEST_SUITE_P(Targets, PtxasTest,
                         ::testing::Values("sm_80", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ww::cubin
