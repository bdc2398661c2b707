#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright context under rough use: killed half-way, two at once, a read-only folder, a full disk, mistakes of
hand edits, thousands of entries."""
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import PROGRAM, Port, as_json, as_nobody, expect, limit_file_size, main, run  # noqa: E402

ENTRIES = 5000
# Of the build, as CMakeLists.txt sets it for sanitizers.
SLOW = float(os.environ.get("WARPWRIGHT_TEST_SLOWNESS", "1"))


def make_files(folder, count):
    folder.mkdir(parents=True)
    for i in range(count):
        (folder / f"f{i}.cu").write_text(f"__global__ void kernel_{i}(int* x) {{ x[0] = {i}; }}\n")
    return folder


def sound(port):
    """Whatever happened: the lists can be read, and each record is whole."""
    return as_json(port, "context", "list")["sources"]


def test_killed_half_way():
    with Port() as port, Port() as other:
        source = make_files(other / "many", 1500)
        run(port, "context", "add", source, "--name", "first", "--for", "x")
        run(port, "context", "index")
        index = (port / "context/INDEX.md").read_text()
        random.seed(1)
        for i in range(12):
            words = ["add", source, "--name", f"n{i}", "--for", "x"] if i % 2 == 0 else ["index"]
            running = subprocess.Popen([PROGRAM, "context", *words], cwd=port, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.002, 0.15))
            running.send_signal(signal.SIGKILL)
            running.wait()
            names = {each["name"]: each for each in sound(port)}
            expect("first" in names and names["first"]["present"], names)
            now = (port / "context/INDEX.md").read_text()
            expect(now.endswith("<!-- /index -->\n"), now[-200:])
        # What is missing can be got again, and nothing of the killed stays.
        for each in sound(port):
            if not each["present"]:
                run(port, "context", "add", source, "--name", each["name"])
        run(port, "context", "add", source, "--name", "last", "--for", "x")
        left = [path.name for path in (port / "context").iterdir() if path.name.startswith(".fetching") or ".tmp" in path.name]
        expect(not left, left)
        run(port, "context", "index")
        expect(index.splitlines()[3] in (port / "context/INDEX.md").read_text(), "a line was lost")


def test_two_at_once():
    with Port() as port, Port() as other:
        source = make_files(other / "s", 3)
        running = [subprocess.Popen([PROGRAM, "context", "add", source, "--name", f"n{i}", "--for", f"x{i}"], cwd=port,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(12)]
        for each in running:
            error = each.communicate()[1]
            expect(each.returncode == 0, error)
        expect({each["name"] for each in sound(port)} == {f"n{i}" for i in range(12)}, sound(port))
        both = [subprocess.Popen([PROGRAM, "context", "add", source, "--name", "same", "--for", "x"], cwd=port,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        codes = sorted(each.wait() for each in both)
        expect(codes == [0, 2, 2, 2], f"{codes} {[each.stderr.read() for each in both]}")


def test_read_only_folder():
    with Port() as port, Port() as other:
        source = make_files(other / "s", 3)
        run(port, "context", "add", source, "--name", "s", "--for", "x")
        for folder in (port, other):
            subprocess.run(["chmod", "-R", "a-w,a+rX", folder], check=True)
        for words in (["list"], ["search", "kernel_1"]):
            done = as_nobody(["context", *words], port)
            expect(done.returncode == 0, done.stderr)
        for words in (["add", source, "--name", "t", "--for", "x"], ["index"], ["remove", "s"]):
            done = as_nobody(["context", *words], port)
            expect(done.returncode == 2 and "ermission denied" in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        subprocess.run(["chmod", "-R", "u+w", port, other], check=True)
        expect(sound(port)[0]["present"], "the source is gone")


def test_full_disk():
    """No file may grow beyond a limit: what is written then ends half-way, as on a full disk."""
    with Port() as port, Port() as other:
        source = make_files(other / "s", 30)
        for i in range(20):
            run(port, "context", "add", source, "--name", f"n{i}", "--for", "a purpose of some length, so that the file grows")
        run(port, "context", "index")
        before = {name: (port / "context" / name).read_text() for name in ("INDEX.md", "sources.txt")}
        for words in (["add", source, "--name", "t", "--for", "x"], ["index"], ["remove", "n3"]):
            if words == ["index"]:
                (port / "context/INDEX.md").write_text(before["INDEX.md"].replace("~ a purpose", "mine"))
                before["INDEX.md"] = (port / "context/INDEX.md").read_text()
                run(port, "context", "remove", "n19")
                before["sources.txt"] = (port / "context/sources.txt").read_text()
            done = run(port, "context", *words, code=2, preexec_fn=limit_file_size(600))
            expect("File too large" in done.stderr, done.stderr)
            for name, text in before.items():
                expect((port / "context" / name).read_text() == text, f"{words}: {name} was changed")
        left = [path.name for path in (port / "context").iterdir() if ".tmp" in path.name or path.name.startswith(".fetch")]
        expect(not left, left)


def test_hand_edits():
    with Port() as port, Port() as other:
        run(port, "context", "add", make_files(other / "s", 1), "--name", "s", "--for", "x")
        path = port / "context/sources.txt"
        good = path.read_text()
        for edit, said in ((good.replace("s licence", "s license"), "did you mean 'licence'?"),
                           (good + "t for half a record\n", "source 't' has no line 't from ...'"),
                           (good + "<<<<<<< HEAD\n", "conflict marker"),
                           (good + "../x for y\n../x from y\n../x added y\n", "cannot be a folder of its own"),
                           (good + "just some words\n", "has no field 'some'")):
            path.write_text(edit)
            for words in (["list"], ["index"], ["add", other / "s", "--name", "u", "--for", "x"], ["remove", "s"]):
                done = run(port, "context", *words, code=2)
                expect(said in done.stderr and "sources.txt:" in done.stderr, f"{words}: {done.stderr}")
            expect(path.read_text() == edit, "the file was written over")
        path.write_bytes(os.urandom(4000))
        run(port, "context", "list", code=2)
        path.write_text(good)
        expect(sound(port)[0]["present"], "lost")


def seconds(port, *words, code=0):
    """Of processor time, so that what else runs on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(port, "context", *words, code=code)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_thousands_of_entries():
    with Port() as port, Port() as other:
        source = make_files(other / "s", 1)
        (port / "context").mkdir()
        lines = []
        for i in range(ENTRIES):
            make_files(port / f"context/s{i}", 1)
            lines += [f"s{i} for x{i}", f"s{i} from /nowhere/s{i}", f"s{i} licence MIT (LICENSE)", f"s{i} added 2026-11-30", ""]
        (port / "context/sources.txt").write_text("\n".join(lines) + "\n")
        took = {}
        for words in (["list"], ["index"], ["index", "--json"], ["search", "kernel_0"], ["remove", "s77"],
                      ["add", source, "--name", "new", "--for", "x"], ["index"]):
            took[" ".join(map(str, words[:2]))] = seconds(port, *words)
        print({name: round(each, 3) for name, each in took.items()})
        expect(max(took.values()) <= 1.0 * SLOW, took)


if __name__ == "__main__":
    main([test_killed_half_way, test_two_at_once, test_read_only_folder, test_full_disk, test_hand_edits,
          test_thousands_of_entries])
