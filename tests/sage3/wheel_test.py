#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel that `warpwright wheel` makes: its record is true, the same input gives the same bytes, and in a
fresh virtual environment pip installs it without a compiler, and it is imported with its library.

    wheel_test.py warpwright libsage3.so
"""
import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

PROGRAM, LIBRARY = (os.path.abspath(each) for each in sys.argv[1:3])


def make(*arguments):
    return subprocess.run([PROGRAM, "wheel", "--library", LIBRARY, *arguments], capture_output=True, text=True)


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        done = make("--out", str(cls.folder / "dist"), "--json")
        assert done.returncode == 0, done.stderr
        cls.said, cls.warning = json.loads(done.stdout), done.stderr
        cls.wheel = pathlib.Path(cls.said["path"])

    def test_name_and_tag(self):
        self.assertRegex(self.wheel.name, r"^warpwright-\d+\.\d+\.\d+-py3-none-(many)?linux_\w*x86_64\.whl$")
        self.assertIn(self.said["tag"], self.wheel.name)
        if self.said["portable"]:
            self.assertTrue(self.said["tag"].startswith("py3-none-manylinux_2_"), self.said)
            self.assertEqual(self.warning, "")
        else:
            self.assertEqual(self.said["tag"], "py3-none-linux_x86_64")
            self.assertIn("it is not portable: it needs lib", self.warning)

    def test_record(self):
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual([row[0] for row in rows], names)
            for name, digest, size in rows[:-1]:
                data = archive.read(name)
                due = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), ("sha256=" + due, len(data)), name)
            self.assertEqual(archive.read("warpwright/sage3/libsage3.so"), pathlib.Path(LIBRARY).read_bytes())
            self.assertIn("warpwright/sage3/_operator.py", names)
            self.assertTrue(any(name.endswith("/licenses/LICENSE") for name in names), names)

    def test_same_bytes_again(self):
        again = make("--out", str(self.folder / "again"))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(pathlib.Path(again.stdout.strip()).read_bytes(), self.wheel.read_bytes())

    def test_installs_and_imports(self):
        home = self.folder / "venv"
        venv.create(home, with_pip=True)
        python = str(home / "bin" / "python")
        plain = {"PATH": "/nowhere", "HOME": str(self.folder)}  # no compiler
        done = subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-deps", str(self.wheel)],
                              capture_output=True, text=True, env=plain)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        code = "from warpwright import sage3; print(sage3.version()); sage3.attention([], [], [])"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd="/", env=plain)
        self.assertEqual(done.stdout.strip(), self.wheel.name.split("-")[1], done.stderr)
        self.assertIn("TypeError: q is a list: a tensor is due", done.stderr)

    def test_wrong_input(self):
        done = subprocess.run([PROGRAM, "wheel", "--library", "/nowhere.so"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere.so", done.stderr)
        done = make("--out", "/proc/dist")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot make the folder", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
