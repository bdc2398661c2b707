# SPDX-License-Identifier: Apache-2.0
"""Versions of the attention kernel of kernels/sage3_hopper by exchanging pieces of its text, for the benchmarks beside this."""
import pathlib
import sys

from hopper_nvrtc import KERNELS

KERNEL = "hopper_attention.cuh"
LOADER = "hopper_ring.cuh"
# What stands in KERNEL and several of them exchange.
BEGIN_P_V = "    begin_p_v<kWidth>(codes, memory.values(stage), o);\n"
VALUES_BACK = "    if (turns.signals) ptx::mbarrier_arrive(M::empty(values));\n"


def texts(folder=KERNELS / "sage3"):
    """By file name, the headers of a folder that may be other than those in kernels/sage3."""
    found = {each.name: each.read_text(encoding="utf-8") for each in sorted(pathlib.Path(folder).glob("hopper_*.cuh"))}
    return found or sys.exit(f"{folder} has no hopper_*.cuh")


def named(options):
    """By name, the headers with those of a folder in their place, of options NAME=FOLDER."""
    return {name: texts() | texts(folder) for name, _, folder in (each.partition("=") for each in options)}


def edited(headers, name, edits):
    """headers after edits (file, what stands there, what takes its place); ends the program where it stands there not once."""
    out = dict(headers)
    for file, old, new in edits:
        if out[file].count(old) != 1:
            sys.exit(f"{file} has {out[file].count(old)} times what '{name}' replaces, not once: {old!r}")
        out[file] = out[file].replace(old, new)
    return out
