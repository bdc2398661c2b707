#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one command-line test: a .txt file that holds the command and what it must print.

    run_cli_test.py PROGRAM FILE [-r]

The file:

    $ warpwright doctor --jsn          the command; words are split as a shell would
    env NAME=VALUE                     any number of these
    exit 2
    --- stdout                         the exact text; a line [...] stands for any lines,
    --- stderr                         and [..] in a line for any characters
-r rewrites the expectations from what the program prints now (and drops the wildcards).
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys


def parse(text):
    case = {"env": {}, "exit": 0, "stdout": "", "stderr": ""}
    section = None
    for line in text.splitlines(keepends=True):
        if line.rstrip("\n") in ("--- stdout", "--- stderr"):
            section = line.split()[1]
        elif section:
            case[section] += line
        elif line.startswith("$ warpwright"):
            case["command"] = line[2:].rstrip("\n")
        elif line.startswith("env "):
            name, _, value = line[4:].rstrip("\n").partition("=")
            case["env"][name] = value
        elif line.startswith("exit "):
            case["exit"] = int(line[5:])
        elif line.strip():
            sys.exit(f"not understood: {line.rstrip()}")
    if "command" not in case:
        sys.exit("no line '$ warpwright ...'")
    return case


def pattern(expected):
    parts = []
    for line in expected.splitlines(keepends=True):
        if line.rstrip("\n") == "[...]":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.split("[..]")))
    return re.compile("".join(parts))


def render(case, done):
    out = f"$ {case['command'].removeprefix('$ ')}\n"
    out += "".join(f"env {name}={value}\n" for name, value in case["env"].items())
    out += f"exit {done.returncode}\n"
    for stream in ("stdout", "stderr"):
        if getattr(done, stream):
            out += f"--- {stream}\n{getattr(done, stream)}"
    return out


def main():
    program, path = sys.argv[1], pathlib.Path(sys.argv[2])
    case = parse(path.read_text())
    words = [program] + shlex.split(case["command"])[1:]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=120, env={**os.environ, **case["env"]})
    if "-r" in sys.argv[3:]:
        path.write_text(render(case, done))
        return
    good = (done.returncode == case["exit"] and pattern(case["stdout"]).fullmatch(done.stdout)
            and pattern(case["stderr"]).fullmatch(done.stderr))
    if not good:
        print(f"expected ({path}):\n{path.read_text()}\ngot:\n{render(case, done)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
