#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operator under torch: registration, its fake kernel, torch.compile and the errors of tensors that are
not on a GPU. Exit code 77 where there is no torch. Numbers need a GPU: `warpwright silicon` and the ladder.

    torch_test.py python/ libsage3.so
"""
import os
import sys
import unittest

sys.path.insert(0, sys.argv[1])
os.environ["WARPWRIGHT_SAGE3_LIBRARY"] = sys.argv[2]
try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from warpwright import sage3  # noqa: E402
from warpwright.sage3 import _operator  # noqa: E402,F401
from warpwright.sage3._arguments import Call  # noqa: E402


class Operator(unittest.TestCase):
    def test_fake_kernel(self):
        op = torch.ops.warpwright.sage3_attention
        with FakeTensorMode():
            q = torch.empty(2, 100, 8, 64, dtype=torch.bfloat16, device="cuda").transpose(1, 2)
            k = torch.empty(2, 2, 70, 64, dtype=torch.bfloat16, device="cuda")
            call = Call(causal=1, scale=0.1, return_lse=True)
            o, lse = op(q, k, k, *call)
            self.assertEqual((o.shape, o.stride(), o.dtype), (q.shape, q.stride(), q.dtype))
            self.assertEqual((lse.shape, lse.dtype), ((2, 8, 100), torch.float32))
            self.assertEqual(op(q, k, k, *call._replace(return_lse=False))[1].numel(), 0)
            out = sage3.attention(q.transpose(1, 2), k.transpose(1, 2), k.transpose(1, 2), layout="BLHD")
            self.assertEqual((out.shape, out.is_contiguous()), ((2, 100, 8, 64), True))

    def test_masks_and_packed_sequences(self):
        with FakeTensorMode():
            q = torch.empty(2, 4, 100, 64, dtype=torch.bfloat16, device="cuda")
            mask = torch.empty(100, 100, dtype=torch.bool, device="cuda")
            self.assertEqual(sage3.scaled_dot_product_attention(q, q, q, mask).shape, q.shape)
            added = torch.empty(2, 1, 1, 100, dtype=torch.float32, device="cuda")
            self.assertEqual(sage3.attention(q, q, q, attn_mask=added, window=(5, 5)).shape, q.shape)
            packed = torch.empty(100, 4, 64, dtype=torch.float16, device="cuda")
            starts = torch.empty(4, dtype=torch.int32, device="cuda")
            o, lse = sage3.attention_varlen(packed, packed, packed, starts, starts, 60, 60, True, return_lse=True)
            self.assertEqual((o.shape, o.is_contiguous(), lse.shape), (packed.shape, True, (4, 100)))

    def test_stays_in_the_graph(self):
        graphs = []

        def keep(module, inputs):
            graphs.append([str(node.target) for node in module.graph.nodes if node.op == "call_function"])
            return module.forward

        def model(q, k, v):
            return sage3.attention(q * 2, k, v, True) + 1

        with FakeTensorMode(allow_non_fake_inputs=True):
            q = torch.empty(1, 4, 128, 64, dtype=torch.float16, device="cuda")
            torch.compile(model, backend=keep, fullgraph=True)(q, q, q)
        self.assertEqual(len(graphs), 1)
        self.assertTrue(any("sage3_attention" in name for name in graphs[0]), graphs)

    def test_errors(self):
        q = torch.zeros(1, 2, 8, 64, dtype=torch.float16)
        with self.assertRaisesRegex(ValueError, "q is on cpu: a CUDA device is due"):
            sage3.attention(q, q, q)
        with self.assertRaisesRegex(NotImplementedError, "value requires a gradient"):
            sage3.scaled_dot_product_attention(q, q, q.clone().requires_grad_())
        with torch.no_grad(), self.assertRaisesRegex(ValueError, "is on cpu"):
            sage3.attention(q.clone().requires_grad_(), q, q)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
