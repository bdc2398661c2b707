#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX that Triton or CuTeDSL emits today: read, printed back, and what is unsupported is named.

    frontend_test.py triton|cutedsl SOURCE_FOLDER WARPWRIGHT PTX_FILES

Installs the pinned packages of requirements/frontends into a virtual environment in the cache, has
them compile the kernels beside this file for four targets, without a GPU, and checks every PTX
file. Nothing of it is kept but the environment. Exit 77 when pip cannot reach its index.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from environments import environment  # noqa: E402

TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]


def compile_kernels(name, python, out):
    script = pathlib.Path(__file__).parent / f"{name}_kernels.py"
    # Triton compiles for all targets in one process, CuTeDSL for one.
    runs = [[out]] if name == "triton" else [[out, target] for target in TARGETS]
    for arguments in runs:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([python, script, *arguments], check=True, cwd=scratch,
                           env={**os.environ, "TRITON_CACHE_DIR": scratch, "TMPDIR": scratch})
    return sorted(out.glob("*.ptx"))


def occurrences(text, opcode):
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return len(re.findall(rf"(?<![\w.:%$]){re.escape(opcode)}(?![\w.:])", code))


def check_coverage(path, program):
    """The report of `isa`, and what is wrong with it."""
    done = subprocess.run([program, "isa", path, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, [f"isa ended with {done.returncode}: {done.stderr}"]
    report, text = json.loads(done.stdout), path.read_text()
    lines, wrong = text.splitlines(), []
    if report["instructions"] < 10 or report["distinct"] < 5:
        wrong.append(f"only {report['instructions']} instructions")
    for entry in report["unsupported"]:
        if not 1 <= entry["line"] <= len(lines) or entry["text"] not in lines[entry["line"] - 1]:
            wrong.append(f"{entry['text']} is not in line {entry['line']}")
        if occurrences(text, entry["text"]) != entry["count"]:
            wrong.append(f"{entry['text']}: {entry['count']} counted, "
                         f"{occurrences(text, entry['text'])} in the file")
        if not entry["why"]:
            wrong.append(f"{entry['text']}: no reason")
    return report, wrong


def main():
    name, source, program, ptx_files = sys.argv[1:]
    python = environment(name, pathlib.Path(source) / "requirements" / "frontends" / f"{name}.txt")
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        files = compile_kernels(name, python, pathlib.Path(folder))
        for target in TARGETS:
            if not any(f".{target}." in path.name for path in files):
                sys.exit(f"{name} made nothing for {target}")
        bad |= subprocess.run([ptx_files, *files]).returncode != 0
        for path in files:
            report, wrong = check_coverage(path, program)
            bad |= bool(wrong)
            if report:
                missing = {each["text"]: each["count"] for each in report["unsupported"]}
                print(f"{path.name}: {report['instructions']} instructions, {report['distinct']} "
                      f"distinct, {sum(missing.values())} unsupported", missing or "")
            print("".join(f"  WRONG {each}\n" for each in wrong), end="")
    sys.exit(bad)


if __name__ == "__main__":
    main()
