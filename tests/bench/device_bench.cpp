// SPDX-License-Identifier: Apache-2.0
// Rates of the emulator on one core, memory checks on: lane-instructions of a softmax-like loop,
// multiply-accumulates of mma.sync. docs/performance.md quotes them.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "device/device.hpp"

namespace {

using namespace ww::device;

constexpr uint32_t kBlocks = 4, kThreads = 128, kTrips = 500;

// Each thread goes over its column: load, scale, maximum, exponential, sum, shuffle, store.
const char* kSoftmaxLoop = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 data, .param .u32 trips) {
  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .f32 %f<24>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [trips];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.f32 %f1, 0fFF800000; mov.f32 %f2, 0f00000000; mov.u32 %r6, 0;
LOOP:
  ld.global.f32 %f3, [%rd3];
  mul.f32 %f4, %f3, 0f3FB8AA3B;
  max.f32 %f5, %f1, %f4;
  shfl.sync.bfly.b32 %r7|%p1, %r6, 1, 31, -1;
  sub.f32 %f6, %f4, %f5;
  add.f32 %f7, %f6, 0f4B400000;
  mov.b32 %r8, %f7;
  sub.f32 %f8, %f7, 0f4B400000;
  sub.f32 %f9, %f6, %f8;
  fma.rn.f32 %f10, %f9, 0f3C1D9C00, 0f3D635847;
  fma.rn.f32 %f11, %f10, %f9, 0f3E75FDF0;
  fma.rn.f32 %f12, %f11, %f9, 0f3F317218;
  fma.rn.f32 %f13, %f12, %f9, 0f3F800000;
  shl.b32 %r9, %r8, 23;
  mov.b32 %r10, %f13;
  add.s32 %r11, %r10, %r9;
  mov.b32 %f14, %r11;
  sub.f32 %f15, %f1, %f5;
  fma.rn.f32 %f2, %f2, %f15, %f14;
  mov.f32 %f1, %f5;
  st.global.f32 [%rd3], %f3;
  add.s32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, %r1;
  @%p2 bra LOOP;
  st.global.f32 [%rd3], %f2;
  ret;
})";

// What an FP4 attention does between its two products: matrices from shared memory, maximum over a
// quad, exponentials, sums, scales in e4m3, and codes in e2m1.
const char* kQuantizeLoop = R"(.version 8.8
.target sm_120a
.address_size 64
.visible .entry loop(.param .u64 data, .param .u32 trips) {
  .reg .b64 %rd<4>; .reg .b32 %r<24>; .reg .f32 %f<32>; .reg .b16 %h<6>; .reg .b8 %c<6>; .reg .pred %p<3>;
  .shared .align 16 .b8 tile[2048];
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [trips];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r3, %r3, %r4, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r3, tile;
  shl.b32 %r4, %r2, 4;
  add.s32 %r5, %r3, %r4;
  mov.u32 %r6, 0;
  mov.f32 %f1, 0f00000000;
  mad.lo.s32 %r7, %r2, 40503, 99991;
  and.b32 %r7, %r7, 0x007fffff; or.b32 %r7, %r7, 0x3f800000;
  st.shared.v4.b32 [%r5], {%r7, %r7, %r7, %r7};
  bar.sync 0;
LOOP:
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r5];
  mov.b32 %f2, %r8; mov.b32 %f3, %r9; mov.b32 %f4, %r10; mov.b32 %f5, %r11;
  max.f32 %f6, %f2, %f3;
  max.f32 %f7, %f4, %f5;
  max.f32 %f8, %f6, %f7;
  mov.b32 %r12, %f8;
  shfl.sync.bfly.b32 %r13|%p1, %r12, 1, 31, -1;
  mov.b32 %f9, %r13;
  max.f32 %f9, %f8, %f9;
  fma.rn.f32 %f10, %f2, 0f3FB8AA3B, %f9;
  fma.rn.f32 %f11, %f3, 0f3FB8AA3B, %f9;
  fma.rn.f32 %f12, %f4, 0f3FB8AA3B, %f9;
  fma.rn.f32 %f13, %f5, 0f3FB8AA3B, %f9;
  ex2.approx.ftz.f32 %f14, %f10;
  ex2.approx.ftz.f32 %f15, %f11;
  ex2.approx.ftz.f32 %f16, %f12;
  ex2.approx.ftz.f32 %f17, %f13;
  add.f32 %f1, %f1, %f14;
  add.f32 %f1, %f1, %f15;
  add.f32 %f1, %f1, %f16;
  add.f32 %f1, %f1, %f17;
  cvt.rn.satfinite.e4m3x2.f32 %h1, %f15, %f14;
  cvt.rn.f16x2.e4m3x2 %r14, %h1;
  rcp.approx.ftz.f32 %f18, %f9;
  mul.f32 %f19, %f14, %f18;
  mul.f32 %f20, %f15, %f18;
  mul.f32 %f21, %f16, %f18;
  mul.f32 %f22, %f17, %f18;
  cvt.rn.satfinite.e2m1x2.f32 %c1, %f20, %f19;
  cvt.rn.satfinite.e2m1x2.f32 %c2, %f22, %f21;
  mov.b32 %r15, {%c1, %c2, %c1, %c2};
  prmt.b32 %r16, %r15, %r14, 0x5410;
  xor.b32 %r17, %r16, %r12;
  add.s32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, %r1;
  @%p2 bra LOOP;
  st.global.f32 [%rd3], %f1;
  st.global.b32 [%rd3], %r17;
  ret;
})";

// %rd1: the thread's own place in data.
const char* kStoreOwn = "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mul.lo.u32 %r1, %r1, %r2; mov.u32 %r2, %tid.x; add.u32 %r1, %r1, %r2;\n"
                        "  mul.wide.u32 %rd2, %r1, 4; ld.param.u64 %rd1, [data]; add.u64 %rd1, %rd1, %rd2;\n";

std::string mma_loop(const std::string& target, const std::string& instruction, int a, int b, const std::string& tail) {
    std::string text = ".version 8.8\n.target " + target + "\n.address_size 64\n.visible .entry loop(.param .u64 data, .param .u32 trips) {\n"
        "  .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .b32 %a<8>, %b<8>; .reg .f32 %f<4>; .reg .pred %p1; .reg .b32 %s<2>; .reg .b16 %h<2>;\n"
        "  ld.param.u32 %r1, [trips]; mov.u32 %r2, 0; mov.u32 %s0, 0x38383838; mov.u32 %s1, 0x38383838; mov.b16 %h0, 0; mov.b16 %h1, 0;\n";
    for (int i = 0; i < 8; ++i) text += "  mov.u32 %a" + std::to_string(i) + ", %tid.x; mad.lo.s32 %a" + std::to_string(i) + ", %a" + std::to_string(i) + ", 40503, 1048576" + std::to_string(i) + ";\n";
    for (int i = 0; i < 8; ++i) text += "  mad.lo.s32 %b" + std::to_string(i) + ", %a" + std::to_string(i) + ", 40503, 99991;\n";
    // Both signs, exponents over a factor of 16: also fine as any pattern of e2m1 codes.
    for (const char* name : {"a", "b"})
        for (int i = 0; i < 8; ++i) {
            const std::string reg = std::string("%") + name + std::to_string(i);
            text += "  and.b32 " + reg + ", " + reg + ", 0x81ff81ff; or.b32 " + reg + ", " + reg + ", 0x3e003e00;\n";
        }
    for (int i = 0; i < 4; ++i) text += "  mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
    const auto list = [](const char* name, int n) {
        std::string out = "{";
        for (int i = 0; i < n; ++i) out += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
        return out + "}";
    };
    text += "LOOP:\n";
    for (int i = 0; i < 8; ++i) text += "  " + instruction + " " + list("f", 4) + ", " + list("a", a) + ", " + list("b", b) + ", " + list("f", 4) + tail + ";\n";
    text += "  add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;\n" +
        std::string(kStoreOwn) + "  st.global.f32 [%rd1], %f0; ret;\n}\n";
    return text;
}

// Four products of m64n256 a trip, A and B from shared memory with a 128-byte swizzle, one group.
std::string wgmma_loop(const std::string& types, int element_bytes, const std::string& tail) {
    std::string d = "{";
    for (int i = 0; i < 128; ++i) d += (i ? ", %d" : "%d") + std::to_string(i);
    d += "}";
    std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry loop(.param .u64 data, .param .u32 trips) {\n"
        "  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .f32 %d<128>; .reg .pred %p1;\n  .shared .align 1024 .b8 tile[40960];\n"
        "  ld.param.u32 %r1, [trips]; mov.u32 %r2, 0; mov.u32 %r3, tile; mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2;\n"
        "FILL:\n  mad.lo.u32 %r6, %r5, 40503, 99991; and.b32 %r6, %r6, " +
        std::string(element_bytes == 1 ? "0x87878787; or.b32 %r6, %r6, 0x30303030;" : "0x81ff81ff; or.b32 %r6, %r6, 0x3e003e00;") + "\n"
        "  add.u32 %r7, %r3, %r5; st.shared.b32 [%r7], %r6; add.u32 %r5, %r5, 512; setp.lt.u32 %p1, %r5, 40960; @%p1 bra FILL;\n"
        "  fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r3, %r3, 4; cvt.u64.u32 %rd1, %r3; or.b64 %rd1, %rd1, 0x4000004000000000; add.u64 %rd2, %rd1, 512;\n";
    for (int i = 0; i < 128; ++i) text += "  mov.f32 %d" + std::to_string(i) + ", 0f00000000;\n";
    text += "LOOP:\n  wgmma.fence.sync.aligned;\n";
    for (int step = 0; step < 4; ++step)
        text += "  wgmma.mma_async.sync.aligned.m64n256k" + std::to_string(32 / element_bytes) + ".f32." + types + " " + d + ", %rd1, %rd2, 1, 1, 1" + tail + ";\n";
    return text + "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
        "  add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;\n" +
           std::string(kStoreOwn) + "  st.global.f32 [%rd1], %d0; ret;\n}\n";
}

template <class T>
T must(ww::Result<T> result) {
    if (!result) {
        std::fputs(ww::format(result.error()).c_str(), stderr);
        std::exit(1);
    }
    return std::move(*result);
}

void run(benchmark::State& state, const std::string& text, double macs_per_trip_and_warp,
         const std::string& target = "sm_120a", uint32_t trips = kTrips, bool races = false) {
    const std::unique_ptr<Device> device = open_emulated({.target = target, .threads = 1});
    if (races) device->check_races(ww::RaceLevel::warning);
    const KernelId kernel = must(device->kernel(must(device->load({Image::Kind::ptx, "bench.ptx", text})), "loop"));
    const Address data = must(device->allocate(4 * kBlocks * kThreads));
    (void)must(device->fill(data, 0, 4 * kBlocks * kThreads));
    const Launch launch{.grid = {kBlocks}, .block = {kThreads}, .arguments = {Argument::of(data), Argument::of(trips)}};
    double lanes = 0;
    for (auto _ : state) lanes += static_cast<double>(must(device->launch(kernel, launch)).lane_instructions);
    if (!device->take_races().empty()) state.SkipWithError("the benchmark has a race: a clean launch is what is measured");
    state.counters["lane_instructions"] = benchmark::Counter(lanes, benchmark::Counter::kIsRate);
    const double macs = macs_per_trip_and_warp * trips * kBlocks * kThreads / 32 * static_cast<double>(state.iterations());
    if (macs > 0) state.counters["MAC"] = benchmark::Counter(macs, benchmark::Counter::kIsRate);
}

void softmax_loop(benchmark::State& state) { run(state, kSoftmaxLoop, 0); }
void quantize_loop(benchmark::State& state) { run(state, kQuantizeLoop, 0); }
void mma_bf16(benchmark::State& state) {
    run(state, mma_loop("sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, ""), 8 * 16 * 8 * 16);
}
std::string mxf4nvf4_loop() {
    return mma_loop("sm_120a", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 4, 2,
                    ", %s0, {%h0, %h1}, %s1, {%h0, %h1}");
}
void mma_mxf4nvf4(benchmark::State& state) { run(state, mxf4nvf4_loop(), 8 * 16 * 8 * 64); }
void wgmma_bf16(benchmark::State& state) { run(state, wgmma_loop("bf16.bf16", 2, ", 0, 0"), 4 * 16 * 256 * 16, "sm_90a", 50); }
void wgmma_e4m3(benchmark::State& state) { run(state, wgmma_loop("e4m3.e4m3", 1, ""), 4 * 16 * 256 * 32, "sm_90a", 50); }
// The same under the race checker.
void softmax_loop_checked(benchmark::State& state) { run(state, kSoftmaxLoop, 0, "sm_120a", kTrips, true); }
void wgmma_bf16_checked(benchmark::State& state) {
    run(state, wgmma_loop("bf16.bf16", 2, ", 0, 0"), 4 * 16 * 256 * 16, "sm_90a", 50, true);
}
void quantize_loop_checked(benchmark::State& state) { run(state, kQuantizeLoop, 0, "sm_120a", kTrips, true); }
void mma_mxf4nvf4_checked(benchmark::State& state) { run(state, mxf4nvf4_loop(), 8 * 16 * 8 * 64, "sm_120a", kTrips, true); }
BENCHMARK(softmax_loop)->Unit(benchmark::kMillisecond);
BENCHMARK(softmax_loop_checked)->Unit(benchmark::kMillisecond);
BENCHMARK(quantize_loop)->Unit(benchmark::kMillisecond);
BENCHMARK(quantize_loop_checked)->Unit(benchmark::kMillisecond);
BENCHMARK(mma_bf16)->Unit(benchmark::kMillisecond);
BENCHMARK(mma_mxf4nvf4)->Unit(benchmark::kMillisecond);
BENCHMARK(mma_mxf4nvf4_checked)->Unit(benchmark::kMillisecond);
BENCHMARK(wgmma_bf16)->Unit(benchmark::kMillisecond);
BENCHMARK(wgmma_bf16_checked)->Unit(benchmark::kMillisecond);
BENCHMARK(wgmma_e4m3)->Unit(benchmark::kMillisecond);

}  // namespace
