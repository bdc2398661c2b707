// SPDX-License-Identifier: Apache-2.0
// Opcodes as compilers and libraries write them: each must fit the modifiers of a row.
#include <gtest/gtest.h>

#include "isa/pattern.hpp"

namespace ww::isa {
namespace {

bool some_row_fits(std::string_view opcode) {
    std::vector<Choice> choices;
    for (const Row& row : rows()) {
        const Pattern pattern = compile_pattern(row);
        if (pattern.mnemonic != opcode.substr(0, opcode.find('.'))) continue;
        for (const bool any_order : {false, true})
            if (match_modifiers(pattern, modifier_parts(opcode), any_order, choices)) return true;
    }
    return false;
}

constexpr std::string_view kOpcodes[] = {
    "activemask.b32",
    "alloca.u64",
    "atom.acq_rel.gpu.global.cas.b128",
    "atom.add.noftz.bf16x2",
    "atom.global.add.f32",
    "atom.global.add.f64",
    "atom.global.add.u32",
    "atom.global.cas.b64",
    "atom.global.max.u32",
    "atom.global.v4.f32.add",
    "atom.relaxed.gpu.global.add.f32",
    "atom.shared.add.f32",
    "bar.arrive",
    "bar.cta.sync",
    "bar.red.and.pred",
    "bar.sync",
    "bar.warp.sync",
    "barrier.cluster.arrive.relaxed.aligned",
    "barrier.cluster.arrive.release.aligned",
    "barrier.cluster.wait.acquire",
    "barrier.cluster.wait.acquire.aligned",
    "barrier.cluster.wait.aligned",
    "barrier.cta.sync.aligned",
    "barrier.red.popc.aligned.u32",
    "barrier.sync",
    "brkpt",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::"
    "cluster::all.b128",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.prefetch.L2.global",
    "cp.async.bulk.prefetch.tensor.4d.L2.global",
    "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes.L2::"
    "cache_hint",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster.L2::cache_hint",
    "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes.L2::"
    "cache_hint",
    "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes."
    "multicast::cluster.L2::cache_hint",
    "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group",
    "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster.L2::cache_hint",
    "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes."
    "multicast::cluster.L2::cache_hint",
    "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group",
    "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group",
    "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster.L2::cache_hint",
    "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2."
    "multicast::cluster",
    "cp.async.bulk.tensor.4d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group",
    "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group",
    "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint",
    "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2."
    "multicast::cluster",
    "cp.async.bulk.tensor.5d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
    "cp.async.bulk.wait_group",
    "cp.async.bulk.wait_group.read",
    "cp.async.ca.shared.global",
    "cp.async.cg.shared.global.L2::128B",
    "cp.async.commit_group",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group",
    "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.bulk_group",
    "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group",
    "createpolicy.fractional.L2::evict_first.b64",
    "cvta.shared.u64",
    "cvta.to.global.u64",
    "elect.sync",
    "fence.acq_rel.gpu",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.async",
    "fence.proxy.async.shared::cta",
    "fence.proxy.tensormap::generic.acquire.gpu",
    "fence.release.sync_restrict::shared::cta.cluster",
    "fence.sc.sys",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.wait",
    "isspacep.shared::cluster",
    "ld.acquire.gpu.global.u32",
    "ld.global.L1::evict_last.L2::cache_hint.v4.f32",
    "ld.global.acquire.sys.b32",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.u32",
    "ld.global.u32.proxy::readonly",
    "ld.mmio.relaxed.sys.global.u32",
    "ld.param.u64",
    "ld.relaxed.cta.shared::cta.u64",
    "ld.volatile.shared.u32",
    "ld.weak.shared::cluster.b32",
    "ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8x16.b6x16_p32",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16",
    "ldmatrix.sync.aligned.x2.m8n8.shared.b16",
    "ldmatrix.sync.aligned.x4.m8n8.shared.b16",
    "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16",
    "ldu.global.f32",
    "mapa.shared::cluster.u32",
    "match.any.sync.b64",
    "mbarrier.arrive.expect_tx.shared::cluster.b64",
    "mbarrier.arrive.expect_tx.shared::cta.b64",
    "mbarrier.arrive.release.cta.shared::cta.b64",
    "mbarrier.arrive.shared::cluster.b64",
    "mbarrier.arrive.shared::cta.b64",
    "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64",
    "mbarrier.expect_tx.shared::cta.b64",
    "mbarrier.init.shared::cta.b64",
    "mbarrier.test_wait.parity.shared::cta.b64",
    "mbarrier.try_wait.parity.shared::cta.b64",
    "membar.gl",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
    "ue4m3",
    "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32."
    "ue8m0",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "movmatrix.sync.aligned.m8n8.trans.b16",
    "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2",
    "nanosleep.u32",
    "pmevent.mask",
    "prefetch.tensormap",
    "prmt.b32.f4e",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32",
    "red.relaxed.gpu.global.add.noftz.f16x2",
    "red.release.gpu.global.add.u64",
    "redux.sync.min.abs.NaN.f32",
    "setmaxnreg.dec.sync.aligned.u32",
    "setmaxnreg.inc.sync.aligned.u32",
    "shfl.sync.bfly.b32",
    "shfl.sync.down.b32",
    "shfl.sync.idx.b32",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32",
    "st.global.wt.v2.f32",
    "st.param.b32",
    "st.release.gpu.global.u32",
    "st.shared::cta.b8",
    "stmatrix.sync.aligned.m8n8.x4.shared::cta.b16",
    "stmatrix.sync.aligned.x2.m8n8.shared.b16",
    "stmatrix.sync.aligned.x4.m8n8.shared.b16",
    "suld.b.2d.v4.b32.trap",
    "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64",
    "tcgen05.cp.cta_group::2.32x128b.warpx4",
    "tcgen05.dealloc.cta_group::2.sync.aligned.b32",
    "tcgen05.fence::after_thread_sync",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.ld.sync.aligned.16x256b.x2.b32",
    "tcgen05.ld.sync.aligned.16x256b.x4.b32",
    "tcgen05.ld.sync.aligned.16x256b.x8.b32",
    "tcgen05.mma.cta_group::2.kind::f16",
    "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16",
    "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X",
    "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill",
    "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned",
    "tcgen05.wait::ld.sync.aligned",
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64",
    "tex.2d.v4.f32.f32",
    "trap",
    "vote.sync.ballot.b32",
    "wgmma.commit_group.sync.aligned",
    "wgmma.fence.sync.aligned",
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16",
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
    "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3",
    "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32",
    "wgmma.mma_async.sync.aligned.m64n176k16.f32.bf16.bf16",
    "wgmma.mma_async.sync.aligned.m64n224k32.f32.e4m3.e4m3",
    "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
    "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
    "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3",
    "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16",
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16",
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",
    "wgmma.wait_group.sync.aligned",
};

TEST(Opcodes, EveryOneOfRealKernelsHasARow) {
    for (const std::string_view opcode : kOpcodes) EXPECT_TRUE(some_row_fits(opcode)) << opcode;
}

TEST(Opcodes, InventedOnesHaveNone) {
    for (const std::string_view opcode :
         {"ld.global.v3.u32", "mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32",
          "shfl.sync.left.b32", "atom.global.mul.u32", "bar.sync.aligned",
          "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16"})
        EXPECT_FALSE(some_row_fits(opcode)) << opcode;
}

}  // namespace
}  // namespace ww::isa
