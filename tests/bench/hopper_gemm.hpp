// SPDX-License-Identifier: Apache-2.0
// A Hopper GEMM as PTX: D[M, N] = A[M, K] B[N, K]^T, bf16 with f32 sums. Blocks of 128 x 128; one thread
// loads tiles of 64 columns by TMA into a ring of four stages, two warpgroups multiply by wgmma.
#pragma once
#include <string>
#include <tuple>

namespace ww::bench {

constexpr int kGemmTile = 128, kGemmDepth = 64, kGemmStages = 4, kGemmThreads = 384;
constexpr int kGemmStageBytes = 2 * kGemmTile * kGemmDepth * 2;
constexpr int kGemmSharedBytes = kGemmStages * kGemmStageBytes;

// Loops until the phase of the mbarrier at %name + 8 * stage has the parity.
inline std::string gemm_wait(const std::string& label, const std::string& name, const std::string& parity) {
    return "  mad.lo.u32 %bar, %stage, 8, " + name + ";\n" + label + ":\n  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], " + parity +
           ";\n  @!%done bra " + label + ";\n";
}

inline std::string gemm_producer() {
    std::string text = "PRODUCER:\n  setp.ne.u32 %p, %t, 256; @%p bra END;\nLOAD:\n"
        "  and.b32 %stage, %step, 3; shr.u32 %phase, %step, 2; and.b32 %phase, %phase, 1; xor.b32 %other, %phase, 1;\n";
    text += gemm_wait("FREE", "%empty", "%other");
    text += "  mad.lo.u32 %bar, %stage, 8, %full;\n"
        "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], " + std::to_string(kGemmStageBytes) + ";\n"
        "  mad.lo.u32 %to, %stage, " + std::to_string(kGemmStageBytes) + ", %tiles; add.u32 %to2, %to, " + std::to_string(kGemmStageBytes / 2) + ";\n"
        "  shl.b32 %k, %step, 6;\n";
    for (const auto& [to, map, row] : {std::tuple{"%to", "%map_a", "%row"}, std::tuple{"%to2", "%map_b", "%column"}})
        text += std::string("  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [") + to + "], [" + map + ", {%k, " + row + "}], [%bar];\n";
    return text + "  add.u32 %step, %step, 1; setp.lt.u32 %p, %step, %steps; @%p bra LOAD;\n  bra END;\n";
}

inline std::string gemm_consumer() {
    std::string sums = "{";
    for (int i = 0; i < 64; ++i) sums += (i ? ", %d" : "%d") + std::to_string(i);
    sums += "}";
    std::string text;
    for (int i = 0; i < 64; ++i) text += "  mov.f32 %d" + std::to_string(i) + ", 0f00000000;\n";
    text += "  shr.u32 %group, %t, 7;\nMULTIPLY:\n  and.b32 %stage, %step, 3; shr.u32 %phase, %step, 2; and.b32 %phase, %phase, 1;\n";
    text += gemm_wait("FILLED", "%full", "%phase");
    // Descriptors: 128-byte swizzle, 1024 bytes from 8 rows to the next 8.
    text += "  mad.lo.u32 %to, %stage, " + std::to_string(kGemmStageBytes) + ", %tiles; add.u32 %to2, %to, " + std::to_string(kGemmStageBytes / 2) + ";\n"
        "  mad.lo.u32 %to, %group, 8192, %to; shr.u32 %to, %to, 4; shr.u32 %to2, %to2, 4;\n"
        "  cvt.u64.u32 %desc_a, %to; or.b64 %desc_a, %desc_a, 0x4000004000010000; cvt.u64.u32 %desc_b, %to2; or.b64 %desc_b, %desc_b, 0x4000004000010000;\n"
        "  wgmma.fence.sync.aligned;\n";
    for (int i = 0; i < kGemmDepth / 16; ++i)
        text += "  wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " + sums + ", %desc_a, %desc_b, 1, 1, 1, 0, 0;\n"
            "  add.u64 %desc_a, %desc_a, 2; add.u64 %desc_b, %desc_b, 2;\n";
    return text + "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
        "  and.b32 %other, %t, 127; setp.eq.u32 %p, %other, 0; mad.lo.u32 %bar, %stage, 8, %empty;\n"
        "  @%p mbarrier.arrive.shared::cta.b64 _, [%bar];\n"
        "  add.u32 %step, %step, 1; setp.lt.u32 %p, %step, %steps; @%p bra MULTIPLY;\n";
}

inline std::string gemm_store() {
    // Thread t of a warp has rows t / 4 and t / 4 + 8 of its warp's 16, and two columns of each eight.
    std::string text = "  shr.u32 %to, %t, 5; shl.b32 %to, %to, 4; and.b32 %other, %t, 31; shr.u32 %to2, %other, 2; add.u32 %to, %to, %to2;\n"
        "  add.u32 %row, %row, %to; and.b32 %other, %other, 3; mad.lo.u32 %column, %other, 2, %column;\n"
        "  mad.lo.u32 %to, %row, %n, %column; mul.wide.u32 %at, %to, 4; add.u64 %at, %at, %out; mul.wide.u32 %below, %n, 32; add.u64 %below, %below, %at;\n";
    for (int i = 0; i < 16; ++i) {
        const auto pair = [&](const char* at, int first) {
            return std::string("  st.global.v2.f32 [") + at + "+" + std::to_string(32 * i) + "], {%d" + std::to_string(first) + ", %d" + std::to_string(first + 1) + "};\n";
        };
        text += pair("%at", 4 * i) + pair("%below", 4 * i + 2);
    }
    return text;
}

inline std::string hopper_gemm() {
    return ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 ring[];\n"
        ".visible .entry gemm(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 d, .param .u32 columns, .param .u32 depth) {\n"
        "  .reg .b64 %map_a, %map_b, %out, %at, %below, %desc_a, %desc_b; .reg .f32 %d<64>; .reg .pred %p, %done;\n"
        "  .reg .b32 %t, %n, %steps, %step, %stage, %phase, %other, %bar, %full, %empty, %tiles, %to, %to2, %k, %row, %column, %group;\n"
        "  .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4];\n"
        "  mov.b64 %map_a, a; cvta.param.u64 %map_a, %map_a; mov.b64 %map_b, b; cvta.param.u64 %map_b, %map_b;\n"
        "  ld.param.u64 %out, [d]; cvta.to.global.u64 %out, %out; ld.param.u32 %n, [columns]; ld.param.u32 %steps, [depth]; shr.u32 %steps, %steps, 6;\n"
        "  mov.u32 %t, %tid.x; mov.u32 %full, full; mov.u32 %empty, empty; mov.u32 %tiles, ring; mov.u32 %step, 0;\n"
        "  mov.u32 %row, %ctaid.y; shl.b32 %row, %row, 7; mov.u32 %column, %ctaid.x; shl.b32 %column, %column, 7;\n"
        "  setp.lt.u32 %p, %t, 4; mad.lo.u32 %bar, %t, 8, %full; mad.lo.u32 %to, %t, 8, %empty;\n"
        "  @%p mbarrier.init.shared::cta.b64 [%bar], 1;\n  @%p mbarrier.init.shared::cta.b64 [%to], 2;\n"
        "  fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n  setp.ge.u32 %p, %t, 256; @%p bra PRODUCER;\n" +
        gemm_consumer() + gemm_store() + "  bra END;\n" + gemm_producer() + "END:\n  ret;\n}\n";
}

}  // namespace ww::bench
