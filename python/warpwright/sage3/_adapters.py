# SPDX-License-Identifier: Apache-2.0
"""The functions that users call: their arguments become those of the operator (_operator.py)."""
from ._arguments import causal_code, check_tensors, refuse, scale_of

LAYOUTS = {"BHLD": "[batch, head, token, channel]", "BLHD": "[batch, token, head, channel]"}


def _run(names, q, k, v, causal, scale, return_lse):
    from ._operator import run  # torch
    o, lse = run(names, q, k, v, causal, scale, return_lse)
    return (o, lse) if return_lse else o


def _attention(names, q, k, v, is_causal, alignment, scale_name, scale, layout, return_lse):
    causal = causal_code(is_causal, alignment)
    if layout == "BLHD":
        for name, x in zip(names, (q, k, v)):
            if len(getattr(x, "shape", ())) != 4:
                raise ValueError(f"{name} is no tensor of 4 dimensions: {LAYOUTS[layout]} is due")
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    check_tensors(names, q, k, v, LAYOUTS[layout])
    out = _run(names, q, k, v, causal, scale_of(scale_name, scale, q.shape[-1]), return_lse)
    if layout == "BHLD":
        return out
    return (out[0].transpose(1, 2), out[1]) if return_lse else out.transpose(1, 2)


def attention(q, k, v, is_causal=False, *, causal_alignment="bottom_right", scale=None, layout="BHLD",
              return_lse=False):
    """softmax(scale q k^T) v of float16 or bfloat16 CUDA tensors, in FP4.

    q is [batch, head, token, channel] (layout "BLHD": [batch, token, head, channel]), k and v likewise with
    as many heads or a divisor of them; 1 to 128 channels; any strides, channels contiguous. With is_causal
    query i sees key j <= i + Lk - Lq, or j <= i with causal_alignment "top_left". scale is channels ** -0.5 if
    None. The result has q's shape, strides and type; with return_lse also the natural logarithm of the sums
    of exponentials, float32 [batch, head, token]. A row that sees no key gives zeros and -inf.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}: 'BHLD' or 'BLHD' is due")
    return _attention("qkv", q, k, v, is_causal, causal_alignment, "scale", scale, layout, return_lse)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """As torch.nn.functional's: is_causal is aligned top left. No mask, no dropout, no gradient."""
    refuse(attn_mask=attn_mask, dropout_p=dropout_p or None)
    names = ("query", "key", "value")
    ranks = [len(getattr(x, "shape", ())) for x in (query, key, value)]
    if ranks != [ranks[0]] * 3 or not 2 <= ranks[0] <= 4:
        raise ValueError(f"query, key and value have {ranks[0]}, {ranks[1]} and {ranks[2]} dimensions: 2 to 4, "
                         "and as many of each, are supported")
    if not enable_gqa and ranks[0] > 2 and query.shape[-3] != key.shape[-3]:
        raise ValueError(f"query has {query.shape[-3]} heads, key {key.shape[-3]}: enable_gqa=True is due")
    for _ in range(4 - ranks[0]):
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    out = _attention(names, query, key, value, is_causal, "top_left", "scale", scale, "BHLD", False)
    for _ in range(4 - ranks[0]):
        out = out.squeeze(0)
    return out


def sageattn3_blackwell(q, k, v, attn_mask=None, is_causal=False, per_block_mean=True, **kwargs):
    """As the original's, [batch, head, token, channel]. Further arguments that the original takes and drops:
    scale or sm_scale, tensor_layout ("HND" or "NHD") and return_lse are honoured, others refused."""
    refuse(attn_mask=attn_mask)
    if not per_block_mean:
        raise NotImplementedError("per_block_mean = False is not supported: the mean of Q is that of 128 queries")
    layout = {"HND": "BHLD", "NHD": "BLHD"}.get(kwargs.pop("tensor_layout", "HND"))
    if layout is None:
        raise ValueError("tensor_layout: 'HND' or 'NHD' is due")
    if "scale" in kwargs and "sm_scale" in kwargs:
        raise ValueError("scale and sm_scale are the same: one is due")
    name = "sm_scale" if "sm_scale" in kwargs else "scale"
    scale = kwargs.pop(name, None)
    return_lse = bool(kwargs.pop("return_lse", False))
    refuse(**kwargs)
    return _attention("qkv", q, k, v, is_causal, "bottom_right", name, scale, layout, return_lse)
