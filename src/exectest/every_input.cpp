// SPDX-License-Identifier: Apache-2.0
// Each thread hashes the results of 256 operands, so that 64 MiB stand for 2^32 results; results
// themselves are only fetched from blocks whose hashes differ.
#include "exectest/every_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "device/scoped_memory.hpp"

namespace ww::exectest {
namespace {

using device::Device;

constexpr uint32_t kThreads = 256, kOperandsOfThread = 256;
static_assert(uint64_t{kThreads} * kOperandsOfThread == kOperandsOfBlock);
constexpr uint32_t kAllBlocks = 1 << 16;
constexpr size_t kMostCounted = 64;  // blocks whose differing results are counted

const std::vector<std::string> kInstructions{
    "ex2.approx.f32",    "ex2.approx.ftz.f32",   "lg2.approx.f32",  "lg2.approx.ftz.f32",  "rcp.approx.f32",
    "rcp.approx.ftz.f32", "rsqrt.approx.f32",    "rsqrt.approx.ftz.f32", "sqrt.approx.f32", "sqrt.approx.ftz.f32",
    "sin.approx.f32",    "sin.approx.ftz.f32",   "cos.approx.f32",  "cos.approx.ftz.f32",  "tanh.approx.f32",
    "ex2.approx.f16x2",  "ex2.approx.ftz.bf16x2", "tanh.approx.f16x2", "tanh.approx.bf16x2"};

// hashes: out[thread]. results: out[256 * thread + i].
std::string ptx_of(const std::string& instruction) {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry hashes(.param .u32 first, .param .u64 out)
{{
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    .reg .pred %p;
    ld.param.u32 %r1, [first];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r2, %r2, {threads}, %r3;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    mad.lo.u32 %r1, %r2, {operands}, %r1;
    mov.u32 %r4, 0;
    mov.u32 %r6, 0;
again:
    {instruction} %r5, %r1;
    mad.lo.u32 %r6, %r6, 0x9e3779b1, %r5;
    shr.u32 %r7, %r6, 15;
    xor.b32 %r6, %r6, %r7;
    add.u32 %r1, %r1, 1;
    add.u32 %r4, %r4, 1;
    setp.ne.u32 %p, %r4, {operands};
    @%p bra again;
    st.global.b32 [%rd2], %r6;
    ret;
}}
.visible .entry results(.param .u32 first, .param .u64 out)
{{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [first];
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r2, %r2, {threads}, %r3;
    add.u32 %r1, %r1, %r2;
    {instruction} %r4, %r1;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    st.global.b32 [%rd2], %r4;
    ret;
}}
)",
                       fmt::arg("threads", kThreads), fmt::arg("operands", kOperandsOfThread),
                       fmt::arg("instruction", instruction));
}

// The instruction on one device.
class Runner {
  public:
    explicit Runner(const EveryInputSide& side) : side_(side), memory_(side.device) {}
    ~Runner() {
        // What fails here has been told by a launch.
        if (loaded_) (void)side_.device.unload(module_).has_value();
    }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    Status load(uint32_t blocks) {
        const uint64_t words = std::max<uint64_t>(uint64_t{blocks} * kThreads, kOperandsOfBlock);
        WW_TRY(out, memory_.allocate("out", words * sizeof(uint32_t)));
        out_ = out;
        WW_TRY(module, side_.device.load({device::Image::Kind::ptx, side_.instruction, ptx_of(side_.instruction)}));
        module_ = module;
        loaded_ = true;
        return ok();
    }
    Result<std::vector<uint32_t>> hashes(uint32_t first, uint32_t blocks) { return run("hashes", first, blocks); }
    Result<std::vector<uint32_t>> results(uint32_t first) {
        return run("results", first, static_cast<uint32_t>(kOperandsOfBlock / kThreads));
    }

  private:
    Result<std::vector<uint32_t>> run(const char* name, uint32_t first, uint32_t blocks) {
        WW_TRY(kernel, side_.device.kernel(module_, name));
        device::Launch launch;
        launch.grid.x = blocks;
        launch.block.x = kThreads;
        launch.arguments = {device::Argument::of(first), device::Argument::of(out_)};
        WW_TRY(report, side_.device.launch(kernel, launch));
        std::vector<uint32_t> out(size_t{blocks} * kThreads);
        WW_TRY(copied, side_.device.copy_out(std::as_writable_bytes(std::span(out)), out_));
        (void)report, (void)copied;
        return out;
    }

    const EveryInputSide& side_;
    device::ScopedMemory memory_;
    device::Address out_ = 0;
    device::ModuleId module_ = 0;
    bool loaded_ = false;
};

std::vector<uint32_t> differing_blocks(const std::vector<uint32_t>& want, const std::vector<uint32_t>& got) {
    std::vector<uint32_t> out;
    for (size_t thread = 0; thread < want.size(); ++thread) {
        const auto block = static_cast<uint32_t>(thread / kThreads);
        if (want[thread] != got[thread] && (out.empty() || out.back() != block)) out.push_back(block);
    }
    return out;
}

}  // namespace

Result<EveryInput> compare_operands(const EveryInputSide& right, const EveryInputSide& ours, uint32_t first,
                                    uint32_t blocks) {
    EveryInput found;
    found.instruction = ours.instruction;
    found.results = blocks * kOperandsOfBlock;
    Runner on_right(right), on_ours(ours);
    WW_TRY(right_loaded, on_right.load(blocks));
    WW_TRY(ours_loaded, on_ours.load(blocks));
    (void)right_loaded, (void)ours_loaded;
    WW_TRY(want, on_right.hashes(first, blocks));
    WW_TRY(got, on_ours.hashes(first, blocks));
    const std::vector<uint32_t> differing = differing_blocks(want, got);
    for (size_t k = 0; k < differing.size(); ++k) {
        if (k == kMostCounted) {
            found.uncounted = (differing.size() - k) * kOperandsOfBlock;
            break;
        }
        const auto start = static_cast<uint32_t>(first + differing[k] * kOperandsOfBlock);
        WW_TRY(wanted, on_right.results(start));
        WW_TRY(gotten, on_ours.results(start));
        for (uint32_t i = 0; i < kOperandsOfBlock; ++i) {
            if (wanted[i] == gotten[i]) continue;
            if (found.mismatches++ == 0)
                found.first = fmt::format("operand {:08x}: {:08x}, emulated {:08x}", start + i, wanted[i], gotten[i]);
        }
    }
    return found;
}

Result<std::vector<EveryInput>> try_every_input(Device& gpu, const std::function<void(size_t, size_t)>& progress) {
    const auto emulator = device::open_emulated();
    std::vector<EveryInput> out;
    for (const std::string& instruction : kInstructions) {
        WW_TRY(found, compare_operands({gpu, instruction}, {*emulator, instruction}, 0, kAllBlocks));
        out.push_back(found);
        if (progress) progress(out.size(), kInstructions.size());
    }
    return out;
}

std::string to_markdown(const std::vector<EveryInput>& found) {
    std::string out =
        "\n## Every operand\n\nInstructions with all 2^32 operands (`--every-input`), NaN payloads included:\n\n"
        "| instruction | results | mismatches | the first |\n|---|---:|---:|---|\n";
    for (const EveryInput& each : found)
        out += fmt::format("| `{}` | {} | {}{} | {} |\n", each.instruction, each.results, each.mismatches,
                           each.uncounted == 0 ? "" : fmt::format(", {} not counted", each.uncounted), each.first);
    return out;
}

}  // namespace ww::exectest
