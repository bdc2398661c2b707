# SPDX-License-Identifier: Apache-2.0
"""Sage Attention 3 in FP4 for consumer Blackwell (sm_120, sm_121; emulated, not yet run on silicon), in INT8 and FP8 on Hopper (sm_90).

attention() is the function, attention_varlen() takes packed sequences; scaled_dot_product_attention() and sageattn3_blackwell() take the arguments of
PyTorch's and of the original's. What they cannot honour raises an error that names it. torch is imported at
the first call.
"""
from ._adapters import attention, attention_varlen, sageattn3_blackwell, scaled_dot_product_attention
from ._library import version

__all__ = ["attention", "attention_varlen", "sageattn3_blackwell", "scaled_dot_product_attention", "version"]
