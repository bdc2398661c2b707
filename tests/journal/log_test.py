#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright log end to end on a small port: a change that is kept, one that is reverted, a prediction that missed, a
change that breaks the check; and two branches that both append."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import Port, as_json, expect, main, run  # noqa: E402

PORT = """[port]
name = "twice"
target = "sm_90a"
[axes]
N = {}
[tensors.x]
dtype = "f32"
shape = ["N"]
role = "input"
data = { distribution = "normal" }
[tensors.y]
dtype = "f32"
shape = ["N"]
role = "output"
tolerance = { mode = "ulp", max = 0 }
[[stage]]
name = "twice"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.twice]
kind = "process"
argv = ["python3", "{port}/reference.py", "{in}", "{out}"]
[implementations.kernel.twice]
kind = "kernel"
source = "twice.cu"
entry = "twice"
grid = ["N"]
block = [32]
args = ["x", "y"]
[[case]]
id = "few"
axes = { N = 5 }
"""
REFERENCE = """import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + size])
begin, end = head["x"]["data_offsets"]
x = data[8 + size + begin:8 + size + end]
y = struct.pack(f"<{len(x) // 4}f", *(2 * v for v in struct.unpack(f"<{len(x) // 4}f", x)))
head = json.dumps({"y": {"dtype": "F32", "shape": head["x"]["shape"], "data_offsets": [0, len(y)]}}).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(head)) + head + y)
"""
FIRST = """extern "C" __global__ void twice(const float* x, float* y) {
    __shared__ float staged[256];
    staged[threadIdx.x] = x[blockIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = 2 * staged[31];
}
"""
SECOND = """extern "C" __global__ void twice(const float* x, float* y) {
    if (threadIdx.x == 0) y[blockIdx.x] = 2 * x[blockIdx.x];
}
"""
WRONG = SECOND.replace("2 *", "3 *")


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=folder, check=True,
                          capture_output=True, text=True).stdout.strip()


def make(port):
    (port / "port.toml").write_text(PORT)
    (port / "reference.py").write_text(REFERENCE)
    (port / "twice.cu").write_text(FIRST)
    git(port, "init", "-q", "-b", "main")
    git(port, "add", ".")
    git(port, "commit", "-q", "-m", "first")
    return git(port, "rev-parse", "--short=12", "HEAD")


def test_kept_with_what_was_measured():
    with Port() as port:
        first = make(port)
        run(port, "log", "start", "no shared memory is needed", "--predict", "shared_bytes 1024->0, registers same, time_us -5%")
        expect(run(port, "log", "show").stdout.count("open") == 2, "not open")
        (port / "twice.cu").write_text(SECOND)
        missed = run(port, "log", "finish", "kept", code=None)
        if missed.returncode == 2:  # registers: whether they stay is ptxas's affair
            expect("missed by more than half: predicted registers same" in missed.stderr and "--because" in missed.stderr, missed.stderr)
            run(port, "log", "finish", "kept", "--because", "fewer addresses")
        entry = as_json(port, "log", "show")["entries"][0]
        expect(entry["commit_before"] == first and entry["commit"] == first + ", dirty", entry)
        expect(entry["before"][0]["shared_bytes"] == 1024 and entry["after"][0]["shared_bytes"] == 0, entry)
        expect(entry["measured"][0] == "shared_bytes 1024 -> 0 (-100.0%)", entry)
        expect(entry["measured"][2].startswith("time_us not measured: "), entry)
        expect(entry["check"].startswith("pass, ") and entry["device"] == "Warpwright emulator (sm_90a)", entry)
        expect(entry["verdict"] == "kept", entry)
        run(port, "log", "render")
        readme = (port / "README.md").read_text()
        expect("| no shared memory is needed | shared_bytes 1024->0, registers same, time_us -5% | shared_bytes 1024 -> 0" in readme, readme)
        expect(as_json(port, "log", "render") == {"file": "README.md", "entries": 1}, "render --json")
        expect((port / "README.md").read_text() == readme, "rendering twice changes the file")


def test_a_failed_check_is_not_kept():
    with Port() as port:
        make(port)
        run(port, "log", "start", "three is nearly two", "--predict", "shared_bytes 1024->0")
        (port / "twice.cu").write_text(WRONG)
        before = (port / "log.txt").read_text()
        done = run(port, "log", "finish", "kept", code=1)
        expect("cannot be kept: FAIL at stage/kernel/twice/few" in done.stderr, done.stderr)
        expect((port / "log.txt").read_text() == before, "it was recorded")
        run(port, "log", "finish", "reverted", "--because", "wrong results")
        entry = as_json(port, "log", "show")["entries"][0]
        expect(entry["verdict"] == "reverted" and entry["check"].startswith("FAIL at "), entry)
        expect("no entry is open" in run(port, "log", "finish", "kept", code=2).stderr, "finished twice")


def test_a_missed_prediction_asks():
    with Port() as port:
        make(port)
        run(port, "log", "start", "x", "--predict", "shared_bytes -10%")
        (port / "twice.cu").write_text(SECOND)
        done = run(port, "log", "finish", "kept", code=2)
        expect("predicted shared_bytes -10%, measured shared_bytes 1024 -> 0 (-100.0%)" in done.stderr, done.stderr)
        expect("0 reverted, 1 open" in run(port, "log", "show").stdout, "it was recorded")
        run(port, "log", "finish", "kept", "--because", "all of it went")
        expect(as_json(port, "log", "show")["entries"][0]["because"] == "all of it went", "no reason")


def test_what_is_wrong_is_said():
    with Port() as port:
        make(port)
        expect("did you mean 'registers'" in run(port, "log", "start", "x", "--predict", "regster -1", code=2).stderr, "metric")
        expect("no kernel of . matches" in run(port, "log", "start", "x", "--predict", "registers -1", "--kernels", "z*", code=2).stderr,
               "kernels")
        expect("no entry is open" in run(port, "log", "finish", "kept", code=2).stderr, "open")
        run(port, "log", "start", "x", "--predict", "registers same")
        run(port, "log", "start", "y", "--predict", "registers same")
        done = run(port, "log", "finish", "reverted", code=2)
        expect("several entries are open" in done.stderr, done.stderr)
        key = as_json(port, "log", "show")["entries"][1]["key"]
        run(port, "log", "finish", "reverted", "--entry", key)
        run(port, "log", "finish", "reverted")


def test_two_branches_merge():
    with Port() as port:
        make(port)
        run(port, "log", "start", "common", "--predict", "registers same")
        run(port, "log", "finish", "reverted")
        git(port, "add", ".")
        git(port, "commit", "-q", "-m", "log")
        for branch in ("one", "two"):
            git(port, "checkout", "-q", "-b", branch, "main")
            run(port, "log", "start", f"on {branch}", "--predict", "registers same")
            run(port, "log", "finish", "reverted", "--because", "the same lines on both sides")
            git(port, "commit", "-q", "-a", "-m", branch)
        git(port, "merge", "-q", "one")
        entries = as_json(port, "log", "show")["entries"]
        ideas = [each["idea"] for each in entries]  # in order of time, to the second
        expect(ideas[0] == "common" and sorted(ideas[1:]) == ["on one", "on two"], entries)
        expect(all(each["verdict"] == "reverted" for each in entries), entries)


if __name__ == "__main__":
    main([test_kept_with_what_was_measured, test_a_failed_check_is_not_kept, test_a_missed_prediction_asks,
          test_what_is_wrong_is_said, test_two_branches_merge])
