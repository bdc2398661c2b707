# SPDX-License-Identifier: Apache-2.0
"""The attention kernel of kernels/sage3_hopper, some of its headers with another text, compiled by the NVRTC that torch brings, as
libsage3.so does. Needs no GPU."""
import ctypes
import pathlib
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"


def done(result, what):
    if result != 0:
        sys.exit(f"{what}: error {result}")


def nvrtc():
    for folder in map(pathlib.Path, sys.path):
        for each in sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*")):
            if "builtins" not in each.name and "alt" not in each.name:
                return ctypes.CDLL(str(each))
    return ctypes.CDLL("libnvrtc.so.13")


def compiled(headers, depth):
    """The cubin for 64 or 128 channels, bf16, without a mask. headers: by file name, texts in the place of those in kernels/sage3."""
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    source = (KERNELS / "sage3/hopper_attention.cu").read_text(encoding="utf-8")
    texts, names = ((ctypes.c_char_p * len(headers))(*[each.encode() for each in them]) for them in (headers.values(), headers))
    done(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"hopper_attention.cu", len(headers), texts, names),
         "nvrtcCreateProgram")
    options = [b"--std=c++20", b"--gpu-architecture=sm_90a", f"-DWW_HEAD_DIM={depth}".encode(), b"-DWW_TYPE=Bf16",
               b"-DWW_MASK=none", b"-DWW_V_MEAN=0", f"-I{KERNELS / 'sage3'}".encode()]
    result = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if result != 0:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    done(library.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    return cubin.raw
