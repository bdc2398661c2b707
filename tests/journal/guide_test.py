#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays docs/first_port.md: every command of the page, in a copy of what it needs, must print what the page says.

    guide_test.py PROGRAM REPOSITORY

In the page "..." stands for anything. What differs from run to run (times, dates, keys of the log) is compared by its form. What
needs a package index is not run; where the package is not there already, what needs it is left out, and says so.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import environments  # noqa: E402
from running import PROGRAM, as_json, delete, expect  # noqa: E402

ROOT = pathlib.Path(sys.argv[2])
PAGE = "docs/first_port.md"
COPIED = ("kernels", "tests/data", PAGE)
CHANGES = ((r"\d+\.\d+ s\b", "TIME s"), (r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", "DATE"), (r"^[0-9a-f]{8} DATE", "KEY DATE"))


def commands(page):
    """[command, what it prints]: in the indented blocks of the page, from each "$" to the next or to the end of the block."""
    out = []
    inside = False
    for line in page.splitlines():
        text = line[4:]
        if line.strip() and not line.startswith("    "):
            inside = False
        elif text.startswith("$ "):
            inside = True
            out.append([text[2:], []])
        elif inside and out[-1][0].endswith("\\"):
            out[-1][0] = out[-1][0][:-1] + text
        elif inside and not text.startswith(("---", "+++", "@@")):
            out[-1][1].append(text)
    return [(command, "\n".join(lines).strip("\n")) for command, lines in out]


def same_form(text):
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    for pattern, name in CHANGES:
        lines = [re.sub(pattern, name, line) for line in lines]
    return "\n".join(lines)


def pattern_of(expected):
    parts = []
    for line in same_form(expected).splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.split("...")) + r"\n")
    return re.compile("".join(parts))


def installed_site():
    """A folder with the package that the page installs, if the tests of real kernels brought it."""
    for folder in sorted((environments.cache_root() / "frontends").glob("real-*/lib/python3*/site-packages")):
        if (folder / "nvidia_cutlass-4.2.0.0.dist-info").exists():
            return folder
    return None


def copy_repository(folder):
    listed = subprocess.run(["git", "ls-files", "-z", "--", *COPIED], cwd=ROOT, capture_output=True)
    names = listed.stdout.decode().split("\0")[:-1]
    if not names:  # not a git checkout
        names = [str(path.relative_to(ROOT)) for each in COPIED for path in [ROOT / each, *(ROOT / each).rglob("*")] if path.is_file()]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "warpwright").symlink_to(PROGRAM)


def replay(folder):
    site = installed_site()
    ran = 0
    for command, expected in commands((ROOT / PAGE).read_text()):
        if " pip install " in command:
            if site:
                (folder / "site").symlink_to(site)
            continue
        if not site and "warpwright context" in command and "outline" not in command:
            print(f"left out, nvidia-cutlass is not installed: {command}")
            continue
        done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        print(f"$ {command}: exit {done.returncode}", flush=True)
        got = same_form(done.stdout)
        expect(pattern_of(expected).fullmatch(got + "\n" if got else ""), f"the page says:\n{expected}\n\nit prints:\n{done.stdout}")
        ran += command.startswith("./warpwright")
    expect(ran >= 15, f"only {ran} commands were found")


def main():
    missing = [part["component"] for part in as_json(ROOT, "doctor")["toolchain"] if part["origin"] == "missing"]
    missing += [] if shutil.which("patch") else ["patch"]
    if set(missing) & {"nvrtc", "ptxas", "nvdisasm", "patch"}:
        print("skipped, missing:", ", ".join(missing))
        sys.exit(77)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warpwright_guide_"))
    try:
        copy_repository(folder)
        replay(folder)
    except AssertionError as error:
        print(f"FAIL  {error}")
        sys.exit(1)
    finally:
        delete(folder)


if __name__ == "__main__":
    main()
