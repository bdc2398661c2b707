#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that a program can check. Standard library only.

    lint.py RULE... [--root DIR] [--compiler CXX]

Prints one line a finding (file:line: rule: message) and exits 1 when there is one.
Each rule is a function that yields findings; lint_test.py proves that each can fail.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SIZE_LIMIT = 600
CODE = {".cpp", ".hpp", ".cu", ".cuh", ".c", ".h", ".py", ".sh", ".cmake", ".def"}
CPP = {".cpp", ".hpp", ".cu", ".cuh", ".c", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
# Slow to compile, so they stay in .cpp files.
SOURCES_ONLY = ("nlohmann/", "toml++/", "CLI/", "fmt/ranges")
# Written so that they do not find themselves. Places of one machine, and registries' hosts.
WORDS = [
    (re.compile(r"(?<![\w./])/wor[k]/"), "a path of one machine"),
    (re.compile(r"(?<![\w./])/roo[t]\b"), "a path of one machine"),
    (re.compile(r"/tmp/buil[d]-"), "a path of one machine"),
    (re.compile(r"pypi\.or[g]|pythonhosted\.or[g]|deb\.debian\.or[g]"), "a registry's host"),
    (re.compile(r"\bTOD[O]\b|\bFIXM[E]\b"), "an open end"),
]


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    def files(self):
        """Tracked and new files, as paths relative to the root."""
        if (self.root / ".git").exists():
            listed = subprocess.run(
                ["git", "-C", str(self.root), "-c", "safe.directory=*", "ls-files", "-co",
                 "--exclude-standard", "-z"],
                check=True, capture_output=True).stdout.decode().split("\0")
            names = [name for name in listed if name]
        else:
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")
                     if "build" not in path.relative_to(self.root).parts[:1]]
        return [pathlib.Path(name) for name in sorted(set(names)) if (self.root / name).is_file()]

    def text(self, path):
        """None for a binary file."""
        data = (self.root / path).read_bytes()
        if b"\0" in data[:4096]:
            return None
        return data.decode("utf-8", "replace")

    def includes(self, path):
        for number, line in enumerate((self.text(path) or "").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)


def rooms(tree):
    """The ww_room and ww_program lines of CMakeLists.txt: {room: [rooms it may include]}."""
    table = {}
    for line in (tree.root / "CMakeLists.txt").read_text().splitlines():
        match = re.match(r"\s*ww_(?:room|program)\((\w+)([^)]*)\)", line)
        if match:
            words = match.group(2).split()
            start = words.index("DEPENDS") + 1 if "DEPENDS" in words else len(words)
            table[match.group(1)] = words[start:]
    return table


def rule_includes(tree):
    """A room includes only itself and the rooms its line names; arrows go down the list."""
    table = rooms(tree)
    order = list(table)
    for room, depends in table.items():
        for other in depends:
            if other in table and order.index(other) >= order.index(room):
                yield "CMakeLists.txt", 0, f"{room} depends on {other}, which is not above it"
    for path in tree.files():
        if path.parts[0] != "src" or path.suffix not in CPP or len(path.parts) < 3:
            continue
        room = path.parts[1]
        if room not in table:
            yield path, 0, f"src/{room} is no room of CMakeLists.txt"
            continue
        for number, quoted, name in tree.includes(path):
            other = name.split("/")[0]
            if path.suffix == ".hpp" and not quoted and name.startswith(SOURCES_ONLY):
                yield path, number, f"<{name}> is slow to compile: include it in a .cpp only"
            if not quoted:
                continue
            if (tree.root / "kernels" / name).is_file():
                other = "kernels"
            elif not (tree.root / "src" / name).is_file():
                yield path, number, f'"{name}" is not a path below src/'
                continue
            if other != room and other not in table[room]:
                yield path, number, f"{room} may not include {other} (see CMakeLists.txt)"


def rule_sizes(tree):
    """At most 600 lines a file; exceptions stand in size_allow.txt, and must be needed."""
    allow_path = pathlib.Path("tests/lint/size_allow.txt")
    allowed = {}
    if (tree.root / allow_path).exists():
        for number, line in enumerate(tree.text(allow_path).splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                allowed[line.split()[0]] = number
    for path in tree.files():
        if path.suffix not in CODE and path.name != "warpwright":
            continue
        lines = (tree.text(path) or "").count("\n")
        number = allowed.pop(str(path), None)
        if lines > SIZE_LIMIT and number is None:
            yield path, lines, f"{lines} lines; the limit is {SIZE_LIMIT}"
        if lines <= SIZE_LIMIT and number is not None:
            yield allow_path, number, f"{path} has {lines} lines and needs no exception"
    for name, number in allowed.items():
        yield allow_path, number, f"{name} does not exist"


def rule_spdx(tree):
    """Line 1 (line 2 after #!) is the licence."""
    for path in tree.files():
        if path.suffix not in CPP | {".py", ".sh"} and path.name not in ("warpwright", "run"):
            continue
        lines = (tree.text(path) or "").splitlines()
        at = 1 if lines and lines[0].startswith("#!") else 0
        mark = "//" if path.suffix in CPP else "#"
        wanted = f"{mark} SPDX-License-Identifier: Apache-2.0"
        if len(lines) <= at or lines[at] != wanted:
            yield path, at + 1, f"this line must be '{wanted}'"


def rule_words(tree):
    """No path of one machine, no registry's host, no open end."""
    for path in tree.files():
        text = tree.text(path)
        if text is None or path.parts[:2] == ("tests", "data") or path.name == "LICENSE":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what in WORDS:
                if pattern.search(line):
                    yield path, number, f"{what}: {line.strip()[:80]}"


def first_include(tree, path):
    for _, quoted, name in tree.includes(path):
        return name if quoted else None
    return None


def rule_headers(tree, compiler):
    """Each header compiles alone. The build proves it for those that some source includes first,
    as x.cpp must with x.hpp; the others are compiled here."""
    first = {first_include(tree, path) for path in tree.files()
             if path.suffix == ".cpp" and path.parts[0] in ("src", "tests", "kernels")}
    alone = []
    for path in tree.files():
        if path.parts[0] != "src" or path.suffix != ".hpp":
            continue
        source = path.with_suffix(".cpp")
        if (tree.root / source).exists():
            name = str(path.relative_to("src"))
            if first_include(tree, source) != name:
                yield source, 1, f'the first include must be "{name}"'
        elif str(path.relative_to("src")) not in first:
            alone.append(path)

    def compile_alone(path):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-march=x86-64-v3", "-maes",
                   "-mpclmul", "-DTOML_HEADER_ONLY=1", "-I",
                   str(tree.root / "src"), "-x", "c++", "-"]
        done = subprocess.run(command, input=f'#include "{path.relative_to("src")}"\n', text=True,
                              capture_output=True)
        return path, done.returncode, done.stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, errors in pool.map(compile_alone, alone):
            if code != 0:
                yield path, 1, "does not compile alone:\n" + "\n".join(errors.splitlines()[:8])


RULES = {"includes": rule_includes, "sizes": rule_sizes, "spdx": rule_spdx, "words": rule_words,
         "headers": rule_headers}


def findings(rule, tree, compiler="c++"):
    function = RULES[rule]
    return list(function(tree, compiler) if rule == "headers" else function(tree))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="+", choices=list(RULES), metavar="RULE")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--compiler", default="c++")
    options = parser.parse_args()
    tree = Tree(options.root)
    if not tree.files():
        sys.exit(f"no files below {options.root}")
    count = 0
    for rule in options.rules:
        for path, line, message in findings(rule, tree, options.compiler):
            print(f"{path}:{line}: {rule}: {message}")
            count += 1
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
