// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Asynchronous Warpgroup Level Matrix Instructions": the rows. What they do is in
// wgmma_run.cpp; those with sparse A parse and have no semantics.
#include "isa/isa.hpp"
#include "isa/wgmma_ops.hpp"

namespace ww::isa {
namespace {

#define WW_WG "asynchronous-warpgroup-level-matrix-instructions-wgmma-"
#define WW_N8(k)                                                                                       \
    ".m64n8k" k " .m64n16k" k " .m64n24k" k " .m64n32k" k " .m64n40k" k " .m64n48k" k " .m64n56k" k    \
    " .m64n64k" k " .m64n72k" k " .m64n80k" k " .m64n88k" k " .m64n96k" k " .m64n104k" k " .m64n112k" k \
    " .m64n120k" k " .m64n128k" k " .m64n136k" k " .m64n144k" k " .m64n152k" k " .m64n160k" k          \
    " .m64n168k" k " .m64n176k" k " .m64n184k" k " .m64n192k" k " .m64n200k" k " .m64n208k" k          \
    " .m64n216k" k " .m64n224k" k " .m64n232k" k " .m64n240k" k " .m64n248k" k " .m64n256k" k
#define WW_N16(k)                                                                                      \
    ".m64n8k" k " .m64n16k" k " .m64n24k" k " .m64n32k" k " .m64n48k" k " .m64n64k" k " .m64n80k" k    \
    " .m64n96k" k " .m64n112k" k " .m64n128k" k " .m64n144k" k " .m64n160k" k " .m64n176k" k           \
    " .m64n192k" k " .m64n208k" k " .m64n224k" k " .m64n240k" k " .m64n256k" k
// clang-format off
// A comes from shared memory through a descriptor, or from registers; p is scale-d. io-d is read and
// written, later.
#define WW_TRANSPOSABLE " io-d, a-desc, b-desc, p, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b"
#define WW_FROM_REGISTERS " io-d, a, b-desc, p, imm-scale-a, imm-scale-b, imm-trans-b"
#define WW_PLAIN " io-d, a, b-desc, p, imm-scale-a, imm-scale-b"
#define WW_SPARSE_PLAIN " d, a, b-desc, sp-meta, sp-sel, p, imm-scale-a, imm-scale-b"
constexpr Row kRows[] = {
    {"wgmma.fence.sync.aligned", "", {80, 90, 'a'}, WW_WG "fence", bind_wgmma_fence},
    {"wgmma.commit_group.sync.aligned", "", {80, 90, 'a'}, WW_WG "commit-group", bind_wgmma_commit},
    {"wgmma.wait_group.sync.aligned n", "", {80, 90, 'a'}, WW_WG "wait-group", bind_wgmma_wait},
    {"wgmma.mma_async.sync.aligned.shape.dtype.f16.f16" WW_TRANSPOSABLE, ".dtype = .f16 .f32; .shape = " WW_N8("16"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.dtype.f16.f16" WW_FROM_REGISTERS, ".dtype = .f16 .f32; .shape = " WW_N8("16"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16" WW_TRANSPOSABLE, ".shape = " WW_N8("16"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16" WW_FROM_REGISTERS, ".shape = " WW_N8("16"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32" WW_PLAIN, ".shape = " WW_N8("8"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.dtype.atype.btype" WW_PLAIN,
     ".dtype = .f16 .f32; .atype = .e4m3 .e5m2; .btype = .e4m3 .e5m2; .shape = " WW_N8("32"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype io-d, a, b-desc, p",
     ".atype = .s8 .u8; .btype = .s8 .u8; .shape = " WW_N16("32"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc io-d, a, b-desc, p", ".shape = " WW_N16("256"), {80, 90, 'a'}, WW_WG "mma-async", bind_wgmma},
    {"wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype d, a, b-desc, sp-meta, sp-sel, p, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}",
     ".dtype = .f16 .f32; .atype = .f16 .bf16; .btype = .f16 .bf16; .shape = " WW_N8("32"), {82, 90, 'a'}, WW_WG "mma-async-sp"},
    {"wgmma.mma_async.sp.sync.aligned.shape.f32.tf32.tf32" WW_SPARSE_PLAIN, ".shape = " WW_N8("16"), {82, 90, 'a'}, WW_WG "mma-async-sp"},
    {"wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype" WW_SPARSE_PLAIN,
     ".dtype = .f16 .f32; .atype = .e4m3 .e5m2; .btype = .e4m3 .e5m2; .shape = " WW_N8("64"), {82, 90, 'a'}, WW_WG "mma-async-sp"},
    {"wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b-desc, sp-meta, sp-sel, p",
     ".atype = .s8 .u8; .btype = .s8 .u8; .shape = " WW_N16("64"), {82, 90, 'a'}, WW_WG "mma-async-sp"},
};
// clang-format on

}  // namespace

std::span<const Row> wgmma_rows() { return kRows; }

}  // namespace ww::isa
