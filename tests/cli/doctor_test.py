#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright doctor --json: the document's shape, origins, and a toolkit that is hidden."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
PARTS = ["nvrtc", "headers", "ptxas", "nvdisasm", "cuobjdump", "nvcc"]


def doctor(**environment):
    done = subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, text=True,
                          env={**os.environ, **environment})
    return done.returncode, json.loads(done.stdout)


class DoctorTest(unittest.TestCase):
    def test_document(self):
        code, report = doctor()
        self.assertEqual(code, 0)
        self.assertEqual(set(report), {"gpus", "driver", "toolchain", "cache", "cores"})
        self.assertEqual([part["component"] for part in report["toolchain"]], PARTS)
        for part in report["toolchain"]:
            self.assertEqual(set(part), {"component", "version", "origin", "path", "unlocks"})
            self.assertTrue(part["unlocks"])
            if part["origin"] != "missing":
                self.assertTrue(pathlib.Path(part["path"]).exists(), part)
                self.assertTrue(part["version"], part)
        if not report["gpus"]:
            self.assertTrue(report["driver"]["problem"])

    def test_nothing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            clean = {name: "" for name in os.environ if name.startswith("WARPWRIGHT_")}
            code, report = doctor(**{**clean, "WARPWRIGHT_NO_TOOLKIT": "1",
                                     "WARPWRIGHT_CACHE": folder})
        self.assertEqual(code, 0)
        self.assertEqual([part["origin"] for part in report["toolchain"]], ["missing"] * 6)

    def test_named_program(self):
        with tempfile.TemporaryDirectory() as folder:
            ptxas = pathlib.Path(folder) / "my-ptxas"
            ptxas.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.1'\n")
            ptxas.chmod(0o755)
            _, report = doctor(WARPWRIGHT_PTXAS=str(ptxas))
            part = report["toolchain"][PARTS.index("ptxas")]
            self.assertEqual((part["origin"], part["version"], part["path"]),
                             ("env", "13.0.1", str(ptxas)))


if __name__ == "__main__":
    unittest.main()
