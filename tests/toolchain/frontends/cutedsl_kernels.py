# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with CuTeDSL, without a GPU, and leaves their PTX in a folder.

    cutedsl_kernels.py FOLDER TARGET      writes FOLDER/<kernel>.<target>.ptx
"""
import os
import pathlib
import shutil
import sys
import tempfile

# CuTeDSL reads these when it is imported; one process is for one target.
DUMP = tempfile.TemporaryDirectory()
os.environ.update(CUTE_DSL_ARCH=sys.argv[2], CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=DUMP.name,
                  CUTE_DSL_NO_CACHE="1", CUTE_DSL_DISABLE_FILE_CACHING="1")

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.nvgpu import cpasync, warp, warpgroup  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor  # noqa: E402
from cutlass.tensor_utils import LayoutEnum  # noqa: E402
from cutlass.utils import hopper_helpers  # noqa: E402

THREADS = 128
TILE = (64, 64, 32)  # of the product: rows, columns, depth
WIDE = (64, 128, 64)  # the same for a warpgroup


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * THREADS + thread
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=(cute.ceil_div(cute.size(a), THREADS), 1, 1),
                               block=(THREADS, 1, 1))


@cute.kernel
def row_sum_kernel(x: cute.Tensor, sums: cute.Tensor):
    """One warp a row: wide loads, then a butterfly of shuffles."""
    lane, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    total = cutlass.Float32(0.0)
    for i in range(lane, cute.size(x, mode=[1]), 32):
        total += cute.math.exp2(x[row, i].to(cutlass.Float32))
    for step in cutlass.range_constexpr(5):
        total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
    if lane == 0:
        sums[row] = total


@cute.jit
def row_sum(x: cute.Tensor, sums: cute.Tensor):
    row_sum_kernel(x, sums).launch(grid=(cute.size(x, mode=[0]), 1, 1), block=(32, 1, 1))


@cute.kernel
def gemm_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, layout: cute.Layout,
                copy: cute.TiledCopy, mma: cute.TiledMma):
    """A tile of c = a * b^T: cp.async into shared memory, ldmatrix, mma.sync."""
    thread, _, _ = cute.arch.thread_idx()
    m, n, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    a_shared = memory.allocate_tensor(a.element_type, layout, 16)
    b_shared = memory.allocate_tensor(b.element_type, layout, 16)
    a_tiles = cute.local_tile(a, (TILE[0], TILE[2]), (m, None))
    b_tiles = cute.local_tile(b, (TILE[1], TILE[2]), (n, None))
    c_tile = cute.local_tile(c, (TILE[0], TILE[1]), (m, n))

    mine = copy.get_slice(thread)
    a_from, a_to = mine.partition_S(a_tiles), mine.partition_D(a_shared)
    b_from, b_to = mine.partition_S(b_tiles), mine.partition_D(b_shared)
    part = mma.get_slice(thread)
    a_part = mma.make_fragment_A(part.partition_A(a_shared))
    b_part = mma.make_fragment_B(part.partition_B(b_shared))
    sums = mma.make_fragment_C(part.partition_C(c_tile))
    sums.fill(0.0)
    matrix = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), a.element_type)
    a_load, b_load = cute.make_tiled_copy_A(matrix, mma), cute.make_tiled_copy_B(matrix, mma)
    a_view, b_view = a_load.retile(a_part), b_load.retile(b_part)
    a_source = a_load.get_slice(thread).partition_S(a_shared)
    b_source = b_load.get_slice(thread).partition_S(b_shared)

    for k in range(cute.size(a_tiles, mode=[2])):
        cute.copy(copy, a_from[None, None, None, k], a_to)
        cute.copy(copy, b_from[None, None, None, k], b_to)
        cute.arch.cp_async_commit_group()
        cute.arch.cp_async_wait_group(0)
        cute.arch.sync_threads()
        cute.copy(a_load, a_source, a_view)
        cute.copy(b_load, b_source, b_view)
        cute.gemm(mma, sums, a_part, b_part, sums)
        cute.arch.sync_threads()
    out = cute.make_fragment_like(sums, c.element_type)
    out.store(sums.load().to(c.element_type))
    cute.autovec_copy(out, part.partition_C(c_tile))


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    layout = cute.make_layout((TILE[0], TILE[2]), stride=(TILE[2] + 8, 1))
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), a.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((32, 4), stride=(4, 1)),
                                   cute.make_layout((1, 8)))
    mma = cute.make_tiled_mma(warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)),
                              cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16))
    gemm_kernel(a, b, c, layout, copy, mma).launch(
        grid=(cute.ceil_div(cute.size(c, mode=[0]), TILE[0]),
              cute.ceil_div(cute.size(c, mode=[1]), TILE[1]), 1), block=(THREADS, 1, 1))


@cute.kernel
def gemm_warpgroup_kernel(a_copy: cute.CopyAtom, a: cute.Tensor, b_copy: cute.CopyAtom,
                          b: cute.Tensor, c: cute.Tensor, a_layout: cute.ComposedLayout,
                          b_layout: cute.ComposedLayout, mma: cute.TiledMma):
    """The same by TMA into shared memory, an mbarrier, and wgmma."""
    thread, _, _ = cute.arch.thread_idx()
    m, n, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    arrived = memory.allocate_array(cutlass.Int64, 1)
    a_shared = memory.allocate_tensor(c.element_type, a_layout.outer, 128, a_layout.inner)
    b_shared = memory.allocate_tensor(c.element_type, b_layout.outer, 128, b_layout.inner)
    if thread == 0:
        cute.arch.mbarrier_init(arrived, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()

    one = cute.make_layout(1)
    a_to, a_from = cpasync.tma_partition(
        a_copy, 0, one, cute.group_modes(a_shared, 0, 2),
        cute.group_modes(cute.local_tile(a, (WIDE[0], WIDE[2]), (m, None)), 0, 2))
    b_to, b_from = cpasync.tma_partition(
        b_copy, 0, one, cute.group_modes(b_shared, 0, 2),
        cute.group_modes(cute.local_tile(b, (WIDE[1], WIDE[2]), (n, None)), 0, 2))
    part = mma.get_slice(thread)
    a_part = mma.make_fragment_A(part.partition_A(a_shared))
    b_part = mma.make_fragment_B(part.partition_B(b_shared))
    c_part = part.partition_C(cute.local_tile(c, (WIDE[0], WIDE[1]), (m, n)))
    sums = cute.make_rmem_tensor(c_part.shape, cutlass.Float32)
    sums.fill(0.0)
    mma.set(warpgroup.Field.ACCUMULATE, True)

    phase = cutlass.Int32(0)
    for k in range(cute.size(a_from, mode=[1])):
        if thread == 0:
            cute.arch.mbarrier_arrive_and_expect_tx(arrived, 2 * WIDE[2] * (WIDE[0] + WIDE[1]))
            cute.copy(a_copy, a_from[None, k], a_to[None, 0], tma_bar_ptr=arrived)
            cute.copy(b_copy, b_from[None, k], b_to[None, 0], tma_bar_ptr=arrived)
        cute.arch.mbarrier_wait(arrived, phase)
        phase = phase ^ 1
        warpgroup.fence()
        for block in cutlass.range_constexpr(cute.size(a_part, mode=[2])):
            cute.gemm(mma, sums, a_part[None, None, block, 0], b_part[None, None, block, 0], sums)
        warpgroup.commit_group()
        warpgroup.wait_group(0)
        cute.arch.sync_threads()
    out = cute.make_fragment_like(sums, c.element_type)
    out.store(sums.load().to(c.element_type))
    cute.autovec_copy(out, c_part)


@cute.jit
def gemm_warpgroup(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    along_k = cute.nvgpu.OperandMajorMode.K
    mma = hopper_helpers.make_trivial_tiled_mma(
        a.element_type, b.element_type, along_k, along_k, cutlass.Float32, (1, 1, 1), (64, WIDE[1]))
    a_layout = hopper_helpers.make_smem_layout_a(LayoutEnum.ROW_MAJOR, WIDE, a.element_type, 1)
    b_layout = hopper_helpers.make_smem_layout_b(LayoutEnum.ROW_MAJOR, WIDE, b.element_type, 1)
    load = cpasync.CopyBulkTensorTileG2SOp()
    a_copy, a_map = cpasync.make_tiled_tma_atom(
        load, a, cute.slice_(a_layout, (None, None, 0)), (WIDE[0], WIDE[2]))
    b_copy, b_map = cpasync.make_tiled_tma_atom(
        load, b, cute.slice_(b_layout, (None, None, 0)), (WIDE[1], WIDE[2]))
    gemm_warpgroup_kernel(a_copy, a_map, b_copy, b_map, c, a_layout, b_layout, mma).launch(
        grid=(cute.ceil_div(cute.size(c, mode=[0]), WIDE[0]),
              cute.ceil_div(cute.size(c, mode=[1]), WIDE[1]), 1), block=(THREADS, 1, 1))


def matrix(dtype, rows=None, columns=None):
    return make_fake_compact_tensor(dtype, (rows or cute.sym_int(), columns or cute.sym_int()),
                                    stride_order=(1, 0), assumed_align=16)


def vector(dtype):
    return make_fake_compact_tensor(dtype, (cute.sym_int(),), assumed_align=16)


def main():
    folder, target = pathlib.Path(sys.argv[1]), sys.argv[2]
    half = cutlass.Float16
    kernels = {
        add: [vector(cutlass.Float32) for _ in range(3)],
        row_sum: [matrix(cutlass.BFloat16), vector(cutlass.Float32)],
        gemm: [matrix(half, 1024, 512), matrix(half, 768, 512), matrix(half, 1024, 768)],
    }
    if target == "sm_90a":  # no other target has wgmma
        kernels[gemm_warpgroup] = kernels[gemm]
    for kernel, arguments in kernels.items():
        cute.compile(kernel, *arguments)
        made = list(pathlib.Path(DUMP.name).glob("*.ptx"))
        if len(made) != 1:
            sys.exit(f"{kernel.__name__} for {target}: {len(made)} PTX files instead of 1")
        shutil.move(made[0], folder / f"{kernel.__name__}.{target}.ptx")


if __name__ == "__main__":
    main()
