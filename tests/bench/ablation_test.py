#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table "Ablations" of kernels/sage3/README.md is what sage3_ablation prints.

    ablation_test.py SAGE3_ABLATION SOURCE

Errors may differ by a twentieth: exp() is the machine's.
"""
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r"\d+\.\d{4}")


def table(text):
    rows = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [(NUMBER.sub("#", row), [float(number) for number in NUMBER.findall(row)]) for row in rows]


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    printed = subprocess.run([program, source / "tests/data/minilm_qkv.safetensors"], capture_output=True, text=True, check=True).stdout
    section = (source / "kernels/sage3/README.md").read_text().partition("\n## Ablations\n")[2].partition("\n## ")[0]
    now, written = table(printed), table(section)
    if len(now) < 6 or [shape for shape, _ in now] != [shape for shape, _ in written]:
        sys.exit(f"the README's table has other rows or columns; now it is\n{printed}")
    for (shape, ours), (_, theirs) in zip(now, written):
        if any(abs(a - b) > 0.05 * max(a, b) for a, b in zip(ours, theirs)):
            sys.exit(f"the README's figures are others; now they are\n{printed}")


if __name__ == "__main__":
    main()
