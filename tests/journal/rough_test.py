#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright probe and log under rough use: killed half-way, two at once, a read-only folder, a full disk, mistakes of hand
edits, thousands of entries."""
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
PORT = """[port]
name = "copy"
[tensors.x]
dtype = "f32"
shape = [32]
role = "input"
data = { distribution = "normal" }
[tensors.y]
dtype = "f32"
shape = [32]
role = "output"
tolerance = { mode = "ulp", max = 0 }
[[stage]]
name = "copy"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.copy]
kind = "process"
argv = ["true"]
[implementations.kernel.copy]
kind = "kernel"
source = "copy.cu"
entry = "copy"
grid = [1]
block = [32]
args = ["x", "y"]
[[case]]
id = "one"
"""
KERNEL = 'extern "C" __global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n'
PTX = """// probe: out a u32 1
.version 8.0
.target sm_90a
.address_size 64
.visible .entry probe(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, NUMBER;
    add.u32 %r2, %r1, 7;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
PROBE = '// probe: out a u32 1\nextern "C" __global__ void probe(unsigned* a) { *a = 7; }\n'


def make(port):
    (port / "port.toml").write_text(PORT)
    (port / "copy.cu").write_text(KERNEL)
    (port / "probes").mkdir()
    (port / "probes/seven.cu").write_text(PROBE)
    (port / "README.md").write_text("# Mine\n")
    run(port, "probe", "keep", "seven", "--says", "seven is seven")
    start(port)


def start(port, code=0, **options):
    return run(port, "log", "start", "an idea", "--predict", "registers same", code=code, **options)


FILES = ("log.txt", "probes/gotchas.txt", "README.md")


def contents(port):
    return {name: (port / name).read_text() for name in FILES}


def test_killed_half_way():
    with Port() as port:
        make(port)
        random.seed(2)
        key = as_json(port, "log", "show")["entries"][0]["key"]
        commands = (["log", "finish", "reverted", "--entry", key, "--because", "slower"],
                    ["log", "start", "again", "--predict", "registers same"], ["probe", "keep", "seven", "--says", "still seven"],
                    ["log", "render"])
        for i in range(16):
            running = subprocess.Popen([PROGRAM, *commands[i % 4]], cwd=port, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.002, 0.4))
            running.send_signal(signal.SIGKILL)
            running.wait()
            entries = as_json(port, "log", "show")["entries"]
            expect(entries[0]["idea"] == "an idea" and entries[0]["verdict"] in (None, "reverted"), entries)
            run(port, "probe", "check")
            expect((port / "README.md").read_text().startswith("# Mine\n"), "README")
        start(port)
        run(port, "probe", "keep", "seven", "--says", "and now")
        run(port, "log", "render")
        left = [str(path) for path in port.rglob("*.tmp")]
        expect(not left, left)


def test_two_at_once():
    with Port() as port:
        make(port)
        words = [["log", "start", f"idea {i}", "--predict", "registers same"] for i in range(6)]
        words += [["probe", "keep", f"seven{i}", "--file", "probes/seven.cu", "--says", f"seven {i}"] for i in range(6)]
        running = [subprocess.Popen([PROGRAM, *each], cwd=port, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for each in words]
        for each in running:
            error = each.communicate()[1]
            expect(each.returncode == 0, error)
        ideas = [each["idea"] for each in as_json(port, "log", "show")["entries"]]
        expect(sorted(ideas) == sorted(["an idea"] + [f"idea {i}" for i in range(6)]), ideas)
        names = {each["name"] for each in as_json(port, "probe", "check")["gotchas"]}
        expect(names == {"seven"} | {f"seven{i}" for i in range(6)}, names)
        run(port, "probe", "render")
        expect(all(f"**{name}**" in (port / "README.md").read_text() for name in names), "README")
        key = as_json(port, "log", "show")["entries"][0]["key"]
        same = [subprocess.Popen([PROGRAM, "log", "finish", "reverted", "--entry", key], cwd=port, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(3)]
        errors = [each.communicate()[1] for each in same]
        expect(sorted(each.returncode for each in same) == [0, 2, 2], errors)
        expect(sum("was finished on" in each for each in errors) == 2, errors)
        expect((port / ".gitattributes").read_text() == "probes/gotchas.txt merge=union\nlog.txt merge=union\n",
               (port / ".gitattributes").read_text())


def test_read_only_folder():
    with Port() as port:
        make(port)
        before = contents(port)
        subprocess.run(["chmod", "-R", "a-w,a+rX", port], check=True)
        for words, code in ((["log", "show"], 0), (["log", "render"], 2), (["probe", "render"], 0),
                            (["log", "start", "x", "--predict", "registers same"], 2), (["probe", "check"], 0),
                            (["log", "finish", "reverted"], 2),
                            (["probe", "keep", "seven", "--says", "x"], 2)):
            done = as_nobody(words, port)
            expect(done.returncode == code, f"{words}: {done.returncode} {done.stderr}")
            expect(code == 0 or "ermission denied" in done.stderr, f"{words}: {done.stderr}")
        subprocess.run(["chmod", "-R", "u+w", port], check=True)
        expect(contents(port) == before, "something changed")


def test_full_disk():
    with Port() as port:
        make(port)
        for _ in range(3):
            start(port)
        (port / "README.md").write_text((port / "README.md").read_text() + "more\n" * 200)
        before = contents(port)
        key = as_json(port, "log", "show")["entries"][0]["key"]
        for words in (["log", "start", "x", "--predict", "registers same"], ["log", "render"],
                      ["log", "finish", "reverted", "--entry", key], ["probe", "keep", "seven", "--says", "something else, at length"]):
            limit = 150 if words[0] == "probe" else 400
            done = run(port, *words, code=2, preexec_fn=limit_file_size(limit))
            expect("File too large" in done.stderr, f"{words}: {done.stderr}")
            expect(contents(port) == before, f"{words}: something changed")
        expect(not list(port.rglob("*.tmp")), "something was left")


def test_hand_edits():
    with Port() as port:
        make(port)
        key = as_json(port, "log", "show")["entries"][0]["key"]
        for name, line, said, commands in (
                ("log.txt", f"{key} verdct kept", "did you mean 'verdict'?", (["log", "show"], ["log", "render"])),
                ("log.txt", f"{key} verdict kept", "only one of the lines finished and verdict", (["log", "show"],)),
                ("log.txt", f"{key} before k.sm_90a registers=many", "'registers=many' is no METRIC=NUMBER", (["log", "show"],)),
                ("log.txt", "=======", "conflict marker", (["log", "show"], ["log", "start", "x", "--predict", "registers same"])),
                ("probes/gotchas.txt", "seven says more", "has a second 'says'", (["probe", "check"], ["probe", "render"])),
                ("probes/gotchas.txt", "new says more", "has no line 'new file ...'", (["probe", "check"],
                                                                                    ["probe", "keep", "seven", "--says", "x"])),
                ("README.md", "<!-- gotchas: again -->", "a second '<!-- gotchas:", (["probe", "render"],))):
            path = port / name
            good = path.read_text()
            path.write_text(good + line + "\n")
            number = len((good + line).splitlines())
            for words in commands:
                done = run(port, *words, code=2)
                expect(said in done.stderr, f"{words}: {done.stderr}")
                if "no line" not in said:
                    expect(f"{path.name}:{number}: error" in done.stderr, f"{words}, line {number}: {done.stderr}")
            expect(path.read_text() == good + line + "\n", f"{name} was written over")
            path.write_text(good)
        run(port, "log", "show")
        run(port, "probe", "check")


def seconds(port, *words):
    """Of processor time, so that what else runs on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(port, *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_thousands_of_entries():
    with Port() as port:
        make(port)
        log, gotchas = [], []
        for i in range(ENTRIES):
            log.append(f"""
{i:08x} started     2026-11-30T08:00:00Z
{i:08x} idea        an idea of some length, as people have them {i}
{i:08x} predict     registers -10%, spill_bytes 456->0
{i:08x} commit_was  0123456789ab
{i:08x} tools_were  nvrtc 13.0.88, ptxas 13.0.88
{i:08x} before      copy.sm_90a registers=32 spill_bytes=456 instructions=100
{i:08x} finished    2026-11-30T09:00:00Z
{i:08x} after       copy.sm_90a registers=29 spill_bytes=0 instructions=90
{i:08x} measured    registers 32 -> 29 (-9.4%)
{i:08x} measured    spill_bytes 456 -> 0 (-100.0%)
{i:08x} check       pass, 9 rungs
{i:08x} device      Warpwright emulator (sm_90a)
{i:08x} bench       no GPU
{i:08x} verdict     kept
""")
            gotchas.append(f"g{i} says x\ng{i} file seven.cu\ng{i} target sm_90a\ng{i} printed a[0] 7\ng{i} date 2026-11-30\n\n")
        (port / "log.txt").write_text((port / "log.txt").read_text() + "".join(log))
        record = (port / "probes/gotchas.txt")
        record.write_text("".join(gotchas))
        took = {" ".join(words): seconds(port, *words) for words in (
            ["log", "show"], ["log", "show", "--json"], ["log", "render"], ["log", "start", "x", "--predict", "registers same"],
            ["probe", "render"], ["probe", "check", "--only", "g77"], ["probe", "keep", "seven", "--says", "x"],
            ["probe", "check"])}
        # As many experiments, each another one.
        for i in range(ENTRIES):
            (port / f"probes/p{i}.ptx").write_text(PTX.replace("NUMBER", str(i)))
        record.write_text("".join(text.replace("seven.cu", f"p{i}.ptx").replace("a[0] 7", f"a[0] {i + 7}") for i, text in enumerate(gotchas)))
        took["probe check, of different files"] = seconds(port, "probe", "check", "--json")
        print({name: round(each, 3) for name, each in took.items()})
        expect(max(took.values()) <= 1.0 * SLOW, took)


if __name__ == "__main__":
    main([test_killed_half_way, test_two_at_once, test_read_only_folder, test_full_disk, test_hand_edits,
          test_thousands_of_entries])
