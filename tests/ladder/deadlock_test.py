#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel that cannot go on: check says who waits where for what and who could have released it, in text and in JSON."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from running import Port, as_json, expect, main, run  # noqa: E402

PORT = """[port]
name = "stuck"
[tensors.x]
dtype = "f32"
shape = [64]
role = "input"
data = { distribution = "normal" }
[tensors.y]
dtype = "f32"
shape = [64]
role = "output"
tolerance = { mode = "ulp", max = 0 }
[[stage]]
name = "copy"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.copy]
kind = "kernel"
source = "right.cu"
entry = "copy"
grid = [1]
block = [64]
args = ["x", "y"]
[implementations.stuck.copy]
kind = "kernel"
source = "stuck.cu"
entry = "copy"
grid = [1]
block = [64]
args = ["x", "y"]
[[case]]
id = "one"
"""
RIGHT = 'extern "C" __global__ void copy(const float* x, float* y) {\n    y[threadIdx.x] = x[threadIdx.x];\n}\n'
BARRIER = RIGHT.replace("    y[", '    if (threadIdx.x < 32) asm volatile("bar.sync 3, 64;");\n    y[')
MBARRIER = RIGHT.replace("    y[", """    __shared__ unsigned long long full[2];
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(full + 1));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 65;" :: "r"(at) : "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at) : "memory");
    for (unsigned done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    y[""")


def failure_of(port, source):
    (port / "port.toml").write_text(PORT)
    (port / "right.cu").write_text(RIGHT)
    (port / "stuck.cu").write_text(source)
    report = as_json(port, "check", ".", "--impl", "stuck", code=1)
    return next(rung["failure"] for rung in report["rungs"] if rung["status"] == "fail")


def test_a_named_barrier():
    with Port() as port:
        failure = failure_of(port, BARRIER)
        expect(failure["kind"] == "stopped" and len(failure["waits"]) == 1, failure)
        wait = failure["waits"][0]
        expect(wait["kind"] == "barrier" and wait["barrier"] == 3 and wait["block"] == [0, 0, 0] and wait["warp"] == 0, wait)
        expect(wait["lanes"] == "0xffffffff" and wait["waits"] == "waits at barrier 3 for 32 more thread(s)", wait)
        expect(wait["instruction"].startswith("bar.sync 3, 64") and wait["source"][0]["line"] == 2, wait)
        expect(wait["could_release"] == ["not arrived: warp 1: has ended"], wait)
        text = run(port, "check", ".", "--impl", "stuck", code=1).stdout
        expect("        not arrived: warp 1: has ended\n" in text and "1 of 2 warps have ended, the others wait" in text, text)


def test_an_mbarrier():
    with Port() as port:
        waits = failure_of(port, MBARRIER)["waits"]
        expect([wait["warp"] for wait in waits] == [0, 1], waits)
        for wait in waits:
            expect(wait["kind"] == "mbarrier" and "barrier" not in wait, wait)
            mbarrier = wait["mbarrier"]
            expect(mbarrier["name"].endswith("[1]") or mbarrier["name"].endswith("[8]"), mbarrier)
            expect({key: mbarrier[key] for key in ("phase", "arrivals_pending", "arrivals_expected", "bytes_pending")} ==
                   {"phase": 0, "arrivals_pending": 1, "arrivals_expected": 65, "bytes_pending": 0}, mbarrier)
            expect(any(each.startswith("signalled before by warp 1: arrived 32 times, last by thread (63,0,0), at mbarrier.arrive")
                       for each in wait["could_release"]), wait)


if __name__ == "__main__":
    main([test_a_named_barrier, test_an_mbarrier])
