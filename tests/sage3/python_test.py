#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package without torch: what the functions refuse, what they pass on, and the C structures, by
running attention on the emulator.

    python_test.py python/ libsage3_emulated.so
"""
import array
import ctypes
import math
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, sys.argv[1])
os.environ["WARPWRIGHT_SAGE3_LIBRARY"] = sys.argv[2]
from warpwright import sage3  # noqa: E402
from warpwright.sage3 import _adapters, _arguments, _library  # noqa: E402


class Fake:
    """What the package looks at of a tensor."""

    def __init__(self, *shape, dtype="torch.float16", device="cuda:0", strides=None, address=0):
        self.shape, self.dtype, self.device, self.address = tuple(shape), dtype, device, address
        self.strides = strides or tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))

    def stride(self, i):
        return self.strides[i]

    def data_ptr(self):
        return self.address

    def _with(self, shape, strides):
        return Fake(*shape, dtype=self.dtype, device=self.device, strides=tuple(strides), address=self.address)

    def transpose(self, a, b):
        order = list(range(len(self.shape)))
        order[a], order[b] = b, a
        return self._with([self.shape[i] for i in order], [self.strides[i] for i in order])

    def unsqueeze(self, i):
        return self._with((1,) + self.shape, (0,) + self.strides)

    def expand(self, *shape):
        strides = (0,) * (len(shape) - len(self.shape)) + self.strides
        sizes = (1,) * (len(shape) - len(self.shape)) + self.shape
        return self._with(shape, [0 if a != b else s for a, b, s in zip(sizes, shape, strides)])

    def contiguous(self):
        return Fake(*self.shape, dtype=self.dtype, device=self.device, address=self.address)

    def squeeze(self, i):
        return self._with(self.shape[1:], self.strides[1:])


class Passed(unittest.TestCase):
    """What reaches the operator, which is replaced by one that keeps its arguments."""

    def setUp(self):
        self.run_before = _adapters._run
        _adapters._run = self.keep

    def tearDown(self):
        _adapters._run = self.run_before

    def keep(self, names, q, k, v, call):
        self.got = dict(shapes=(q.shape, k.shape), strides=q.strides, causal=call.causal, scale=call.scale)
        self.call = call
        return (q, Fake(*q.shape[:3], dtype="torch.float32")) if call.return_lse else q

    def refuses(self, kind, text, function, *arguments, **named):
        with self.assertRaises(kind) as caught:
            function(*arguments, **named)
        self.assertIn(text, str(caught.exception))

    def test_attention(self):
        q, k = Fake(2, 8, 100, 64), Fake(2, 2, 70, 64)
        self.assertIs(sage3.attention(q, k, k), q)
        self.assertEqual(self.got, dict(shapes=((2, 8, 100, 64), (2, 2, 70, 64)), strides=q.strides,
                                        causal=_library.FULL, scale=0.125))
        sage3.attention(q, k, k, True, scale=0.5)
        self.assertEqual((self.got["causal"], self.got["scale"]), (_library.BOTTOM_RIGHT, 0.5))
        sage3.attention(q, k, k, True, causal_alignment="top_left")
        self.assertEqual(self.got["causal"], _library.TOP_LEFT)
        self.assertEqual((self.call.window_left, self.call.window_right, self.call.flags), (-1, -1, 0))
        out, lse = sage3.attention(q, k, k, return_lse=True)
        self.assertEqual((out, lse.shape), (q, (2, 8, 100)))
        sage3.attention(q, k, k, window=(5, None), per_block_mean=False, smooth_v=True)
        self.assertEqual((self.call.window_left, self.call.window_right, self.call.flags), (5, -1, 6))
        sage3.attention(q, k, k, exact_fp4=True)
        self.assertEqual(self.call.flags, _library.EXACT_FP4)

    def test_masks(self):
        q, k = Fake(2, 8, 100, 64), Fake(2, 2, 70, 64)
        sage3.attention(q, k, k, attn_mask=Fake(100, 70, dtype="torch.bool"))
        self.assertEqual((self.call.mask.shape, self.call.mask.strides), ((2, 8, 100, 70), (0, 0, 70, 1)))
        sage3.attention(q, k, k, attn_mask=Fake(2, 1, 1, 70, dtype="torch.float32"))
        self.assertEqual(self.call.mask.strides, (70, 0, 0, 1))
        sage3.attention(q, k, k, attn_mask=Fake(2, 1, 100, 1))  # the same for all keys: written out
        self.assertEqual(self.call.mask.strides, (8 * 7000, 7000, 70, 1))
        a = sage3.attention
        self.refuses(ValueError, "attn_mask is (99, 70): what broadcasts to (2, 8, 100, 70) is due", a, q, k, k,
                     attn_mask=Fake(99, 70))
        self.refuses(ValueError, "attn_mask is torch.int64: torch.bool, torch.float32 or q's torch.float16", a, q, k, k,
                     attn_mask=Fake(100, 70, dtype="torch.int64"))
        self.refuses(ValueError, "attn_mask is on cpu, q on cuda:0", a, q, k, k, attn_mask=Fake(100, 70, device="cpu"))
        self.refuses(TypeError, "attn_mask is a list", a, q, k, k, attn_mask=[1])
        self.refuses(ValueError, "window is (1, 2, 3)", a, q, k, k, window=(1, 2, 3))
        self.refuses(ValueError, "window is (1, -2)", a, q, k, k, window=(1, -2))
        self.refuses(ValueError, "window is 3", a, q, k, k, window=3)

    def test_packed_sequences(self):
        q, k = Fake(100, 8, 64), Fake(70, 2, 64)
        starts = Fake(4, dtype="torch.int32")
        packed = sage3.attention_varlen
        out, lse = packed(q, k, k, starts, starts, 60, 50, True, return_lse=True)
        self.assertEqual((out.shape, out.strides, lse.shape), (q.shape, q.strides, (8, 100)))
        self.assertEqual(self.got["shapes"], ((1, 8, 100, 64), (1, 2, 70, 64)))
        self.assertEqual((self.call.longest_q, self.call.longest_k, self.call.q_starts), (60, 50, starts))
        self.refuses(ValueError, "k is no tensor of 3 dimensions", packed, q, Fake(1, 70, 2, 64), k, starts, starts, 60, 50)
        self.refuses(ValueError, "cu_seqlens_q is torch.int64 (4,): torch.int32 (sequences + 1,) is due", packed, q, k, k,
                     Fake(4, dtype="torch.int64"), starts, 60, 50)
        self.refuses(ValueError, "cu_seqlens_q is (4,), cu_seqlens_k (5,)", packed, q, k, k, starts,
                     Fake(5, dtype="torch.int32"), 60, 50)
        self.refuses(ValueError, "max_seqlen_k is 71: 1 to 70 is due", packed, q, k, k, starts, starts, 60, 71)

    def test_tokens_first(self):
        q, k = Fake(2, 100, 8, 64), Fake(2, 70, 2, 64)
        out = sage3.attention(q, k, k, layout="BLHD")
        self.assertEqual((out.shape, out.strides), (q.shape, q.strides))
        self.assertEqual(self.got["shapes"], ((2, 8, 100, 64), (2, 2, 70, 64)))
        self.assertEqual(self.got["strides"], (51200, 64, 512, 1))
        out, lse = sage3.attention(q, k, k, layout="BLHD", return_lse=True)
        self.assertEqual((out.shape, lse.shape), (q.shape, (2, 8, 100)))

    def test_attention_refuses(self):
        q, k = Fake(2, 8, 100, 64), Fake(2, 2, 70, 64)
        a = sage3.attention
        self.refuses(TypeError, "q is a list: a tensor is due", a, [1], k, k)
        self.refuses(ValueError, "v has 3 dimensions: [batch, head, token, channel] is due", a, q, k, Fake(2, 70, 64))
        self.refuses(ValueError, "q is torch.float32: torch.float16 and torch.bfloat16", a,
                     Fake(2, 8, 100, 64, dtype="torch.float32"), k, k)
        self.refuses(ValueError, "k is torch.bfloat16, q torch.float16", a, q, Fake(2, 2, 70, 64, dtype="torch.bfloat16"), k)
        self.refuses(ValueError, "v is on cuda:1, q on cuda:0", a, q, k, Fake(2, 2, 70, 64, device="cuda:1"))
        self.refuses(ValueError, "k's last dimension has stride 70: 1 is due", a, q,
                     Fake(2, 2, 64, 70).transpose(2, 3), k)
        self.refuses(ValueError, "k is (2, 2, 70, 64), v (2, 2, 71, 64): one shape", a, q, k, Fake(2, 2, 71, 64))
        self.refuses(ValueError, "k has 3 batches, q 2", a, q, Fake(3, 2, 70, 64), Fake(3, 2, 70, 64))
        self.refuses(ValueError, "k has 96 channels, q 64", a, q, Fake(2, 2, 70, 96), Fake(2, 2, 70, 96))
        self.refuses(ValueError, "q has 8 heads, k 3: a multiple is due", a, q, Fake(2, 3, 70, 64), Fake(2, 3, 70, 64))
        big = Fake(1, 1, 4, 257)
        self.refuses(ValueError, "q has 257 channels: 1 to 256 is supported", a, big, big, big)
        none = Fake(2, 2, 0, 64)
        self.refuses(ValueError, "no extent may be 0", a, q, none, none)
        self.refuses(ValueError, "scale is -1", a, q, k, k, scale=-1)
        self.refuses(ValueError, "scale is nan", a, q, k, k, scale=math.nan)
        self.refuses(ValueError, "layout is 'LBHD'", a, q, k, k, layout="LBHD")
        self.refuses(ValueError, "causal_alignment is 'left'", a, q, k, k, causal_alignment="left")
        self.refuses(TypeError, "dropout", a, q, k, k, dropout=0.5)

    def test_torch_signature(self):
        sdpa = sage3.scaled_dot_product_attention
        q, k = Fake(2, 8, 100, 64), Fake(2, 2, 70, 64)
        sdpa(q, k, k, None, 0.0, True, 0.25, True)
        self.assertEqual((self.got["causal"], self.got["scale"]), (_library.TOP_LEFT, 0.25))
        self.refuses(ValueError, "query has 8 heads, key 2: enable_gqa=True is due", sdpa, q, k, k)
        sdpa(q, q, q, Fake(100, 100, dtype="torch.bool"))
        self.assertEqual(self.call.mask.shape, (2, 8, 100, 100))
        self.refuses(ValueError, "attn_mask and is_causal: one is due", sdpa, q, q, q, Fake(100, 100), 0.0, True)
        self.refuses(NotImplementedError, "dropout_p = 0.1 is not supported", sdpa, q, q, q, dropout_p=0.1)
        self.refuses(ValueError, "value is torch.bfloat16, query torch.float16", sdpa, q, q,
                     Fake(2, 8, 100, 64, dtype="torch.bfloat16"))
        self.refuses(ValueError, "5, 5 and 5 dimensions", sdpa, *[Fake(1, 1, 1, 1, 1)] * 3)
        self.refuses(ValueError, "4, 4 and 3 dimensions", sdpa, q, q, Fake(8, 100, 64))
        for rank in (2, 3):
            x = Fake(*(8, 100, 64)[3 - rank:])
            self.assertEqual(sdpa(x, x, x).shape, x.shape)
            self.assertEqual(self.got["shapes"][0], (1,) * (4 - rank) + x.shape)

    def test_original_signature(self):
        sage = sage3.sageattn3_blackwell
        q = Fake(2, 8, 100, 64)
        self.assertIs(sage(q, q, q, None, True, True), q)
        self.assertEqual(self.got["causal"], _library.BOTTOM_RIGHT)
        sage(q, q, q, sm_scale=0.3)
        self.assertEqual(self.got["scale"], 0.3)
        tokens_first = Fake(2, 100, 8, 64)
        self.assertEqual(sage(tokens_first, tokens_first, tokens_first, tensor_layout="NHD").shape, tokens_first.shape)
        self.assertEqual(self.got["shapes"][0], q.shape)
        sage(q, q, q, Fake(100, 100), per_block_mean=False)
        self.assertEqual((self.call.mask.shape, self.call.flags), ((2, 8, 100, 100), _library.GLOBAL_Q_MEAN))
        sage(q, q, q, exact_fp4=True)
        self.assertEqual(self.call.flags, _library.EXACT_FP4)
        self.refuses(NotImplementedError, "dropout_p = 0.5 is not supported", sage, q, q, q, dropout_p=0.5)
        self.refuses(ValueError, "tensor_layout", sage, q, q, q, tensor_layout="HDN")
        self.refuses(ValueError, "scale and sm_scale", sage, q, q, q, scale=1, sm_scale=1)


class OnTheEmulator(unittest.TestCase):
    """The structures are those of sage3.h: the result is attention of the tensors that were given."""

    def setUp(self):
        self.library = _library.Library(_library.path(), "emulator")

    def memory(self, data):
        at = ctypes.c_void_p()
        self.library._check(self.library.c.sage3_allocate(self.library.handle, len(data), ctypes.byref(at)))
        self.library._check(self.library.c.sage3_copy_in(self.library.handle, at, data, len(data)))
        return at.value

    def read(self, at, count):
        out = (ctypes.c_byte * count)()
        self.library._check(self.library.c.sage3_copy_out(self.library.handle, out, at, count))
        return bytes(out)

    def test_attention(self):
        heads, kv_heads, queries, keys, depth, scale = 2, 1, 5, 33, 16, 0.25
        random.seed(7)
        values = {name: [random.gauss(0, 1) for _ in range(count * depth)]
                  for name, count in (("q", heads * queries), ("k", kv_heads * keys), ("v", kv_heads * keys))}
        tensors = {}
        for name, h, length in (("q", heads, queries), ("k", kv_heads, keys), ("v", kv_heads, keys)):
            halves = b"".join(_half(x) for x in values[name])
            tensors[name] = Fake(1, h, length, depth, address=self.memory(halves))
        o = Fake(1, heads, queries, depth, address=self.memory(bytes(heads * queries * depth * 2)))
        lse = Fake(1, heads, queries, address=self.memory(bytes(heads * queries * 4)))
        problem = _arguments.problem_of(tensors["q"], tensors["k"], tensors["v"], o, lse,
                                        _arguments.Call(causal=_library.BOTTOM_RIGHT, scale=scale))
        size = self.library.workspace_bytes(problem)
        self.library.prepare(problem)
        self.library.attention(problem, self.memory(bytes(size)), size, None)
        got = [_from_half(b) for b in _pairs(self.read(o.address, heads * queries * depth * 2))]
        got_lse = array.array("f", self.read(lse.address, heads * queries * 4))
        due, due_lse = _attention(values, heads, queries, keys, depth, scale)
        error = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, due)) / sum(b * b for b in due))
        self.assertLess(error, 0.3)  # FP4
        for a, b in zip(got_lse, due_lse):
            self.assertLess(abs(a - b), 0.2)

    def test_errors_are_exceptions(self):
        x = Fake(1, 1, 4, 16, address=2)
        problem = _arguments.problem_of(x, x, x, x, None, _arguments.Call())
        with self.assertRaises(ValueError) as caught:
            self.library.attention(problem, 256, 16, None)
        self.assertIn("workspace_bytes is 16", str(caught.exception))
        with self.assertRaises(RuntimeError):
            _library.Library(_library.path(), "cuda").prepare(problem)

    def test_version(self):
        self.assertRegex(sage3.version(), r"^\d+\.\d+\.\d+$")


def _half(x):
    return struct.pack("<e", x)


def _from_half(pair):
    return struct.unpack("<e", pair)[0]


def _pairs(data):
    return [data[i:i + 2] for i in range(0, len(data), 2)]


def _attention(values, heads, queries, keys, depth, scale):
    """All heads share the keys; bottom right."""
    out, sums = [], []
    row = lambda name, i: values[name][i * depth:(i + 1) * depth]  # noqa: E731
    for i in range(heads * queries):
        seen = i % queries + 1 + keys - queries
        logits = [scale * sum(a * b for a, b in zip(row("q", i), row("k", j))) for j in range(seen)]
        weights = [math.exp(x) for x in logits]
        total = sum(weights)
        sums.append(math.log(total))
        out += [sum(w * row("v", j)[d] for j, w in enumerate(weights)) / total for d in range(depth)]
    return out, sums


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
