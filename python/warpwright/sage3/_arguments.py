# SPDX-License-Identifier: Apache-2.0
"""What attention() takes, checked and turned into a Problem. Looks at shapes, strides, dtypes and devices
only, by torch's names, so that anything with those will do."""
import math
import typing

from ._library import (BF16, BOTTOM_RIGHT, EXACT_FP4, F16, FULL, GLOBAL_Q_MEAN, MASK_BYTES, MASK_F32, MASK_OF_TYPE,
                       NO_MASK, SMOOTH_V, TOP_LEFT, WINDOW, Problem, Tensor)

TYPES = {"torch.float16": F16, "torch.bfloat16": BF16}
ALIGNMENTS = {"bottom_right": BOTTOM_RIGHT, "top_left": TOP_LEFT}
MAX_HEAD_DIM = 256


class Call(typing.NamedTuple):
    """All that the operator takes beside q, k and v, in its order."""
    mask: typing.Any = None  # [batch, head, query, key], strides of 0 where it repeats
    q_starts: typing.Any = None  # int32 [sequences + 1]
    k_starts: typing.Any = None
    longest_q: int = 0
    longest_k: int = 0
    causal: int = FULL
    window_left: int = -1  # -1: all
    window_right: int = -1
    scale: float = 1.0
    flags: int = 0
    return_lse: bool = False


def refuse(**arguments):
    """Arguments that no kernel here can honour; those that are None or False ask for nothing."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            said = f"{name} = {value!r}" if isinstance(value, (bool, int, float, str)) else name
            raise NotImplementedError(f"{said} is not supported")


def check_tensors(names, q, k, v, axes):
    """q, k, v [batch, head, token, channel] as attention() wants them. axes: what a shape is called."""
    for name, x in zip(names, (q, k, v)):
        if not all(hasattr(x, each) for each in ("shape", "stride", "dtype", "device")):
            raise TypeError(f"{name} is a {type(x).__name__}: a tensor is due")
        if len(x.shape) != 4:
            raise ValueError(f"{name} has {len(x.shape)} dimensions: {axes} is due")
        if str(x.dtype) not in TYPES:
            raise ValueError(f"{name} is {x.dtype}: torch.float16 and torch.bfloat16 are supported")
        if x.dtype != q.dtype:
            raise ValueError(f"{name} is {x.dtype}, {names[0]} {q.dtype}: one type is due")
        if x.device != q.device:
            raise ValueError(f"{name} is on {x.device}, {names[0]} on {q.device}: one device is due")
        if x.shape[-1] > 1 and x.stride(-1) != 1:
            raise ValueError(f"{name}'s last dimension has stride {x.stride(-1)}: 1 is due (contiguous() makes "
                             "it so)")
    batches, heads, _, depth = q.shape
    if tuple(k.shape) != tuple(v.shape):
        raise ValueError(f"{names[1]} is {tuple(k.shape)}, {names[2]} {tuple(v.shape)}: one shape is due")
    if k.shape[0] != batches:
        raise ValueError(f"{names[1]} has {k.shape[0]} batches, {names[0]} {batches}: as many are due")
    if k.shape[3] != depth:
        raise ValueError(f"{names[1]} has {k.shape[3]} channels, {names[0]} {depth}: as many are due")
    if k.shape[1] == 0 or heads % k.shape[1]:
        raise ValueError(f"{names[0]} has {heads} heads, {names[1]} {k.shape[1]}: a multiple is due")
    if not 1 <= depth <= MAX_HEAD_DIM:
        raise ValueError(f"{names[0]} has {depth} channels: 1 to {MAX_HEAD_DIM} is supported")
    if 0 in q.shape or 0 in k.shape:
        raise ValueError(f"{names[0]} is {tuple(q.shape)}, {names[1]} {tuple(k.shape)}: no extent may be 0")


def causal_code(is_causal, alignment):
    if alignment not in ALIGNMENTS:
        raise ValueError(f"causal_alignment is {alignment!r}: 'bottom_right' or 'top_left' is due")
    return ALIGNMENTS[alignment] if is_causal else FULL


def scale_of(name, scale, depth):
    if scale is None:
        return depth ** -0.5
    if not (scale > 0 and math.isfinite(scale)):
        raise ValueError(f"{name} is {scale}: a positive number is due")
    return float(scale)


def window_of(window):
    """(left, right), -1 for all keys of that side, from a pair with -1 or None for it."""
    if window is None:
        return -1, -1
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise ValueError(f"window is {window!r}: (keys before, keys after) is due, -1 for all")
    sides = tuple(-1 if side is None else side for side in window)
    if not all(isinstance(side, int) and side >= -1 for side in sides):
        raise ValueError(f"window is {window!r}: numbers of keys are due, -1 for all")
    return sides


def flags_of(per_block_mean, smooth_v, exact_fp4):
    return (0 if per_block_mean else GLOBAL_Q_MEAN) | (SMOOTH_V if smooth_v else 0) | (EXACT_FP4 if exact_fp4 else 0)


def check_mask(name, mask, names, q, k):
    """The mask as [batch, head, query, key]: bool (False hides), q's type or float32 (added)."""
    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if not all(hasattr(mask, each) for each in ("shape", "stride", "dtype", "device")):
        raise TypeError(f"{name} is a {type(mask).__name__}: a tensor is due")
    if str(mask.dtype) not in ("torch.bool", "torch.float32", str(q.dtype)):
        raise ValueError(f"{name} is {mask.dtype}: torch.bool, torch.float32 or {names[0]}'s {q.dtype} is due")
    if mask.device != q.device:
        raise ValueError(f"{name} is on {mask.device}, {names[0]} on {q.device}: one device is due")
    sizes = (1,) * (4 - len(mask.shape)) + tuple(mask.shape)
    if len(sizes) != 4 or any(size not in (1, due) for size, due in zip(sizes, shape)):
        raise ValueError(f"{name} is {tuple(mask.shape)}: what broadcasts to {shape} is due")
    if getattr(mask, "requires_grad", False):
        raise NotImplementedError(f"{name} requires a gradient: there is no backward pass (use no_grad())")
    mask = mask.expand(*shape)
    return mask if shape[3] == 1 or mask.stride(3) == 1 else mask.contiguous()


def check_starts(name, starts, q):
    if not all(hasattr(starts, each) for each in ("shape", "stride", "dtype", "device")):
        raise TypeError(f"{name} is a {type(starts).__name__}: a tensor is due")
    if str(starts.dtype) != "torch.int32" or len(starts.shape) != 1 or starts.shape[0] < 2:
        raise ValueError(f"{name} is {starts.dtype} {tuple(starts.shape)}: torch.int32 (sequences + 1,) is due")
    if starts.stride(0) != 1 or starts.device != q.device:
        raise ValueError(f"{name} has stride {starts.stride(0)} and is on {starts.device}: 1 and {q.device} are due")


def check_no_gradient(names, tensors):
    for name, x in zip(names, tensors):
        if getattr(x, "requires_grad", False):
            raise NotImplementedError(f"{name} requires a gradient: there is no backward pass (use no_grad())")


def _strided(x):
    batch, head, token, _ = (x.stride(i) for i in range(4))
    return Tensor(x.data_ptr(), batch, head, token)


def _mask_fields(mask, q):
    if mask is None:
        return dict(mask_type=NO_MASK)
    types = {"torch.bool": MASK_BYTES, "torch.float32": MASK_F32}
    return dict(mask_type=types.get(str(mask.dtype), MASK_OF_TYPE), mask=_strided(mask))


def problem_of(q, k, v, o, lse, call):
    """Of tensors that passed the checks; lse a float tensor [batch, head, query] without gaps, or None."""
    batches, heads, queries, depth = q.shape
    packed = {}
    if call.q_starts is not None:
        packed = dict(sequences=call.q_starts.shape[0] - 1, q_starts=call.q_starts.data_ptr(),
                      k_starts=call.k_starts.data_ptr(), longest_queries=call.longest_q, longest_keys=call.longest_k)
    return Problem(batches=batches, heads=heads, kv_heads=k.shape[1], queries=queries, keys=k.shape[2],
                   head_dim=depth, type=TYPES[str(q.dtype)], causal=call.causal, scale=call.scale, q=_strided(q),
                   k=_strided(k), v=_strided(v), o=_strided(o), lse=None if lse is None else lse.data_ptr(),
                   flags=call.flags | WINDOW, window_left=call.window_left, window_right=call.window_right,
                   **_mask_fields(call.mask, q), **packed)
