#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The outline of kernels of this repository in CUDA C++, Triton and CuTeDSL, against lists made by hand."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import as_json, expect, main  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def texts(uses):
    return [each["text"] for each in uses]


def outline(path):
    return as_json(ROOT, "context", "outline", path)


def kernel(made, name):
    found = [each for each in made["kernels"] if each["name"] == name]
    expect(len(found) == 1, f"{name}: {[each['name'] for each in made['kernels']]}")
    return found[0]


def same(got, wanted):
    expect(sorted(got) == sorted(wanted), f"got {sorted(got)}, wanted {sorted(wanted)}")


def lines_of(path, first_text, last_text):
    """The lines from the one that holds first_text to the next that is last_text, counted from 1."""
    lines = (ROOT / path).read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if first_text in line)
    return [first + 1, next(i for i in range(first, len(lines)) if lines[i] == last_text) + 1]


def test_sage3_attention():
    """All of its instructions stand in kernels/common, behind wrappers."""
    made = kernel(outline("kernels/sage3/sage3_attention.cu"), "sage3_attention")
    same(texts(made["instructions"]),
         ["cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", "fence.mbarrier_init.release.cluster",
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64",
          "mbarrier.arrive.shared::cta.b64", "mbarrier.init.shared::cta.b64",
          "mbarrier.try_wait.parity.shared::cta.b64",
          "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
          "setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32",
          "stmatrix.sync.aligned.m8n8.x4.shared.b16"])
    same(texts(made["shared"]), ["extern __shared__ __align__(128) unsigned char shared[]"])
    expect(made["launch_bounds"] == "sage3::kAttentionThreads, 1", made)
    mma = next(each for each in made["instructions"] if each["text"].startswith("mma"))
    expect(mma["file"] == "kernels/common/ptx_mma.cuh" and mma["function"] == "mma_m16n8k64_mxf4nvf4_4x", mma)


def test_softmax():
    made = outline("kernels/softmax")
    plain = kernel(made, "softmax_plain")
    same(texts(plain["shared"]), ["__shared__ float partial_max[kWarps]", "__shared__ float partial_sum[kWarps]"])
    same(texts(plain["instructions"]), [])
    expect(plain["lines"] == lines_of("kernels/softmax/softmax_plain.cu", "extern \"C\" __global__", "}"), plain)
    staged = kernel(made, "softmax_cp_async")
    same(texts(staged["instructions"]), ["cp.async.cg.shared.global", "cp.async.commit_group", "cp.async.wait_group"])


def test_triton():
    made = outline("tests/toolchain/frontends/triton_kernels.py")
    same([each["name"] for each in made["kernels"]],
         ["softmax", "matmul", "matmul_descriptors", "attention", "matmul_scaled"])
    descriptors = kernel(made, "matmul_descriptors")
    same(texts(descriptors["instructions"]), ["tl.make_tensor_descriptor", "tl.dot"])
    expect(descriptors["template"] == "BM, BN, BK" and descriptors["language"] == "Triton", descriptors)
    same(texts(kernel(made, "matmul_scaled")["instructions"]), ["tl.dot_scaled"])


def test_cutedsl():
    made = outline("tests/toolchain/frontends/cutedsl_kernels.py")
    same([each["name"] for each in made["kernels"]], ["add_kernel", "row_sum_kernel", "gemm_kernel", "gemm_warpgroup_kernel"])
    same(texts(kernel(made, "gemm_kernel")["instructions"]),
         ["warp.LdMatrix8x8x16bOp", "cute.arch.cp_async_commit_group", "cute.arch.cp_async_wait_group", "cute.gemm"])
    wide = kernel(made, "gemm_warpgroup_kernel")
    same(texts(wide["instructions"]),
         ["cute.arch.mbarrier_init", "cute.arch.mbarrier_init_fence", "cpasync.tma_partition",
          "cute.arch.mbarrier_arrive_and_expect_tx", "cute.arch.mbarrier_wait", "cute.gemm"])
    launch = next(each for each in made["launches"] if each["kernel"] == "row_sum_kernel")
    expect(launch["inside"] == "row_sum" and "block=(32, 1, 1)" in launch["how"], launch)
    expect(any(each["name"] == "gemm_warpgroup" and "cpasync.CopyBulkTensorTileG2SOp" in each["instructions"]
               for each in made["functions"]), made["functions"])


if __name__ == "__main__":
    main([test_sage3_attention, test_softmax, test_triton, test_cutedsl])
