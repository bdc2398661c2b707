# SPDX-License-Identifier: Apache-2.0
"""flashinfer's Triton kernels, compiled by Triton and assembled by the ptxas that it carries.

    flashinfer_triton.py SITE_PACKAGES TARGET KERNEL FOLDER     writes FOLDER/<kernel>.{ptx,cubin}

The log of ptxas -v goes to stdout. Launch: grid as SPECS says, 32 * WARPS threads, the dynamic
shared memory that Triton reports (printed), pointers and integers in the order of the signature,
then Triton's two scratch pointers, which may be null.
"""
import importlib
import pathlib
import subprocess
import sys
import types

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas
from triton.compiler import ASTSource

WARPS = 4
NUMBERS = {"sm_80": 80, "sm_90a": 90, "sm_100a": 100, "sm_120a": 120}
GEMM = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
STRIDES = {f"stride_{each}": "i32" for each in ("am", "ak", "bk", "bn", "cm", "cn")}
SCALES = {"alpha": "fp32", "beta": "fp32"}
TILE = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}
MERGE = {"v_ptr": "*fp32", "s_ptr": "*fp32", "v_merged_ptr": "*fp32", "s_merged_ptr": "*fp32",
         "num_index_sets": "i32", "num_heads": "i32", "head_dim": "i32"}
# name: module, function, types of the arguments, constants. Strides of 1 are constants, as Triton
# specialises them.
SPECS = {
    # grid (tiles)
    "gemm": ("sm_constraint_gemm", "gemm_kernel", {**GEMM, **STRIDES, **SCALES},
             {**TILE, "stride_ak": 1, "stride_bn": 1, "stride_cn": 1}),
    # grid (multiprocessors): blocks take tiles in turn
    "gemm_persistent": ("sm_constraint_gemm", "gemm_kernel_persistent",
                        {**GEMM, **STRIDES, **SCALES},
                        {**TILE, "NUM_SMS": 132, "stride_ak": 1, "stride_bn": 1, "stride_cn": 1}),
    # grid (rows)
    "rms_norm": ("norm", "rms_norm_kernel",
                 {"n": "i32", "b": "i32", "x_ptr": "*bf16", "x_stride": "i32",
                  "x_scale_ptr": "*fp32", "r_ptr": "*bf16", "r_stride": "i32", "w_ptr": "*bf16",
                  "o_ptr": "*bf16", "o_stride": "i32", "o_scale_ptr": "*fp32"},
                 {"EPS": 1e-5, "BLOCK_SIZE": 1024, "HAS_IN_SCALE": False, "HAS_OUT_SCALE": True,
                  "HAS_OUTPUT": True, "HAS_RESIDUAL": True}),
    # grid (rows)
    "merge_states": ("cascade", "merge_states_kernel", MERGE, {"bdx": 128, "bdy": 32}),
    # grid (rows, ceil(d / BLOCK_SIZE))
    "silu_and_mul": ("activation", "silu_and_mul_kernel",
                     {"o_ptr": "*fp8e4nv", "o_stride": "i32", "o_scale_ptr": "*fp32",
                      "x_ptr": "*bf16", "x_stride": "i32", "x_scale_ptr": "*fp32", "d": "i32"},
                     {"BLOCK_SIZE": 1024, "HAS_X_SCALE": False, "HAS_O_SCALE": True}),
}


def kernel_of(site, module, function):
    """The kernel; bare packages stand in for flashinfer, whose own import wants PyTorch."""
    for name in ("flashinfer", "flashinfer.triton", "flashinfer.triton.kernels"):
        package = types.ModuleType(name)
        package.__path__ = [str(site.joinpath(*name.split(".")))]
        sys.modules[name] = package
    kernel = getattr(importlib.import_module(f"flashinfer.triton.kernels.{module}"), function)
    while not isinstance(kernel, triton.JITFunction):
        kernel = kernel.fn
    return kernel


def main():
    site, target, name, folder = sys.argv[1:]
    module, function, types_of, constants = SPECS[name]
    kernel = kernel_of(pathlib.Path(site), module, function)
    signature = {each: "constexpr" if each in constants else types_of[each]
                 for each in kernel.arg_names}
    hints = {(i,): [["tt.divisibility", 16]] for i, each in enumerate(kernel.arg_names)
             if signature[each] not in ("constexpr", "fp32")}
    compiled = triton.compile(ASTSource(kernel, signature, constants, hints),
                              target=GPUTarget("cuda", NUMBERS[target], 32),
                              options={"num_warps": WARPS, "num_stages": 3})
    ptx = pathlib.Path(folder) / f"{name}.ptx"
    ptx.write_text(compiled.asm["ptx"])
    ptxas = get_ptxas(NUMBERS[target])
    print(f"ptxas {ptxas.version}; dynamic shared memory: {compiled.metadata.shared} bytes",
          flush=True)
    subprocess.run([ptxas.path, "-v", "-lineinfo", f"--gpu-name={target}", ptx,
                    "-o", ptx.with_suffix(".cubin")], check=True)


if __name__ == "__main__":
    main()
