// SPDX-License-Identifier: Apache-2.0
// PTX manual, "TensorCore 5th Generation Family Instructions". These rows parse and have no
// semantics yet.
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

#define WW_TC "tcgen05-instructions-tcgen05-"
#define WW_CTA ".cta_group = .cta_group::1 .cta_group::2; "
#define WW_SHAPES ".shape = .16x64b .16x128b .16x256b .32x32b; .num = .x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128; "
#define WW_FLOAT ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4; "
#define WW_SCALED ".kind = .kind::mxf8f6f4 .kind::mxf4 .kind::mxf4nvf4; " \
    ".scale_vectorsize = .scale_vec::1X .scale_vec::2X .scale_vec::4X .block16 .block32; "
#define WW_COLLECTOR ".collector_usage = .collector::a::fill .collector::a::use .collector::a::lastuse .collector::a::discard; "
#define WW_WS ".collector_usage = .collector::b0::fill .collector::b0::use .collector::b0::lastuse .collector::b0::discard " \
    ".collector::b1::fill .collector::b1::use .collector::b1::lastuse .collector::b1::discard "                          \
    ".collector::b2::fill .collector::b2::use .collector::b2::lastuse .collector::b2::discard "                          \
    ".collector::b3::fill .collector::b3::use .collector::b3::lastuse .collector::b3::discard; "
constexpr Since kSince{86, 100, 'a'};
// clang-format off
// p is enable-input-d.
constexpr Row kRows[] = {
    {"tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], ncols", WW_CTA, kSince, WW_TC "alloc-dealloc-relinquish-alloc-permit"},
    {"tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, ncols", WW_CTA, kSince, WW_TC "alloc-dealloc-relinquish-alloc-permit"},
    {"tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", WW_CTA, kSince, WW_TC "alloc-dealloc-relinquish-alloc-permit"},
    {"tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 r, [taddr]", WW_SHAPES, kSince, WW_TC "ld"},
    {"tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 r, [taddr], imm-half-splitoff", WW_SHAPES, kSince, WW_TC "ld"},
    {"tcgen05.ld.red.sync.aligned.32x32b.num.redOp{.abs}{.NaN}.type r, redval, [taddr]",
     ".redOp = .min .max; .type = .f32 .u32 .s32; " WW_SHAPES, {90, 103, 'a'}, WW_TC "ld"},
    {"tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp{.abs}{.NaN}.type r, redval, [taddr], imm-half-splitoff",
     ".redOp = .min .max; .type = .f32 .u32 .s32; " WW_SHAPES, {90, 103, 'a'}, WW_TC "ld"},
    {"tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr], r", WW_SHAPES, kSince, WW_TC "st"},
    {"tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [taddr], imm-half-splitoff, r", WW_SHAPES, kSince, WW_TC "st"},
    {"tcgen05.wait_operation.sync.aligned", ".wait_operation = .wait::ld .wait::st", kSince, WW_TC "wait"},
    {"tcgen05.fence_operation", ".fence_operation = .fence::before_thread_sync .fence::after_thread_sync", kSince, WW_TC "fence"},
    {"tcgen05.cp.cta_group.shape{.multicast}{.dst_src_fmt} [taddr], s-desc",
     ".shape = .128x256b .4x256b .128x128b .64x128b .32x128b; .multicast = .warpx2::02_13 .warpx2::01_23 .warpx4; "
     ".dst_src_fmt = .b8x16.b6x16_p32 .b8x16.b4x16_p64; " WW_CTA, kSince, WW_TC "cp"},
    {"tcgen05.shift.cta_group.down [taddr]", WW_CTA, kSince, WW_TC "shift"},
    {"tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64 [mbar]{, cta-mask}", WW_CTA, kSince,
     WW_TC "commit"},
    {"tcgen05.mma.cta_group.kind{.ashift}{.collector_usage} [d], a-desc, b-desc, idesc{, disable-output-lane}, p{, scale-input-d}",
     WW_FLOAT WW_CTA WW_COLLECTOR, kSince, WW_TC "mma"},
    {"tcgen05.mma.cta_group.kind{.ashift}{.collector_usage} [d], [a], b-desc, idesc{, disable-output-lane}, p{, scale-input-d}",
     WW_FLOAT WW_CTA WW_COLLECTOR, kSince, WW_TC "mma"},
    {"tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage} [d], a-desc, b-desc, idesc, [scale-a], [scale-b], p",
     WW_SCALED WW_CTA WW_COLLECTOR, kSince, WW_TC "mma"},
    {"tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage} [d], [a], b-desc, idesc, [scale-a], [scale-b], p",
     WW_SCALED WW_CTA WW_COLLECTOR, kSince, WW_TC "mma"},
    {"tcgen05.mma.cta_group.kind::i8{.ashift}{.collector_usage} [d], a-desc, b-desc, idesc{, disable-output-lane}, p", WW_CTA WW_COLLECTOR,
     kSince, WW_TC "mma"},
    {"tcgen05.mma.cta_group.kind::i8{.ashift}{.collector_usage} [d], [a], b-desc, idesc{, disable-output-lane}, p", WW_CTA WW_COLLECTOR,
     kSince, WW_TC "mma"},
    {"tcgen05.mma.sp.cta_group.kind{.ashift}{.collector_usage} [d], a-desc, b-desc, [sp-meta], idesc{, disable-output-lane}, p{, scale-input-d}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_CTA WW_COLLECTOR, kSince, WW_TC "mma-sp"},
    {"tcgen05.mma.sp.cta_group.kind{.ashift}{.collector_usage} [d], [a], b-desc, [sp-meta], idesc{, disable-output-lane}, p{, scale-input-d}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_CTA WW_COLLECTOR, kSince, WW_TC "mma-sp"},
    {"tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage} "
     "[d], a-desc, b-desc, [sp-meta], idesc, [scale-a], [scale-b], p", WW_SCALED WW_CTA WW_COLLECTOR, kSince, WW_TC "mma-sp"},
    {"tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage} "
     "[d], [a], b-desc, [sp-meta], idesc, [scale-a], [scale-b], p", WW_SCALED WW_CTA WW_COLLECTOR, kSince, WW_TC "mma-sp"},
    {"tcgen05.mma.ws.cta_group::1.kind{.collector_usage} [d], a-desc, b-desc, idesc, p{, zero-column-mask-desc}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_WS, kSince, WW_TC "mma-ws"},
    {"tcgen05.mma.ws.cta_group::1.kind{.collector_usage} [d], [a], b-desc, idesc, p{, zero-column-mask-desc}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_WS, kSince, WW_TC "mma-ws"},
    {"tcgen05.mma.ws.sp.cta_group::1.kind{.collector_usage} [d], a-desc, b-desc, [sp-meta], idesc, p{, zero-column-mask-desc}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_WS, kSince, WW_TC "mma-ws-sp"},
    {"tcgen05.mma.ws.sp.cta_group::1.kind{.collector_usage} [d], [a], b-desc, [sp-meta], idesc, p{, zero-column-mask-desc}",
     ".kind = .kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8; " WW_WS, kSince, WW_TC "mma-ws-sp"},
};
// clang-format on

}  // namespace

std::span<const Row> tcgen05_rows() { return kRows; }

}  // namespace ww::isa
