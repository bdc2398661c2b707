#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asm gate: what is recorded holds, what uses more fails, what cannot be read is named."""
import pathlib
import re
import shutil
import tempfile
import unittest

from program import NO_NVDISASM, SOURCE, document, main, run


class GateTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        for part in ("kernels", "tests/data"):  # cases take their inputs from the latter
            shutil.copytree(SOURCE / part, pathlib.Path(temporary.name) / part)
        self.port = pathlib.Path(temporary.name) / "kernels/softmax"
        self.file = self.port / "resources.txt"

    def edit(self, pattern, replacement, kernel=""):
        """The first place, or the first behind the line of a kernel."""
        head, mark, tail = self.file.read_text().rpartition(f"kernel {kernel}") if kernel else ("", "", self.file.read_text())
        text, count = re.subn(pattern, replacement, tail, count=1)
        self.assertEqual(count, 1)
        self.file.write_text(head + mark + text)

    def exceeded(self):
        report = document("asm", "gate", self.port, code=1)
        self.assertFalse(report["ok"])
        return [each["what"] for kernel in report["kernels"] for each in kernel["exceeded"]]

    def test_recorded_holds(self):
        self.file.unlink()
        code, _, err = run("asm", "gate", self.port)
        self.assertEqual(code, 2)
        self.assertIn("--record makes it", err)
        self.assertEqual(run("asm", "gate", self.port, "--record")[0], 0)
        self.assertEqual(self.file.read_text(), (SOURCE / "kernels/softmax/resources.txt").read_text())
        report = document("asm", "gate", self.port)
        self.assertTrue(report["ok"])
        self.assertEqual(len(report["kernels"]), 3)

    def test_each_figure_is_held(self):
        self.edit(r"registers \d+", "registers 3", "softmax_cp_async")
        self.assertEqual(self.exceeded(), ["registers"])
        self.edit(r"registers 3", "registers 99", "softmax_cp_async")
        self.edit(r"loop 1 \d+", "loop 1 4", "softmax_cp_async")
        self.assertEqual(self.exceeded(), ["instructions of loop 0 (depth 1)"])
        text = run("asm", "gate", self.port)[1]
        self.assertRegex(text, r"MORE softmax_cp_async.*\n.*loop 0 \(depth 1\) 520, recorded are 4")
        self.assertIn("registers 32, recorded are 99", text)

    def test_the_main_loop_of_a_kernel_on_tensor_cores_is_held(self):
        port = self.port.parent / "products"
        port.mkdir()
        (port / "port.toml").write_text(PRODUCTS)
        (port / "products.cu").write_text(PRODUCTS_KERNEL)
        self.assertEqual(run("asm", "gate", port, "--record")[0], 0)
        self.assertTrue(document("asm", "gate", port)["ok"])
        self.file = port / "resources.txt"
        self.assertRegex(self.file.read_text(), r"main_loop \d+ 0\n")
        (port / "products.cu").write_text(PRODUCTS_KERNEL.replace("/* more */", "d[0] = exp2f(d[0]);"))
        report = document("asm", "gate", port, code=1)
        exceeded = [each["what"] for each in report["kernels"][0]["exceeded"]]
        self.assertEqual(exceeded[:2], ["main loop's instructions for 64 tensor instructions", "MUFU among them"])
        self.edit(r"  main_loop .*\n", "")
        report = document("asm", "gate", port, code=1)
        self.assertIn("not recorded: main loop's", report["kernels"][0]["exceeded"][0]["what"])

    def test_a_change_of_the_kernel_is_seen(self):
        source = self.port / "softmax_plain.cu"
        text = source.read_text()
        changed = text.replace("store(params, first + j, ", "store(params, first + j, __sinf(j) * ", 1)
        self.assertNotEqual(text, changed)
        source.write_text(changed)
        self.assertIn("instructions of loop 2 (depth 1)", self.exceeded())

    def test_other_loops_are_judged_by_their_sum(self):
        self.edit(r"(?s)loop 1 520.*?\n\n", "loop 1 900\n\n")
        report = document("asm", "gate", self.port)
        self.assertIn("its loops are others: 1 were recorded, now there are 5",
                      next(k for k in report["kernels"] if "cp_async" in k["name"])["notes"])
        self.edit(r"loop 1 900", "loop 1 100")
        self.assertEqual(self.exceeded(), ["instructions of all loops"])

    def test_kernels_come_and_go(self):
        self.edit(r"kernel softmax_plain.sm_90a", "kernel softmax_other.sm_90a")
        report = document("asm", "gate", self.port, code=1)
        self.assertEqual([k["exceeded"][0]["what"] for k in report["kernels"] if k["exceeded"]],
                         ["not recorded: registers"])
        self.assertTrue(any("no kernel softmax_other.sm_90a softmax_plain any more" in note for note in report["notes"]))

    def test_another_compiler_is_told(self):
        self.edit(r"ptxas \S+", "ptxas 12.1.0")
        self.assertRegex(run("asm", "gate", self.port)[1], r"note: recorded with .*ptxas 12\.1\.0; this is")

    def test_bad_files(self):
        lines = self.file.read_text()
        for text, words in (("registers 3\n", "resources.txt:1: error: expected 'kernel FILES NAME'"),
                            (lines + "kernel x.sm_90a x\n", "needs a line 'registers N'"),
                            (lines + "\nloop 1 2\nloop x 2\n", "expected a number"),
                            (lines.replace("registers 26", "registers -1"), "expected a number"),
                            (lines.replace("spill_bytes 0", "spill_bytes 0\n spill_bytes 1", 1), "stands here twice"),
                            (lines + lines, "already"), (lines.replace("loop 1 38", "loops 38"), "expected 'registers N'"),
                            (lines.replace("spill_bytes 0", "spill_bytes 0\n main_loop 1", 1), "main_loop INSTRUCTIONS MUFU"),
                            ("kernel a.sm_xx a\n registers 1\n spill_bytes 1\n", "sm_xx")):
            self.file.write_text(text)
            code, out, err = run("asm", "gate", self.port)
            self.assertEqual((code, out), (2, ""), text)
            self.assertIn(words, err)
            self.assertEqual(self.file.read_text(), text)

    def test_what_it_cannot_judge(self):
        code, _, err = run("asm", "gate", self.port, **NO_NVDISASM)
        self.assertEqual(code, 2)
        self.assertIn("nvdisasm is missing", err)
        code, _, err = run("asm", "gate", self.port / "softmax_plain.cu")
        self.assertEqual(code, 2)


PRODUCTS = """
[port]
name = "products"
target = "sm_90a"
[axes]
N = {}
[tensors.x]
dtype = "u32"
shape = ["N", 32]
role = "input"
[tensors.y]
dtype = "f32"
shape = [32]
role = "output"
[[stage]]
name = "multiply"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.multiply]
kind = "library"
symbol = "none"
[implementations.mma.multiply]
kind = "kernel"
source = "products.cu"
entry = "products"
grid = [1]
block = [32]
args = ["x", "y", { dtype = "i32", value = "N" }]
[[case]]
id = "one"
axes = { N = 8 }
"""
PRODUCTS_KERNEL = """
extern "C" __global__ void products(const unsigned* x, float* y, int n) {
    float d[4] = {};
    #pragma unroll 1
    for (int i = 0; i < n; ++i) {
        const unsigned a = x[32 * i + threadIdx.x];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a));
        /* more */
    }
    y[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
"""

if __name__ == "__main__":
    main()
