#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asm show: the right instructions, lines and control codes, in JSON, text and colours."""
import re
import unittest

from program import NO_NVDISASM, SOURCE, document, main, run

KERNEL = "kernels/softmax::softmax_plain@sm_90a"


class ShowTest(unittest.TestCase):
    def test_a_loop(self):
        loop = document("asm", KERNEL.split("::")[0], "--target", "sm_90a")["kernels"][0]["loops"][2]
        shown = document("asm", "show", KERNEL, "--loop", 2)
        rows = shown["instructions"]
        self.assertEqual(len(rows), loop["instructions"]["total"])
        self.assertEqual(rows[0]["address"], loop["header"])
        self.assertTrue(rows[0]["branch_target"])
        self.assertEqual({row["loop"] for row in rows}, {2})
        self.assertEqual(shown["scheduled_cycles"], sum(max(row["control"]["stall"], 1) for row in rows))
        self.assertEqual(shown["scheduled_cycles"], loop["estimate"]["scheduled_cycles"])

    def test_lines_are_the_files(self):
        source = (SOURCE / "kernels/softmax/softmax_plain.cu").read_text().splitlines()
        for row in document("asm", "show", KERNEL)["instructions"]:
            for place in row["source"]:
                if place["file"].endswith("softmax_plain.cu"):
                    self.assertEqual(place["text"], source[place["line"] - 1].strip())
            if row["text"].startswith("MUFU.EX2"):
                self.assertIn("ex2", row["ptx"]["text"])

    def test_a_load_is_waited_for(self):
        # The file, not the port: another form of it needs sm_90.
        for target in ("sm_80", "sm_90a", "sm_120a"):
            rows = document("asm", "show", f"kernels/softmax/softmax_plain.cu@{target}")["instructions"]
            loads = [row["control"]["write_barrier"] for row in rows if row["class"] == "global" and "LDG" in row["text"]]
            self.assertTrue(loads)
            self.assertNotIn(None, loads, "a load without a barrier: nothing could wait for it")
            waited = {barrier for row in rows for barrier in row["control"]["wait"]}
            self.assertLessEqual(set(loads), waited)

    def test_text(self):
        code, text, _ = run("asm", "show", KERNEL, "--loop", 2, "--source")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"(?m)^> 1[0-9a-f]{3}  B[-0-5]{6}:R.:W.:[-Y]:S\d\d  ")
        self.assertRegex(text, r"(?m)^  [0-9a-f]{4}  \S+  LDG\S* .* \|\s+\d+  ld\.global")
        self.assertRegex(text, r"(?m)^softmax_common\.cuh:\d+ < .*softmax_plain\.cu:\d+    \S")
        self.assertNotIn("\033", text)
        plain = run("asm", "show", KERNEL, "--loop", 2)[1]
        self.assertNotIn(" | ", plain)
        coloured = run("asm", "show", KERNEL, "--loop", 2, "--source", "--colour", "always")[1]
        self.assertIn("\033[31mLDG", coloured)
        self.assertEqual(re.sub(r"\033\[[0-9;]*m", "", coloured), text)

    def test_bad_input(self):
        for arguments, words in (((KERNEL, "--loop", 99), "has no loop 99: they are 0 to 3"),
                                 (("kernels/softmax",), "names 3 kernels; which one: kernels/softmax::softmax_plain"),
                                 (("kernels/softmax::none",), "no kernel is called none"),
                                 ((KERNEL, "--colour", "blue"), "blue"), ((KERNEL, "--loop", "x"), "x")):
            code, out, err = run("asm", "show", *arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(words, err)
        code, _, err = run("asm", "show", KERNEL, **NO_NVDISASM)
        self.assertEqual(code, 2)
        self.assertIn("nvdisasm is missing", err)


if __name__ == "__main__":
    main()
