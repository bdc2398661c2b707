# SPDX-License-Identifier: Apache-2.0
"""What attention() takes, checked and turned into a Problem. Looks at shapes, strides, dtypes and devices
only, by torch's names, so that anything with those will do."""
import math

from ._library import BF16, BOTTOM_RIGHT, F16, FULL, TOP_LEFT, Problem, Tensor

TYPES = {"torch.float16": F16, "torch.bfloat16": BF16}
ALIGNMENTS = {"bottom_right": BOTTOM_RIGHT, "top_left": TOP_LEFT}
MAX_HEAD_DIM = 128


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


def check_no_gradient(names, tensors):
    for name, x in zip(names, tensors):
        if getattr(x, "requires_grad", False):
            raise NotImplementedError(f"{name} requires a gradient: there is no backward pass (use no_grad())")


def _strided(x):
    batch, head, token, _ = (x.stride(i) for i in range(4))
    return Tensor(x.data_ptr(), batch, head, token)


def problem_of(q, k, v, o, lse, causal, scale):
    """Of tensors that passed check_tensors(); lse a float tensor [batch, head, query] without gaps, or None."""
    batches, heads, queries, depth = q.shape
    return Problem(batches=batches, heads=heads, kv_heads=k.shape[1], queries=queries, keys=k.shape[2],
                   head_dim=depth, type=TYPES[str(q.dtype)], causal=causal, scale=scale, q=_strided(q),
                   k=_strided(k), v=_strided(v), o=_strided(o), lse=None if lse is None else lse.data_ptr())
