# SPDX-License-Identifier: Apache-2.0
"""Runs warpwright for the tests of this folder: PROGRAM SOURCE_FOLDER are their first arguments."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
# nvdisasm is missing, whatever else there is.
NO_NVDISASM = {"WARPWRIGHT_NVDISASM": "/nonexistent/nvdisasm"}


def run(*arguments, folder=None, **environment):
    """(exit code, stdout, stderr)"""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=folder or SOURCE,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def document(*arguments, code=0, **more):
    """The JSON document that the command prints."""
    got, out, err = run(*arguments, "--json", **more)
    if got != code:
        raise AssertionError(f"exit code {got}: {err}")
    return json.loads(out)


def has_part(name):
    parts = document("doctor")["toolchain"]
    return any(part["component"] == name and part["origin"] != "missing" for part in parts)


class FolderTest(unittest.TestCase):
    """A test with a temporary folder of its own."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def main():
    if not all(map(has_part, ("nvrtc", "ptxas", "nvdisasm"))):
        print("skipped: a part of the toolchain is missing")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
