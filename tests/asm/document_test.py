#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asm_info.json is what docs/asm_info.schema.json says, with and without nvdisasm, and agrees with
itself; bad input is named."""
import copy
import json
import re

import jsonschema

from program import FolderTest, NO_NVDISASM, SOURCE, document, has_part, main, run

SCHEMA = json.loads((SOURCE / "docs/asm_info.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SPILLS = """
extern "C" __global__ void spills(float* p, int n) {
    float v[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = p[threadIdx.x + 128 * i];
    for (int j = 0; j < n; ++j)
#pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 7) % 64] + p[j * 64 + i];
#pragma unroll
    for (int i = 0; i < 64; ++i) p[threadIdx.x + 128 * i] = v[i];
}
"""
HOST = """
#include <cstdio>
#include <vector>
__global__ void twice(float* p) { p[threadIdx.x] *= 2; }
int main() {
    std::vector<float> host(32);
    twice<<<1, 32>>>(host.data());
    std::printf("%f\\n", host[0]);
}
"""


class DocumentTest(FolderTest):
    def check(self, info):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        mistakes = [f"{'/'.join(map(str, e.path))}: {e.message[:300]}" for e in VALIDATOR.iter_errors(info)]
        self.assertEqual(mistakes, [])
        for kernel in info["kernels"]:
            if "sass_missing" in kernel:
                continue
            total = kernel["instructions"]
            self.assertEqual(sum(total["classes"].values()), total["total"])
            self.assertEqual(sum(total["opcodes"].values()), total["total"])
            self.assertEqual(total["total"] * 16, kernel["resources"]["code_bytes"])
            for number, loop in enumerate(kernel["loops"]):
                self.assertEqual(loop["id"], number)
                inner = sum(other["instructions"]["total"] for other in kernel["loops"] if other["parent"] == number)
                self.assertEqual(loop["own"]["total"] + inner, loop["instructions"]["total"])

    def test_ports(self):
        info = document("asm", "kernels/softmax", "--target", "sm_90a,sm_100a,sm_120a")
        self.check(info)
        self.assertEqual(len(info["kernels"]), 9)
        info = document("asm", "kernels/sage3")
        self.check(info)
        files = [kernel["files"] for kernel in info["kernels"]]
        self.assertEqual(len(files), len(set(files)), "two builds would write the same files")

    def test_flags_are_exact(self):
        kernel = document("asm", "kernels/softmax")["kernels"][0]
        self.assertRegex(kernel["flags"][0], r"^nvrtc --gpu-architecture=compute_90a --std=c\+\+20 .*--fmad=false")
        self.assertEqual(kernel["flags"][1], "ptxas -v -arch=sm_90a --generate-line-info --fmad=false")

    def test_the_schema_can_fail(self):
        info = document("asm", "kernels/softmax")
        for change in (lambda k: k.pop("loops"), lambda k: k.update(more=1), lambda k: k["resources"].pop("registers"),
                       lambda k: k["resources"].update(registers="26"), lambda k: k.update(sass_missing="x"),
                       lambda k: k["loops"][0]["own"]["classes"].update(magic=3)):
            broken = copy.deepcopy(info)
            change(broken["kernels"][0])
            self.assertFalse(VALIDATOR.is_valid(broken))

    def test_the_page_names_every_field_of_a_kernel(self):
        page = (SOURCE / "docs/asm.md").read_text()
        fields = set(SCHEMA["$defs"]["kernel"]["properties"]) - {"name", "demangled", "target", "source", "files"}
        self.assertEqual([f for f in sorted(fields) if not re.search(rf"`{f}`", page)], [])

    def test_without_nvdisasm(self):
        full = document("asm", "kernels/softmax")
        bare = document("asm", "kernels/softmax", **NO_NVDISASM)
        self.check(bare)
        for with_sass, without in zip(full["kernels"], bare["kernels"]):
            self.assertIn("nvdisasm is missing", without["sass_missing"])
            self.assertNotIn("loops", without)
            self.assertEqual(with_sass["resources"], without["resources"])
            self.assertEqual(with_sass["occupancy"], without["occupancy"])
        self.assertIn("no SASS: nvdisasm is missing", run("asm", "kernels/softmax", **NO_NVDISASM)[1])

    def test_spills_have_lines_and_loops(self):
        source = self.write("spills.cu", SPILLS)
        info = document("asm", source, "--option", "--maxrregcount=32")
        self.check(info)
        kernel = info["kernels"][0]
        self.assertLessEqual(kernel["resources"]["registers"], 32)
        self.assertGreater(kernel["resources"]["spill_store_bytes"], 0)
        inside = [a for a in kernel["local_accesses"] if a["loop"] is not None and a["line"]]
        self.assertTrue(inside)
        self.assertTrue(all(5 <= a["line"]["line"] <= 8 for a in inside), inside[:3])
        self.assertEqual(document("asm", source)["kernels"][0]["local_accesses"], [])

    def test_files_come_back(self):
        out = self.folder / "out"
        info = document("asm", "kernels/softmax", "--target", "sm_90a", "--out", out)
        names = {"asm_info.json"} | {f"softmax_{k}.sm_90a.{e}" for k in ("plain", "cp_async", "bulk")
                                     for e in ("ptx", "cubin", "sass")}
        self.assertEqual({path.name for path in out.iterdir()}, names)
        self.assertEqual(json.loads((out / "asm_info.json").read_text()), info)
        cubin = document("asm", out / "softmax_plain.sm_90a.cubin")
        self.check(cubin)
        mine, given = info["kernels"][0], cubin["kernels"][0]
        self.assertEqual(mine["loops"], given["loops"])
        self.assertIsNone(given["resources"]["spill_store_bytes"])  # ptxas was not asked
        ptx = document("asm", out / "softmax_plain.sm_90a.ptx", "--option", "--fmad=false")
        self.check(ptx)
        self.assertEqual(ptx["kernels"][0]["instructions"], mine["instructions"])

    def test_host_code_is_nvccs(self):
        source = self.write("host.cu", HOST)
        code, _, err = run("asm", source)
        self.assertEqual(code, 2)
        self.assertIn("--frontend nvcc", err)
        if not has_part("nvcc"):
            self.skipTest("nvcc is not here")
        info = document("asm", source, "--frontend", "nvcc", "--target", "sm_90a,sm_120a")
        self.check(info)
        self.assertEqual([k["demangled"] for k in info["kernels"]], ["twice(float*)"] * 2)
        self.assertTrue(info["kernels"][0]["flags"][0].startswith("nvcc -ptx -arch=sm_90a"))
        broken = self.write("broken.cu", HOST.replace("*= 2", "*= two"))
        code, _, err = run("asm", broken, "--frontend", "nvcc")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"broken\.cu:4(:\d+)?: error: identifier \"two\" is undefined")

    def test_bad_input(self):
        out = self.folder / "out"
        document("asm", "kernels/softmax", "--target", "sm_90a", "--out", out)
        whole = (out / "softmax_plain.sm_90a.cubin").read_bytes()
        (self.folder / "half.cubin").write_bytes(whole[:len(whole) // 2])
        self.write("none.cubin", "no cubin")
        # A disassembler whose text is no listing.
        liar = self.write("liar", "#!/bin/sh\necho '.headerflags @\"EF_CUDA_SM90\"'\necho 'garbage /*'\n")
        liar.chmod(0o755)
        for arguments, environment, words in (
                ((self.folder / "half.cubin",), {}, "half.cubin"),
                ((self.folder / "none.cubin",), {}, "none.cubin"),
                (("kernels/softmax", "--target", "sm_1"), {}, "sm_1"),
                (("kernels/softmax", "--target", "sm_999"), {}, "sm_999"),
                ((self.folder,), {}, "port.toml"),
                ((self.folder / "nothing",), {}, "no such file"),
                ((), {}, "missing"),
                (("kernels/softmax",), {"WARPWRIGHT_NVDISASM": str(liar)}, ".sass")):
            code, out, err = run("asm", *arguments, **environment)
            self.assertEqual((code, out), (2, ""), (arguments, err))
            self.assertIn(words, err)


if __name__ == "__main__":
    main()
