#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright context end to end: add, list, index, search, remove; a source that is missing."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import Port, as_json, expect, main, run  # noqa: E402

KERNEL = """// SPDX-License-Identifier: MIT
// Sums rows. In two passes.
#include "lib/sum.cuh"
__global__ void row_sum(float* x) { sum(x); }
"""
HEADER = """/// \\file
/// \\brief Sums within a warp.
struct Sum {};
// sum is called by row_sum
__device__ void sum(float* x) { x[0] = x[1]; }
"""
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nThe above copyright notice\n"


def make_source(folder):
    (folder / "src" / "lib").mkdir(parents=True)
    (folder / "src" / "sum.cu").write_text(KERNEL)
    (folder / "src" / "lib" / "sum.cuh").write_text(HEADER)
    (folder / "LICENSE").write_text(MIT)
    return folder


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=folder, check=True,
                          capture_output=True, text=True).stdout.strip()


def table(port):
    rows = [line for line in (port / "context/INDEX.md").read_text().splitlines() if line.startswith("| ")]
    return {row.split(" | ")[0][2:]: row for row in rows[1:]}


def test_a_folder():
    with Port() as port, Port() as other:
        source = make_source(other)
        run(port, "context", "add", source, "--name", "sums", "--for", "how rows are summed")
        listed = as_json(port, "context", "list")["sources"]
        expect([each["name"] for each in listed] == ["sums"], listed)
        expect(listed[0]["licence"] == "MIT (LICENSE)" and listed[0]["present"], listed)
        expect(not os.access(port / "context/sums/src/sum.cu", os.W_OK) or os.geteuid() == 0, "a source can be written")
        expect((port / "context/sums/src").stat().st_mode & 0o222 == 0, "a source's folder can be written")
        run(port, "context", "index")
        rows = table(port)
        expect(rows["sums"].startswith("| sums | ~ how rows are summed |"), rows)
        expect(rows["sums/src"] == "| sums/src | ~ sum.cu: Sums rows. | 1 file, 130 B | CUDA C++ 1 | MIT | row_sum |",
               rows["sums/src"])
        expect("MIT (LICENSE) | sum.cuh |" in rows["sums/src/lib"], rows["sums/src/lib"])
        found = as_json(port, "context", "search", "sum")["matches"]
        expect(found[0]["file"] == "sums/src/lib/sum.cuh" and found[0]["line"] == 5 and found[0]["function"] == "sum",
               found[:2])
        found = as_json(port, "context", "search", "su+m\\(x\\)")["matches"]
        expect([(each["file"], each["line"], each["function"]) for each in found] == [("sums/src/sum.cu", 4, "row_sum")], found)


def test_purposes_survive():
    with Port() as port, Port() as other:
        run(port, "context", "add", make_source(other), "--name", "sums", "--for", "x")
        run(port, "context", "index")
        index = port / "context/INDEX.md"
        text = index.read_text().replace("~ sum.cu: Sums rows.", "the kernel | with a bar".replace("|", "\\|"))
        index.write_text("my notes\n" + text + "more notes\n")
        run(port, "context", "index")
        once = index.read_text()
        expect("| sums/src | the kernel \\| with a bar | 1 file" in once, once)
        expect(once.startswith("my notes\n") and once.endswith("more notes\n"), once)
        run(port, "context", "index")
        expect(index.read_text() == once, "a second index changes the file")
        # Missing: the line stays as it was. Removed: it is kept, marked.
        subprocess.run(["chmod", "-R", "u+w", port / "context/sums"], check=True)
        shutil.rmtree(port / "context/sums")
        run(port, "context", "index")
        expect("| sums/src | the kernel \\| with a bar | 1 file" in index.read_text(), index.read_text())
        removed = as_json(port, "context", "remove", "sums")["removed"]
        expect(removed["name"] == "sums" and removed["commit"] is None and removed["licence"], removed)
        run(port, "context", "add", make_source(other / "b"), "--name", "second", "--for", "y")
        run(port, "context", "index")
        expect("| sums/src | the kernel \\| with a bar | gone |" in index.read_text(), index.read_text())
        expect("sums/src/lib" not in index.read_text(), index.read_text())


def test_git_and_again():
    with Port() as port, Port() as other:
        repository = make_source(other / "repo")
        git(repository, "init", "-q", "-b", "main")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "one")
        first = git(repository, "rev-parse", "HEAD")
        url = f"file://{repository}"
        run(port, "context", "add", url, "--for", "sums")
        expect(as_json(port, "context", "list")["sources"][0]["commit"] == first, "not the commit")
        expect(not (port / "context/repo/.git").exists(), ".git was kept")
        (repository / "new.txt").write_text("new")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "two")
        subprocess.run(["chmod", "-R", "u+w", port / "context/repo"], check=True)
        shutil.rmtree(port / "context/repo")
        done = run(port, "context", "list")
        command = next(line for line in done.stdout.splitlines() if "get it again" in line).split(": ", 1)[1]
        search = run(port, "context", "search", "sum")
        expect("not here: repo; get it again: warpwright context add" in search.stdout, search.stdout)
        run(port, *command.split()[1:])
        again = as_json(port, "context", "list")["sources"][0]
        expect(again["commit"] == first and again["for"] == "sums" and again["present"], again)
        expect(not (port / "context/repo/new.txt").exists(), "another commit was fetched")
        run(port, "context", "add", url, "--name", "newest", "--for", "sums")
        expect((port / "context/newest/new.txt").exists(), "not the newest commit")
        # Nothing but the lists would be committed.
        git(port, "init", "-q")
        git(port, "add", "-A")
        names = git(port, "ls-files").splitlines()
        expect(names == [".gitattributes", "context/.gitignore", "context/sources.txt", "port.toml"], names)


def test_a_changed_path_is_told():
    with Port() as port, Port() as other:
        source = make_source(other)
        run(port, "context", "add", source, "--name", "s", "--for", "x")
        subprocess.run(["chmod", "-R", "u+w", port / "context/s"], check=True)
        shutil.rmtree(port / "context/s")
        (source / "LICENSE").write_text("")
        done = run(port, "context", "add", source, "--name", "s")
        expect("is not what it was" in done.stderr, done.stderr)


def test_what_is_wrong_is_said():
    with Port() as port, Port() as other:
        source = make_source(other)
        expect("--for" in run(port, "context", "add", source, code=2).stderr, "no purpose")
        expect("no such path" in run(port, "context", "add", "nowhere", "--for", "x", code=2).stderr, "no path")
        expect("no sources" in run(port, "context", "index", code=2).stderr, "no sources")
        run(port, "context", "add", source, "--name", "s", "--for", "x")
        expect("already" in run(port, "context", "add", source, "--name", "s", "--for", "x", code=2).stderr, "twice")
        expect("did you mean 's'" in run(port, "context", "remove", "t", code=2).stderr, "another name")
        run(port, "context", "add", source, "--name", "u", "--for", "x")
        expect(run(port, "context", "remove", "u").stdout == f"removed u, which came from {source}\n", "what was removed is not said")
        expect("regular expression" in run(port, "context", "search", "(", code=2).stderr, "a bad pattern")
        expect("--name" in run(port, "context", "add", source, "--name", "../x", "--for", "x", code=2).stderr, "a bad name")
        expect("git fetch" in run(port, "context", "add", "file:///nowhere/x", "--for", "x", "--commit", "abc", code=2).stderr,
               "a repository that is not there")
        expect(run(other, "context", "list", "--port", port).stdout.startswith("s: x"), "--port")
        index = port / "context/INDEX.md"
        run(port, "context", "index")
        lines = index.read_text().splitlines()
        lines[5] = lines[5].rsplit("|", 2)[0] + "|"
        index.write_text("\n".join(lines) + "\n")
        done = run(port, "context", "index", code=2)
        expect("INDEX.md:6: error: a line of the index has 6 cells" in done.stderr, done.stderr)
        expect(index.read_text() == "\n".join(lines) + "\n", "the file was changed")


if __name__ == "__main__":
    main([test_a_folder, test_purposes_survive, test_git_and_again, test_a_changed_path_is_told, test_what_is_wrong_is_said])
