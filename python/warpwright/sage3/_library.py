# SPDX-License-Identifier: Apache-2.0
"""libsage3.so by ctypes: sage3.h, field by field. Knows nothing of torch."""
import ctypes
import functools
import importlib.util
import os
import pathlib

FULL, BOTTOM_RIGHT, TOP_LEFT = 0, 1, 2
F16, BF16 = 0, 1
WINDOW, GLOBAL_Q_MEAN, SMOOTH_V, EXACT_FP4 = 1, 2, 4, 8
NO_MASK, MASK_BYTES, MASK_OF_TYPE, MASK_F32 = 0, 1, 2, 3
INVALID = 2


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("batch", ctypes.c_int64), ("head", ctypes.c_int64),
                ("token", ctypes.c_int64)]


class Problem(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_uint64), ("batches", ctypes.c_int64), ("heads", ctypes.c_int64),
                ("kv_heads", ctypes.c_int64), ("queries", ctypes.c_int64), ("keys", ctypes.c_int64),
                ("head_dim", ctypes.c_int64), ("type", ctypes.c_int), ("causal", ctypes.c_int),
                ("scale", ctypes.c_float), ("q", Tensor), ("k", Tensor), ("v", Tensor), ("o", Tensor),
                ("lse", ctypes.c_void_p), ("flags", ctypes.c_uint32), ("window_left", ctypes.c_int64),
                ("window_right", ctypes.c_int64), ("mask_type", ctypes.c_int), ("mask", Tensor),
                ("sequences", ctypes.c_int64), ("q_starts", ctypes.c_void_p), ("k_starts", ctypes.c_void_p),
                ("longest_queries", ctypes.c_int64), ("longest_keys", ctypes.c_int64)]

    def __init__(self, **fields):
        super().__init__(struct_bytes=ctypes.sizeof(Problem), **fields)


def _declare(library):
    handle, problem = ctypes.c_void_p, ctypes.POINTER(Problem)
    for name, result, arguments in (
            ("open", ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(handle)]),
            ("close", None, [handle]),
            ("workspace_bytes", ctypes.c_int, [handle, problem, ctypes.POINTER(ctypes.c_uint64)]),
            ("prepare", ctypes.c_int, [handle, problem]),
            ("attention", ctypes.c_int,
             [handle, problem, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]),
            ("allocate", ctypes.c_int, [handle, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)]),
            ("release", ctypes.c_int, [handle, ctypes.c_void_p]),
            ("copy_in", ctypes.c_int, [handle, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]),
            ("copy_out", ctypes.c_int, [handle, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]),
            ("message", ctypes.c_char_p, []),
            ("version", ctypes.c_char_p, [])):
        function = getattr(library, "sage3_" + name)
        function.restype, function.argtypes = result, arguments
    return library


def _wheel_nvrtc():
    """NVRTC of this interpreter's packages, which torch brings along; None where there is none."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or [] if spec else []:
        for place in ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"):
            if os.path.isfile(os.path.join(root, place)):
                return os.path.join(root, place)
    return None


def path():
    """WARPWRIGHT_SAGE3_LIBRARY, else the library inside the package."""
    chosen = os.environ.get("WARPWRIGHT_SAGE3_LIBRARY") or pathlib.Path(__file__).with_name("libsage3.so")
    if not os.path.isfile(chosen):
        raise ImportError(f"there is no {chosen}: install the wheel that `warpwright wheel` makes, or set "
                          "WARPWRIGHT_SAGE3_LIBRARY to the path of a libsage3.so")
    return os.path.abspath(chosen)


@functools.lru_cache(maxsize=None)
def _loaded(where):
    if "WARPWRIGHT_NVRTC" not in os.environ:
        nvrtc = _wheel_nvrtc()
        if nvrtc:
            os.environ["WARPWRIGHT_NVRTC"] = nvrtc
    return _declare(ctypes.CDLL(where))


class Library:
    """A handle; any number of threads may use it. It lives as long as the process."""

    def __init__(self, where, device="cuda"):
        self.c = _loaded(where)
        self.handle = ctypes.c_void_p()
        self._check(self.c.sage3_open(device.encode(), ctypes.byref(self.handle)))

    def _check(self, status):
        if status:
            raise (ValueError if status == INVALID else RuntimeError)(self.c.sage3_message().decode())

    def workspace_bytes(self, problem):
        out = ctypes.c_uint64()
        self._check(self.c.sage3_workspace_bytes(self.handle, ctypes.byref(problem), ctypes.byref(out)))
        return out.value

    def prepare(self, problem):
        self._check(self.c.sage3_prepare(self.handle, ctypes.byref(problem)))

    def attention(self, problem, workspace, workspace_bytes, stream):
        self._check(self.c.sage3_attention(self.handle, ctypes.byref(problem), workspace, workspace_bytes, stream))


@functools.lru_cache(maxsize=None)
def cuda():
    return Library(path())


def version():
    """Of the library."""
    return _loaded(path()).sage3_version().decode()
