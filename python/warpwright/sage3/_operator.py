# SPDX-License-Identifier: Apache-2.0
"""The custom operator warpwright::sage3_attention: torch.compile keeps it as one node, by its fake kernel."""
import typing

import torch

from . import _library
from ._arguments import Call, check_no_gradient, problem_of

Optional = typing.Optional[torch.Tensor]


def _outputs(q, return_lse):
    # empty_like keeps the order of q's strides: [B, L, H, D] in memory stays that.
    lse = q.new_empty(q.shape[:3] if return_lse else (0,), dtype=torch.float32)
    return torch.empty_like(q), lse


@torch.library.custom_op("warpwright::sage3_attention", mutates_args=(), device_types="cuda")
def sage3_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Optional, q_starts: Optional,
                    k_starts: Optional, longest_q: int, longest_k: int, causal: int, window_left: int,
                    window_right: int, scale: float, flags: int,
                    return_lse: bool) -> tuple[torch.Tensor, torch.Tensor]:
    library = _library.cuda()
    call = Call(mask, q_starts, k_starts, longest_q, longest_k, causal, window_left, window_right, scale, flags, return_lse)
    with torch.cuda.device(q.device):
        o, lse = _outputs(q, return_lse)
        problem = problem_of(q, k, v, o, lse if return_lse else None, call)
        # The allocator gives the workspace to nobody else before this stream has come past the launches.
        workspace = torch.empty(library.workspace_bytes(problem), dtype=torch.uint8, device=q.device)
        stream = torch.cuda.current_stream(q.device).cuda_stream
        library.attention(problem, workspace.data_ptr(), workspace.numel(), stream)
    return o, lse


@sage3_attention.register_fake
def _(q, k, v, mask, q_starts, k_starts, longest_q, longest_k, causal, window_left, window_right, scale, flags, return_lse):
    return _outputs(q, return_lse)


def run(names, q, k, v, call):
    if torch.is_grad_enabled():
        check_no_gradient(names, (q, k, v))
    if q.device.type != "cuda":
        raise ValueError(f"{names[0]} is on {q.device}: a CUDA device is due")
    return sage3_attention(q, k, v, *call)
