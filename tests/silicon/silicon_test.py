#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright silicon on the emulator: every part but the GPU's own, one file, and what stops it.

    silicon_test.py PROGRAM SOURCE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
PORT = "kernels/sage3"


def run(*words, **environment):
    done = subprocess.run([str(PROGRAM), "silicon", *map(str, words)], cwd=SOURCE, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment}, timeout=600)
    return done.returncode, done.stdout, done.stderr


class SiliconTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.out = pathlib.Path(temporary.name) / "report.md"

    def emulated(self, *words):
        return run(PORT, "--on", "emulator", "--case", "one", "--bench", "one", "--tests", "mma/*m16n8k64_mx*", "--out", self.out, *words)

    def test_report(self):
        code, out, err = self.emulated("--json")
        self.assertEqual(code, 0, err)
        text = self.out.read_text()
        data = json.loads(out)
        self.assertEqual(json.loads(re.search(r"```json\n(.*)\n```", text)[1]), data)
        self.assertEqual(data["verdict"], "pass")
        self.assertEqual(data["device"]["kind"], "emulator")
        self.assertIn("Emulated: nothing here was seen on silicon", text)
        # F: the emulator sums as it assumes, and both candidates stand beside it.
        sums = data["sums"]
        self.assertEqual(sums["fitting"], [35])
        self.assertEqual(sums["measured"], sums["f35"])
        self.assertNotEqual(sums["f25"], sums["f35"])
        self.assertGreater(sums["differing"]["25"], 0)
        self.assertIn("- F: F = 35: all", text)
        # The ladder with its taps, the tests that no GPU has executed, and no times.
        ladder, = data["ladder"]
        self.assertEqual((ladder["case"], ladder["pass"], ladder["failed"]), ("one", True, []))
        self.assertGreater(ladder["rungs"], 20)
        tests = data["new_tests"]
        self.assertGreaterEqual(tests["passed"], 6)
        self.assertEqual(tests["failed"], 0)
        self.assertIn("| mma/mma_m16n8k64_mxf4nvf4_4x_ue4m3_0_0 | passed |", text)
        stages = data["times"]["cases"][0]["stages"]
        self.assertGreaterEqual(len(stages), 10)
        self.assertTrue(all(stage["seconds"] == [] for stage in stages))
        self.assertIn("no times: the emulator", text)
        self.assertEqual(data["fidelity"]["state"], "not run")

        # It is kept, unless told otherwise.
        code, _, err = self.emulated()
        self.assertEqual(code, 2)
        self.assertIn("--force overwrites it", err)
        self.assertEqual(self.out.read_text(), text)

    def test_a_part_that_does_not_end_costs_only_itself(self):
        port = self.out.parent / "port"
        port.mkdir()
        (port / "port.toml").write_text(HANGS)
        (port / "copies.cu").write_text('extern "C" __global__ void copies(const float* x, float* y) { y[0] = x[0]; }\n')
        (port / "hangs.cu").write_text('extern "C" __global__ void hangs(volatile float* x, float* y) {\n'
                                       "    if (x[0] == 1) while (x[0] == 1) {}\n    y[0] = x[0];\n}\n")
        code, out, err = run(port, "--on", "emulator", "--limit", "30", "--bench", "ends", "--tests", "mma/*m16n8k64_mxf4_2x*", "--out", self.out, "--json")
        self.assertEqual(code, 1, err)
        data = json.loads(out)
        by_case = {each["case"]: each for each in data["ladder"]}
        self.assertEqual(by_case["ends"]["state"], "done")
        self.assertIn("did not end within 30", by_case["hangs"]["why"])
        self.assertEqual(data["sums"]["state"], "not run")  # no sm_120a
        self.assertEqual(data["new_tests"]["failed"], 0)
        self.assertIn("no result", self.out.read_text())

    def test_without_the_gpu(self):
        code, _, err = run(PORT, "--out", self.out)
        if code in (0, 1):
            self.skipTest("there is such a GPU")
        self.assertEqual(code, 77)
        self.assertRegex(err, r"CUDA|GPU|sm_120a")
        self.assertFalse(self.out.exists())

    def test_wrong_input(self):
        for words, message in (((PORT, "--on", "emulator", "--case", "nowhere", "--out", self.out), "--case nowhere matches none of"),
                               ((PORT, "--on", "emulator", "--tests", "nowhere", "--out", self.out), "matches 'nowhere'"),
                               ((PORT, "--on", "emulator", "--archive", "nowhere.bin", "--out", self.out), "nowhere.log"),
                               ((PORT, "--on", "emulator", "--out", self.out.parent), "is a folder; name a file")):
            code, _, err = run(*words)
            self.assertEqual(code, 2, words)
            self.assertIn(message, err)


HANGS = """
[port]
name = "hangs"
description = "a kernel that does not end on some inputs"

[axes]
N = 1

[tensors.x]
dtype = "f32"
shape = ["N"]
role = "input"

[tensors.y]
dtype = "f32"
shape = ["N"]
role = "output"
tolerance = { mode = "ulp", max = 0 }

[[stage]]
name = "copy"
inputs = ["x"]
outputs = ["y"]

[implementations.reference.copy]
kind = "kernel"
source = "copies.cu"
entry = "copies"
grid = [1]
block = [1]
args = ["x", "y"]

[implementations.loop.copy]
kind = "kernel"
source = "hangs.cu"
entry = "hangs"
grid = [1]
block = [1]
args = ["x", "y"]

[[case]]
id = "ends"
axes = {}
data.x = { distribution = "constant", value = 2 }

[[case]]
id = "hangs"
axes = {}
data.x = { distribution = "constant", value = 1 }
"""

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
