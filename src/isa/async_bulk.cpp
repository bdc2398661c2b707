// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement: asynchronous copy": bulk and tensor copies and reductions, st.async,
// red.async, tensormap, clusterlaunchcontrol. What the copies mean is in bulk_copy.cpp,
// bulk_reduce.cpp, tensor_copy.cpp, tensormap.cpp, store_async.cpp and launch_control.cpp; the rows without a bind parse and have no semantics yet.
#include "isa/bulk_ops.hpp"
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

#define WW_DM "data-movement-and-conversion-instructions-"
#define WW_PSC "parallel-synchronization-and-communication-instructions-"
#define WW_TX ".completion_mechanism = .mbarrier::complete_tx::bytes; .level::cache_hint = .L2::cache_hint; "
#define WW_GROUP ".completion_mechanism = .bulk_group; .level::cache_hint = .L2::cache_hint; "
#define WW_DIM ".dim = .1d .2d .3d .4d .5d; "
#define WW_LOAD ".load_mode = .tile .tile::gather4 .im2col .im2col::w .im2col::w::128; .cta_group = .cta_group::1 .cta_group::2; "
#define WW_OPS ".redOp = .and .or .xor .add .inc .dec .min .max; "
// clang-format off
constexpr Row kRows[] = {
    {"cp.async.bulk.shared::cta.global.completion_mechanism{.level::cache_hint} [dst], [src], size, [mbar]{, cache-policy}",
     WW_TX, {86, 90}, WW_DM "cp-async-bulk", bind_bulk_load},
    {"cp.async.bulk.shared::cluster.global.completion_mechanism{.multicast::cluster}{.level::cache_hint} "
     "[dst], [src], size, [mbar]{, cta-mask}{, cache-policy}", WW_TX, {80, 90}, WW_DM "cp-async-bulk", bind_bulk_load},
    {"cp.async.bulk.shared::cluster.shared::cta.completion_mechanism [dst], [src], size, [mbar]", WW_TX, {80, 90}, WW_DM "cp-async-bulk", bind_bulk_share},
    {"cp.async.bulk.global.shared::cta.completion_mechanism{.level::cache_hint}{.cp_mask} [dst], [src], size{, cache-policy}{, byte-mask}",
     WW_GROUP, {80, 90}, WW_DM "cp-async-bulk", bind_bulk_store},
    {"cp.async.bulk.prefetch.L2.global{.level::cache_hint} [src], size{, cache-policy}", WW_GROUP, {80, 90}, WW_DM "cp-async-bulk-prefetch", bind_bulk_prefetch},
    {"cp.async.bulk.tensor.dim.shared::cta.global{.load_mode}.completion_mechanism{.cta_group}{.level::cache_hint} "
     "[dst], [map, coordinates], [mbar]{, im2col-info}{, cache-policy}", WW_DIM WW_TX WW_LOAD, {86, 90}, WW_DM "cp-async-bulk-tensor", bind_tensor_load},
    {"cp.async.bulk.tensor.dim.shared::cluster.global{.load_mode}.completion_mechanism{.multicast::cluster}{.cta_group}{.level::cache_hint} "
     "[dst], [map, coordinates], [mbar]{, im2col-info}{, cta-mask}{, cache-policy}", WW_DIM WW_TX WW_LOAD, {80, 90},
     WW_DM "cp-async-bulk-tensor", bind_tensor_load},
    {"cp.async.bulk.tensor.dim.global.shared::cta{.load_mode}.completion_mechanism{.level::cache_hint} [map, coordinates], [src]{, cache-policy}",
     ".load_mode = .tile .tile::scatter4 .im2col_no_offs; " WW_DIM WW_GROUP, {80, 90}, WW_DM "cp-async-bulk-tensor", bind_tensor_store},
    {"cp.async.bulk.prefetch.tensor.dim.L2.global{.load_mode}{.level::cache_hint} [map, coordinates]{, im2col-info}{, cache-policy}",
     WW_DIM WW_LOAD WW_GROUP, {80, 90}, WW_DM "cp-async-bulk-prefetch-tensor", bind_tensor_prefetch},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.completion_mechanism.redOp.type [dst], [src], size, [mbar]",
     ".type = .b32 .u32 .s32 .b64 .u64; " WW_OPS WW_TX, {80, 90}, WW_DM "cp-reduce-async-bulk", bind_reduce_shared},
    {"cp.reduce.async.bulk.global.shared::cta.completion_mechanism{.level::cache_hint}.redOp.type [dst], [src], size{, cache-policy}",
     ".type = .f16 .bf16 .b32 .u32 .s32 .b64 .u64 .s64 .f32 .f64; " WW_OPS WW_GROUP, {80, 90}, WW_DM "cp-reduce-async-bulk", bind_reduce_global},
    {"cp.reduce.async.bulk.global.shared::cta.completion_mechanism{.level::cache_hint}.add.noftz.type [dst], [src], size{, cache-policy}",
     ".type = .f16 .bf16; " WW_GROUP, {80, 90}, WW_DM "cp-reduce-async-bulk", bind_reduce_global},
    {"cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.completion_mechanism{.level::cache_hint} "
     "[map, coordinates], [src]{, cache-policy}", ".load_mode = .tile .im2col_no_offs; " WW_DIM WW_OPS WW_GROUP, {80, 90},
     WW_DM "cp-reduce-async-bulk-tensor", bind_tensor_reduce},
    {"cp.async.bulk.commit_group", "", {80, 90}, WW_DM "cp-async-bulk-commit-group", bind_bulk_commit},
    {"cp.async.bulk.wait_group{.read} n", "", {80, 90}, WW_DM "cp-async-bulk-wait-group", bind_bulk_wait},
    {"st.async{.weak}{.cluster}{.shared::cluster}{.completion_mechanism}{.vec}.type [a], b, [mbar]",
     ".vec = .v2 .v4; .type = .b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64; " WW_TX, {81, 90}, WW_DM "st-async", bind_store_async},
    {"st.async{.mmio}.release.scope{.global}.type [a], b",
     ".scope = .gpu .sys; .type = .b8 .b16 .b32 .b64 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64", {87, 100}, WW_DM "st-async", bind_store_async_global},
    {"st.bulk{.weak}{.shared::cta} [a], size, initval", "", {86, 100}, WW_DM "st-bulk", bind_store_bulk},
    {"red.async.relaxed.cluster{.shared::cluster}.completion_mechanism.op.type [a], b, [mbar]",
     ".op = .inc .dec .min .max .and .or .xor .add; .type = .u32 .s32 .b32 .u64; " WW_TX, {81, 90}, WW_PSC "red-async", bind_reduce_async},
    {"red.async{.mmio}.release.scope{.global}.add.type [a], b", ".scope = .gpu .sys; .type = .u32 .s32 .u64 .s64", {87, 100}, WW_PSC "red-async",
     bind_reduce_async_global},
    {"tensormap.replace.tile.field{.ss}.b1024.type [addr], new-value",
     ".field = .global_address .rank .elemtype .interleave_layout .swizzle_mode .swizzle_atomicity .fill_mode; "
     ".ss = .global .shared::cta; .type = .b32 .b64", {83, 90, 'a'}, WW_DM "tensormap-replace", bind_tensormap_replace},
    {"tensormap.replace.tile.field{.ss}.b1024.type [addr], ord, new-value",
     ".field = .box_dim .global_dim .global_stride .element_stride; .ss = .global .shared::cta; .type = .b32 .b64", {83, 90, 'a'},
     WW_DM "tensormap-replace", bind_tensormap_replace},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], size",
     ".scope = .cta .cluster .gpu .sys", {83, 90}, WW_PSC "tensormap-cp-fenceproxy", bind_tensormap_copy},
    {"clusterlaunchcontrol.try_cancel.async{.shared::cta}.completion_mechanism{.multicast::cluster::all}.b128 [addr], [mbar]", WW_TX,
     {86, 100}, WW_PSC "clusterlaunchcontrol-try-cancel", bind_clc_try_cancel},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response", "", {86, 100}, WW_PSC "clusterlaunchcontrol-query-cancel", bind_clc_is_canceled},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, response", "", {86, 100}, WW_PSC "clusterlaunchcontrol-query-cancel", bind_clc_first},
    {"clusterlaunchcontrol.query_cancel.dimension.b32.b128 d, response",
     ".dimension = .get_first_ctaid::x .get_first_ctaid::y .get_first_ctaid::z", {86, 100}, WW_PSC "clusterlaunchcontrol-query-cancel",
     bind_clc_first},
};
// clang-format on

}  // namespace

std::span<const Row> async_bulk_rows() { return kRows; }

}  // namespace ww::isa
