#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libsage3.so under PyTorch on a GPU that it supports: numbers against float32, CUDA graphs (the first call inside a
capture too), streams, threads, torch.compile, sizes beyond 32 bits. Exit code 77 without torch or such a GPU.

    gpu_test.py python/ libsage3.so
"""
import os
import sys
import threading
import unittest

sys.path.insert(0, sys.argv[1])
os.environ["WARPWRIGHT_SAGE3_LIBRARY"] = os.path.abspath(sys.argv[2])
try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() not in ((9, 0), (12, 0), (12, 1)):
    print("no GPU of sm_90, sm_120 or sm_121")
    sys.exit(77)
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

from warpwright import sage3  # noqa: E402

LIMIT = 0.06 if torch.cuda.get_device_capability()[0] == 9 else 0.25  # relative L2 error: INT8 and FP8, or FP4


def randn(*shape, dtype=torch.bfloat16, seed=0):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float32, device="cuda", generator=generator).to(dtype)


def error(got, due):
    return ((got.float() - due.float()).norm() / due.float().norm()).item()


class OnTheGpu(unittest.TestCase):
    def close(self, got, due):
        self.assertFalse(torch.isnan(got).any())
        self.assertLess(error(got, due), LIMIT)

    def test_first_call_in_a_capture(self):  # by name the first test: nothing is compiled or loaded before
        q = randn(1, 2, 300, 72, dtype=torch.float16)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o = sage3.attention(q, q, q, True)
        for seed in (1, 2):
            q.copy_(randn(1, 2, 300, 72, dtype=torch.float16, seed=seed))
            graph.replay()
            self.close(o, scaled_dot_product_attention(*[q.float()] * 3, is_causal=True))

    def test_shapes_of_torch(self):
        for batch, heads, queries, keys, depth in ((4, 8, 128, 128, 64), (1, 1, 1, 1, 16), (2, 3, 257, 257, 80),
                                                   (2, 4, 33, 700, 128), (1, 16, 1000, 1000, 96), (1, 4, 300, 515, 160), (2, 2, 257, 257, 256)):
            for dtype in (torch.float16, torch.bfloat16):
                q, k, v = (randn(batch, heads, length, depth, dtype=dtype, seed=i)
                           for i, length in enumerate((queries, keys, keys)))
                for causal in (False, True):
                    due = scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
                    self.close(sage3.scaled_dot_product_attention(q, k, v, is_causal=causal), due)
        q, k = randn(2, 8, 100, 64), randn(2, 2, 100, 64, seed=1)
        due = scaled_dot_product_attention(q.float(), k.float(), k.float(), enable_gqa=True)
        self.close(sage3.scaled_dot_product_attention(q, k, k, enable_gqa=True), due)

    def test_layouts_give_the_same_bits(self):
        q = randn(2, 500, 4, 64)
        a = sage3.attention(q, q, q, True, layout="BLHD")
        b = sage3.attention(*[q.transpose(1, 2).contiguous()] * 3, True)
        self.assertTrue(torch.equal(a.transpose(1, 2), b))
        self.assertTrue(torch.equal(a, sage3.attention(q, q, q, True, layout="BLHD")))

    def test_window_and_log_sum_exp(self):
        q, k = randn(1, 4, 700, 64), randn(1, 4, 700, 64, seed=1)
        i = torch.arange(700, device="cuda")
        seen = (i[None, :] >= i[:, None] - 100) & (i[None, :] <= i[:, None] + 20)
        o, lse = sage3.attention(q, k, k, window=(100, 20), return_lse=True)
        self.close(o, scaled_dot_product_attention(q.float(), k.float(), k.float(), attn_mask=seen))
        logits = (q.float() @ k.float().transpose(-1, -2) * 64 ** -0.5).masked_fill(~seen, -torch.inf)
        self.assertLess((lse - logits.logsumexp(-1)).abs().max().item(), 0.1)

    def test_masks(self):
        q, k = randn(2, 4, 200, 64), randn(2, 4, 333, 64, seed=1)
        hides = torch.rand(2, 1, 200, 333, device="cuda", generator=torch.Generator(device="cuda").manual_seed(2)) < 0.5
        for mask in (hides, randn(200, 333, seed=3), randn(1, 4, 200, 333, dtype=torch.float32, seed=4),
                     torch.zeros(200, 333, device="cuda", dtype=torch.bfloat16).masked_fill(~hides[0, 0], -torch.inf)):
            due = scaled_dot_product_attention(q.float(), k.float(), k.float(),
                                               attn_mask=mask if mask.dtype == torch.bool else mask.float())
            self.close(sage3.scaled_dot_product_attention(q, k, k, attn_mask=mask), due)

    def test_means(self):
        q, v = randn(1, 4, 300, 64), (randn(1, 4, 300, 64, seed=1).float() + 4).to(torch.bfloat16)
        due = scaled_dot_product_attention(q.float(), q.float(), v.float())
        plain, smooth = sage3.attention(q, q, v), sage3.attention(q, q, v, smooth_v=True)
        self.close(plain, due)
        self.assertLess(error(smooth, due), 0.5 * error(plain, due))
        same = torch.equal(sage3.attention(q, q, v, per_block_mean=False), plain)
        self.assertEqual(same, torch.cuda.get_device_capability()[0] == 9)

    def test_packed_sequences(self):
        lengths = [1, 300, 0, 129, 512]
        starts = torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32, device="cuda")
        q = randn(sum(lengths), 4, 64)
        o = sage3.attention_varlen(q, q, q, starts, starts, 512, 512, True)
        for begin, length in zip(starts.tolist(), lengths):
            if length:
                part = q[begin:begin + length].transpose(0, 1).float()
                due = scaled_dot_product_attention(part, part, part, is_causal=True).transpose(0, 1)
                self.close(o[begin:begin + length], due)

    def test_streams(self):
        q = randn(1, 8, 2048, 128)
        due = sage3.attention(q, q, q)
        torch.cuda.synchronize()
        streams = [torch.cuda.Stream() for _ in range(4)]
        results = []
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(sage3.attention(q, q, q))
        torch.cuda.synchronize()
        for each in results:
            self.assertTrue(torch.equal(each, due))

    def test_threads(self):
        q = [randn(1, 4, 600 + 100 * i, 64, seed=i) for i in range(4)]
        due = [sage3.attention(x, x, x) for x in q]
        torch.cuda.synchronize()
        wrong = []

        def work(i):
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(20):
                    if not torch.equal(sage3.attention(q[i], q[i], q[i]), due[i]):
                        wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_compile_without_a_graph_break(self):
        q = randn(1, 4, 256, 64)

        def model(x):
            return sage3.attention(x * 0.5, x, x, True) + 1

        self.assertTrue(torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(q), model(q)))

    def test_a_long_video(self):
        length, heads = 73774, 56
        if torch.cuda.mem_get_info()[0] < 40 << 30:
            self.skipTest("less than 40 GiB are free")
        q = randn(1, heads, length, 128)
        o = sage3.attention(q, q, q)
        head, rows = heads - 1, slice(length - 200, length)
        part = q[0, head].float()
        due = torch.softmax(part[rows] @ part.T * 128 ** -0.5, -1) @ part
        self.close(o[0, head, rows], due)

    def test_refusals_launch_nothing(self):
        q = randn(1, 2, 64, 64)
        with self.assertRaisesRegex(ValueError, "257 channels"):
            sage3.attention(*[randn(1, 1, 8, 257)] * 3)
        torch.cuda.synchronize()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
