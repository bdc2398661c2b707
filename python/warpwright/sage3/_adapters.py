# SPDX-License-Identifier: Apache-2.0
"""The functions that users call: their arguments become those of the operator (_operator.py)."""
from ._arguments import (Call, causal_code, check_mask, check_starts, check_tensors, flags_of, refuse, scale_of,
                         window_of)

LAYOUTS = {"BHLD": "[batch, head, token, channel]", "BLHD": "[batch, token, head, channel]"}


def _run(names, q, k, v, call):
    from ._operator import run  # torch
    o, lse = run(names, q, k, v, call)
    return (o, lse) if call.return_lse else o


def _attention(names, q, k, v, layout, mask, mask_name, scale, scale_name, call):
    if layout == "BLHD":
        for name, x in zip(names, (q, k, v)):
            if len(getattr(x, "shape", ())) != 4:
                raise ValueError(f"{name} is no tensor of 4 dimensions: {LAYOUTS[layout]} is due")
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    check_tensors(names, q, k, v, LAYOUTS[layout])
    if mask is not None:
        mask = check_mask(mask_name, mask, names, q, k)
    out = _run(names, q, k, v, call._replace(mask=mask, scale=scale_of(scale_name, scale, q.shape[-1])))
    if layout == "BHLD":
        return out
    return (out[0].transpose(1, 2), out[1]) if call.return_lse else out.transpose(1, 2)


def attention(q, k, v, is_causal=False, *, causal_alignment="bottom_right", window=None, attn_mask=None, scale=None,
              layout="BHLD", per_block_mean=True, smooth_v=False, exact_fp4=False, return_lse=False):
    """softmax(scale q k^T + attn_mask) v of float16 or bfloat16 CUDA tensors, in FP4; on Hopper in INT8 and FP8.

    q is [batch, head, token, channel] (layout "BLHD": [batch, token, head, channel]), k and v likewise with
    as many heads or a divisor of them; 1 to 256 channels; any strides, channels contiguous. With is_causal
    query i sees key j <= i + Lk - Lq, or j <= i with causal_alignment "top_left". window is (left, right), how many
    keys before and after that diagonal a query sees, -1 for all. attn_mask broadcasts to [batch, head, query, key]:
    bool, where False hides a key, or float32 or q's type, which is added. scale is channels ** -0.5 if None.
    per_block_mean: Q loses the mean of each 128 queries, else of all (of no effect with INT8, on sm_90). smooth_v: V is
    quantised without the mean of its keys. exact_fp4: on Hopper, too, the numbers of FP4, to the bit of what is quantised, in
    f16 and slower. The result has q's shape, strides and type; with return_lse also the natural logarithm of the sums of
    exponentials, float32 [batch, head, token]. A row that sees no key gives zeros and -inf.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}: 'BHLD' or 'BLHD' is due")
    left, right = window_of(window)
    call = Call(causal=causal_code(is_causal, causal_alignment), window_left=left, window_right=right,
                flags=flags_of(per_block_mean, smooth_v, exact_fp4), return_lse=bool(return_lse))
    return _attention("qkv", q, k, v, layout, attn_mask, "attn_mask", scale, "scale", call)


def attention_varlen(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, is_causal=False, *,
                     causal_alignment="bottom_right", window=None, scale=None, per_block_mean=True, smooth_v=False,
                     exact_fp4=False, return_lse=False):
    """attention() of sequences of different lengths, one after another: q is [token, head, channel], k and v
    likewise, and tokens cu_seqlens[s] to cu_seqlens[s + 1] - 1 are sequence s (int32 CUDA tensors that begin
    with 0, read by the GPU alone). What a sequence has beyond max_seqlen is left out. The logarithms are [head, token].
    """
    for name, x in zip("qkv", (q, k, v)):
        if len(getattr(x, "shape", ())) != 3:
            raise ValueError(f"{name} is no tensor of 3 dimensions: [token, head, channel] is due")
    q4, k4, v4 = (x.transpose(0, 1).unsqueeze(0) for x in (q, k, v))
    check_tensors("qkv", q4, k4, v4, "[token, head, channel]")
    check_starts("cu_seqlens_q", cu_seqlens_q, q)
    check_starts("cu_seqlens_k", cu_seqlens_k, q)
    if cu_seqlens_q.shape != cu_seqlens_k.shape:
        raise ValueError(f"cu_seqlens_q is {tuple(cu_seqlens_q.shape)}, cu_seqlens_k {tuple(cu_seqlens_k.shape)}: "
                         "as many are due")
    for name, longest, x in (("max_seqlen_q", max_seqlen_q, q), ("max_seqlen_k", max_seqlen_k, k)):
        if not isinstance(longest, int) or not 1 <= longest <= x.shape[0]:
            raise ValueError(f"{name} is {longest!r}: 1 to {x.shape[0]} is due")
    left, right = window_of(window)
    call = Call(q_starts=cu_seqlens_q, k_starts=cu_seqlens_k, longest_q=max_seqlen_q, longest_k=max_seqlen_k,
                causal=causal_code(is_causal, causal_alignment), window_left=left, window_right=right,
                scale=scale_of("scale", scale, q.shape[-1]), flags=flags_of(per_block_mean, smooth_v, exact_fp4),
                return_lse=bool(return_lse))
    out = _run("qkv", q4, k4, v4, call)
    o, lse = out if return_lse else (out, None)
    o = o.squeeze(0).transpose(0, 1)
    return (o, lse.squeeze(0)) if return_lse else o


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """As torch.nn.functional's: is_causal is aligned top left. No dropout, no gradient."""
    refuse(dropout_p=dropout_p or None)
    names = ("query", "key", "value")
    if attn_mask is not None and is_causal:
        raise ValueError("attn_mask and is_causal: one is due")
    ranks = [len(getattr(x, "shape", ())) for x in (query, key, value)]
    if ranks != [ranks[0]] * 3 or not 2 <= ranks[0] <= 4:
        raise ValueError(f"query, key and value have {ranks[0]}, {ranks[1]} and {ranks[2]} dimensions: 2 to 4, "
                         "and as many of each, are supported")
    if not enable_gqa and ranks[0] > 2 and query.shape[-3] != key.shape[-3]:
        raise ValueError(f"query has {query.shape[-3]} heads, key {key.shape[-3]}: enable_gqa=True is due")
    for _ in range(4 - ranks[0]):
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    call = Call(causal=causal_code(is_causal, "top_left"))
    out = _attention(names, query, key, value, "BHLD", attn_mask, "attn_mask", scale, "scale", call)
    for _ in range(4 - ranks[0]):
        out = out.squeeze(0)
    return out


def sageattn3_blackwell(q, k, v, attn_mask=None, is_causal=False, per_block_mean=True, **kwargs):
    """As the original's, [batch, head, token, channel]. Further arguments that the original takes and drops:
    attn_mask, scale or sm_scale, tensor_layout ("HND" or "NHD") and return_lse are honoured, and so is exact_fp4 of
    attention(); others are refused."""
    layout = {"HND": "BHLD", "NHD": "BLHD"}.get(kwargs.pop("tensor_layout", "HND"))
    if layout is None:
        raise ValueError("tensor_layout: 'HND' or 'NHD' is due")
    if "scale" in kwargs and "sm_scale" in kwargs:
        raise ValueError("scale and sm_scale are the same: one is due")
    name = "sm_scale" if "sm_scale" in kwargs else "scale"
    scale = kwargs.pop(name, None)
    flags = flags_of(per_block_mean, False, kwargs.pop("exact_fp4", False))
    call = Call(causal=causal_code(is_causal, "bottom_right"), flags=flags,
                return_lse=bool(kwargs.pop("return_lse", False)))
    refuse(**kwargs)
    return _attention("qkv", q, k, v, layout, attn_mask, "attn_mask", scale, name, call)
