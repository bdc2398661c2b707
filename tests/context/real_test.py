#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The context over packages that nobody here wrote: the time that CUTLASS's headers take on one core, and the outline of
four of their kernels against lists made by hand."""
import os
import pathlib
import resource
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
from environments import environment, site_packages  # noqa: E402
from outline_test import kernel, same, texts  # noqa: E402
from running import Port, as_json, expect, main, run  # noqa: E402

LIMIT_S = 10.0
PACKAGES = site_packages(environment("real", HERE.parents[1] / "requirements" / "real_kernels.txt"))
CUTLASS = PACKAGES / "cutlass_library/source/include"
FLASHINFER = PACKAGES / "flashinfer"


def on_one_core(*words, folder):
    core = {min(os.sched_getaffinity(0))}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(folder, *words, preexec_fn=lambda: os.sched_setaffinity(0, core))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_cutlass_headers_take_seconds():
    with Port() as port:
        run(port, "context", "add", CUTLASS, "--name", "cutlass", "--for", "tensor-core GEMMs of every generation")
        took = {words[0]: on_one_core("context", *words, folder=port)
                for words in (["index"], ["outline", "context/cutlass"], ["search", "SM90_TMA_LOAD"])}
        print({name: round(seconds, 2) for name, seconds in took.items()})
        expect(max(took.values()) <= LIMIT_S, took)
        index = as_json(port, "context", "index")
        lines = {each["directory"]: each for each in index["directories"]}
        arch = lines["cutlass/cute/arch"]
        expect(arch["licence"] == "BSD-3-Clause" and "CUDA C++" in arch["languages"], arch)
        expect("full_barrier_kernel" in lines["cutlass/cutlass/experimental/distributed/kernel"]["entry_points"], "no entry point")
        best = as_json(port, "context", "search", "SM90_TMA_LOAD")["matches"][0]
        expect(best["file"] == "cutlass/cute/arch/copy_sm90_tma.hpp" and best["text"] == "struct SM90_TMA_LOAD", best)
        made = as_json(port, "context", "outline", "context/cutlass")
        # Every __global__ function with a body that the headers have.
        same([each["name"] for each in made["kernels"]],
             ["Kernel", "Kernel2", "device_kernel", "GemmPipelined", "GemvBatchedStrided", "GemvBatchedStrided",
              "GemvBatchedStrided", "full_barrier_kernel"])
        barrier = kernel(made, "full_barrier_kernel")
        expect(barrier["template"] == "int NP, typename IntType, int Iterations, typename FlagType", barrier)
        same(texts(barrier["instructions"]), ["griddepcontrol.launch_dependents", "griddepcontrol.wait"])
        same(texts(barrier["shared"]), [])


def test_cuda_kernel():
    made = as_json(PACKAGES, "context", "outline", FLASHINFER / "data/include/flashinfer/attention/cascade.cuh")
    merge = kernel(made, "PersistentVariableLengthMergeStatesKernel")
    expect(merge["template"] == "uint32_t vec_size, uint32_t bdx, uint32_t bdy, uint32_t num_smem_stages, typename DTypeIn, "
           "typename DTypeO, typename IdType", merge["template"])
    same(texts(merge["instructions"]),
         ["griddepcontrol.wait", "griddepcontrol.launch_dependents", "cp.async.commit_group", "cp.async.wait_group",
          "cp.async.cg.shared.global.L2::128B", "cp.async.cg.shared.global"])
    same(texts(merge["shared"]), ["extern __shared__ uint8_t smem[]"])
    same([f"{each['how']} in {each['inside']}" for each in made["launches"] if each["kernel"] == merge["name"]],
         ["&config in VariableLengthMergeStates", "nblks, nthrs in VariableLengthMergeStates"])


def test_triton_kernel():
    made = as_json(PACKAGES, "context", "outline", FLASHINFER / "triton")
    gemm = kernel(made, "gemm_kernel_descriptor_persistent")
    expect(gemm["template"] == "BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K, GROUP_SIZE_M, EPILOGUE_SUBTILE, NUM_SMS", gemm)
    same(texts(gemm["instructions"]), ["tl.make_tensor_descriptor", "tl.dot"])
    same([f"{each['how']} in {each['inside']}" for each in made["launches"] if each["kernel"] == gemm["name"]],
         ["grid in gemm_descriptor_persistent"])


def test_cutedsl_kernel():
    made = as_json(PACKAGES, "context", "outline", FLASHINFER / "cute_dsl/rmsnorm_fp4quant.py")
    norm = kernel(made, "kernel")
    same(texts(norm["instructions"]),
         ["cute.arch.griddepcontrol_wait", "cute.arch.mbarrier_init", "cute.arch.mbarrier_init_fence",
          "cute.arch.cluster_arrive_relaxed", "cute.arch.cluster_wait", "cute.nvgpu.cpasync.CopyG2SOp",
          "cute.arch.cp_async_commit_group", "cute.arch.cp_async_wait_group", "cute.arch.griddepcontrol_launch_dependents",
          "cute.arch.elect_one", "cute.arch.mbarrier_arrive_and_expect_tx", "cute.arch.mbarrier_wait",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32"])
    expect(len(norm["shared"]) == 4 and norm["template"] == "enable_pdl", norm)
    expect([each["inside"] for each in made["launches"] if each["kernel"] == "self.kernel"] == ["__call__"], made["launches"])


if __name__ == "__main__":
    main([test_cutlass_headers_take_seconds, test_cuda_kernel, test_triton_kernel, test_cutedsl_kernel])
