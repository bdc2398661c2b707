#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asm diff: kernels, targets, builds, documents and commits."""
import json
import subprocess

from program import FolderTest, NO_NVDISASM, SOURCE, document, main, run

LOOP = """
extern "C" __global__ void sums(float* p, int n) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) sum += p[i * 128 + threadIdx.x];
    p[threadIdx.x] = sum;
}
"""
WITH_EXP = LOOP.replace("sum += p[i * 128 + threadIdx.x]", "sum += exp2f(p[i * 128 + threadIdx.x])")
TWO_LOOPS = LOOP.replace("    p[threadIdx.x] = sum;", """#pragma unroll 1
    for (int i = 0; i < n; ++i) p[i * 64 + threadIdx.x] = 1.0f / p[i];
    p[threadIdx.x] = sum;""")


class DiffTest(FolderTest):
    def test_nothing_changed(self):
        diff = document("asm", "diff", "kernels/softmax", "kernels/softmax")
        self.assertEqual((diff["changed"], diff["gone"], diff["added"], diff["notes"]), (False, [], [], []))
        self.assertEqual(len(diff["kernels"]), 3)
        self.assertIn("softmax_plain for sm_90a: nothing changed\n",
                      run("asm", "diff", "kernels/softmax", "kernels/softmax")[1])

    def test_a_loop_that_grows(self):
        kernel, = document("asm", "diff", self.write("a.cu", LOOP), self.write("b.cu", WITH_EXP))["kernels"]
        loop, = kernel["loops"]
        self.assertTrue(loop["changed"])
        self.assertEqual(loop["classes"]["mufu"], {"before": 0, "after": 1})
        self.assertEqual(loop["after"]["own"] - loop["before"]["own"],
                         loop["classes"]["total"]["after"] - loop["classes"]["total"]["before"])
        text = run("asm", "diff", self.folder / "a.cu", self.folder / "b.cu")[1]
        self.assertIn("mufu 0 -> 1 (+1)", text)

    def test_a_loop_that_comes_and_goes(self):
        one, two = self.write("a.cu", LOOP), self.write("b.cu", TWO_LOOPS)
        kernel, = document("asm", "diff", one, two)["kernels"]
        self.assertEqual([(bool(l["before"]), bool(l["after"])) for l in kernel["loops"]], [(True, True), (False, True)])
        kernel, = document("asm", "diff", two, one)["kernels"]
        self.assertEqual([(bool(l["before"]), bool(l["after"])) for l in kernel["loops"]], [(True, True), (True, False)])

    def test_targets_of_one_kernel(self):
        kernel, = document("asm", "diff", "kernels/softmax::softmax_plain@sm_90a",
                           "kernels/softmax::softmax_plain@sm_120a")["kernels"]
        self.assertEqual((kernel["before"]["target"], kernel["after"]["target"]), ("sm_90a", "sm_120a"))
        self.assertTrue(kernel["changed"])

    def test_two_kernels_of_other_names(self):
        kernel, = document("asm", "diff", "kernels/softmax::softmax_plain", "kernels/softmax::*async")["kernels"]
        self.assertEqual((kernel["before"]["name"], kernel["after"]["name"]), ("softmax_plain", "softmax_cp_async"))
        self.assertEqual(kernel["resources"]["static_shared_bytes"], {"before": 32, "after": 4160})

    def test_spills_that_appear(self):
        from document_test import SPILLS
        source = self.write("spills.cu", SPILLS)
        document("asm", source, "--out", self.folder / "before")
        document("asm", source, "--option", "--maxrregcount=32", "--out", self.folder / "after")
        before, after = (self.folder / side / "asm_info.json" for side in ("before", "after"))
        kernel, = document("asm", "diff", before, after)["kernels"]
        self.assertEqual(kernel["resources"]["spill_store_bytes"]["before"], 0)
        self.assertTrue(all(s["before"] == 0 and s["after"] > 0 for s in kernel["spills"]))
        self.assertTrue(any(s["place"].startswith("spills.cu:") for s in kernel["spills"]))
        self.assertIn("local stores of 32 bits at spills.cu:", run("asm", "diff", before, after)[1])
        back, = document("asm", "diff", after, before)["kernels"]
        self.assertTrue(all(s["after"] == 0 for s in back["spills"]))

    def test_commits(self):
        def git(*words):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                           cwd=self.folder, check=True, capture_output=True)
        git("init", "-q")
        self.write("k.cu", LOOP)
        git("add", "-A")
        git("commit", "-qm", "one")
        self.write("k.cu", WITH_EXP)
        diff = document("asm", "diff", "HEAD:k.cu", "k.cu", folder=self.folder)
        self.assertIn("mufu", diff["kernels"][0]["instructions"])
        for side, words in (("HEAD~7:k.cu", "no revision 'HEAD~7'"), ("HEAD:x.cu", "not in that revision"),
                            ("--output=x:k.cu", "no revision")):
            code, _, err = run("asm", "diff", "--", side, "k.cu", folder=self.folder)
            self.assertEqual(code, 2)
            self.assertIn(words, err)

    def test_a_side_without_instructions(self):
        out = self.folder / "bare"
        run("asm", "kernels/softmax", "--out", out, **NO_NVDISASM)
        diff = document("asm", "diff", out / "asm_info.json", "kernels/softmax")
        self.assertIn("are not compared: nvdisasm is missing", diff["notes"][0] + diff["notes"][-1])
        self.assertFalse(any(kernel["instructions"] for kernel in diff["kernels"]))

    def test_bad_documents(self):
        good = document("asm", "kernels/softmax")

        def broken(change):
            copy = json.loads(json.dumps(good))
            change(copy)
            return json.dumps(copy)
        loop = good["kernels"][0]["loops"][0]
        cases = [("", "no JSON"), ("{\n\n]", "x.json:3"), ("[]", "is no object"), ("{}", 'has no "schema"'),
                 (broken(lambda d: d.update(schema="other/1")), "other/1"),
                 (broken(lambda d: d.pop("kernels")), 'has no "kernels"'),
                 (broken(lambda d: d["kernels"][0].pop("loops")), 'kernels[0]: has no "loops"'),
                 (broken(lambda d: d["kernels"][1]["loops"][2].update(parent=2)), "kernels[1].loops[2].parent"),
                 (broken(lambda d: d["kernels"][0]["loops"][0].update(depth="1")), "kernels[0].loops[0].depth"),
                 (broken(lambda d: d["kernels"][0]["loops"][0]["own"].update(total=None)), "loops[0].own.total")]
        self.assertTrue(loop)
        for text, words in cases:
            code, out, err = run("asm", "diff", self.write("x.json", text), "kernels/softmax")
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(words, err)

    def test_names_that_are_not_there(self):
        for side, words in (("kernels/softmax::nothing", "there are: softmax"), ("kernels/softmax@sm_1", "sm_1"),
                            ("kernels/softmax::", "names no kernel"), ("nowhere", "no such file")):
            code, _, err = run("asm", "diff", side, "kernels/softmax")
            self.assertEqual(code, 2, side)
            self.assertIn(words, err)


if __name__ == "__main__":
    main()
