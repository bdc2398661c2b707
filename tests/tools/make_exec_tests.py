#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the instruction tests that come in many variants into tests/ptx/exec.

    make_exec_tests.py            writes them, and removes those that are no longer made
    make_exec_tests.py --check    writes nothing; exit code 1 when a file differs

A file whose first line is not MARK is written by hand and is left alone. The tables are the modules of
exec_forms/; each has a function forms(add).
"""
import importlib
import pathlib
import sys

# Where operands have few interesting cases, half of the default trials do.
FEWER_TRIALS = {"integer_arith", "extended_precision", "compare_select", "half_compare", "logic_shift",
                "data_movement"}
MARK = "// Made by tests/tools/make_exec_tests.py."
CHAPTERS = ["integers", "floats", "halves", "compares", "bits", "converts", "moves", "warps",
            "atomics", "control", "matrices", "async_stores", "blackwell", "byte_matrices", "newest",
            "sparse", "stated", "wmma"]


class Forms:
    """Collects tests: name -> text."""

    def __init__(self):
        self.texts = {}

    def __call__(self, name, body, ins="", outs="", desc="", module="", values=None, expect=None,
                 **options):
        if name in self.texts:
            raise SystemExit(f"two tests are named {name}")
        if name.split("/")[0] in FEWER_TRIALS or outs.count(",") > 3:
            options.setdefault("trials", 8)
        lines = [MARK, "// " + (desc or opcode_for(name, body))]
        for key in ("target", "ptx", "threads", "trials", "cluster", "dynamic", "nan",
                    "fault"):
            if key in options:
                lines.append(f"// {key} {options.pop(key)}")
        if ins:
            lines.append("// in " + ins)
        if outs:
            lines.append("// out " + outs)
        for key in ("inout", "shared", "global_"):
            for item in as_list(options.pop(key, [])):
                lines.append(f"// {key.rstrip('_')} {item}")
        if options:
            raise SystemExit(f"{name}: unknown option {list(options)}")
        for key, lists in (("values", values), ("expect", expect)):
            for operand, numbers in (lists or {}).items():
                for i in range(0, len(numbers), 8):
                    row = " ".join(f"{n:x}" for n in numbers[i:i + 8])
                    lines.append(f"// {key} {operand} {row}")
        if module:
            lines += ["// module", module.strip("\n"), "// body"]
        lines.append(indent(body))
        self.texts[name] = "\n".join(lines) + "\n"


def as_list(value):
    return value if isinstance(value, list) else [value]


def opcode_for(name, body):
    """The opcode that a test is named after; else the first one."""
    words = [line.split()[0].rstrip(";") for line in body.replace(";", "\n").splitlines()
             if line.strip() and line.strip()[0] not in ".{}@/"]
    stem = name.split("/")[1]
    return next((w for w in words if stem.startswith(w.split(".")[0])), words[0])


def indent(body):
    lines = [line.strip() for line in body.strip().splitlines()]
    return "\n".join(line if line.endswith(":") else "    " + line for line in lines)


def make():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    add = Forms()
    for chapter in CHAPTERS:
        importlib.import_module("exec_forms." + chapter).forms(add)
    return add.texts


def main():
    check = sys.argv[1:] == ["--check"]
    folder = pathlib.Path(__file__).parents[1] / "ptx" / "exec"
    texts = make()
    wrong = []
    for name, text in texts.items():
        path = folder / (name + ".ptx")
        if path.exists() and path.read_text() == text:
            continue
        if path.exists() and not path.read_text().startswith(MARK):
            raise SystemExit(f"{name}: both made and written by hand")
        wrong.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in sorted(folder.rglob("*.ptx")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in texts and path.read_text().startswith(MARK):
            wrong.append(name)
            if not check:
                path.unlink()
    print(f"{len(texts)} made, {len(wrong)} {'differ' if check else 'changed'}")
    if check and wrong:
        raise SystemExit("differ: " + " ".join(wrong))


if __name__ == "__main__":
    main()
