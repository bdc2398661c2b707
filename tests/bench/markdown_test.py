#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpwright bench --markdown: a file of its own, or a section of a page that is kept.

    markdown_test.py WARPWRIGHT SOURCE_FOLDER"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

WARPWRIGHT, SOURCE = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))


class MarkdownTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = pathlib.Path(temporary.name) / "page.md"

    def bench(self):
        return subprocess.run([WARPWRIGHT, "bench", SOURCE / "kernels/sage3_hopper", "--on", "emulator", "--case", "small", "--markdown", self.file],
                              capture_output=True, text=True, check=False)

    def test_a_new_file_is_what_is_printed(self):
        done = self.bench()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.file.read_text(), done.stdout)
        self.file.write_text("an older one")
        done = self.bench()
        self.assertEqual(self.file.read_text(), done.stdout)

    def test_of_a_page_only_the_section_is_written(self):
        self.file.write_text("# Ours\nbefore\n<!-- bench: made by hand -->\nold\n<!-- /bench -->\nbehind\n")
        done = self.bench()
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.file.read_text()
        self.assertTrue(text.startswith("# Ours\nbefore\n<!-- bench: made by warpwright bench --markdown; write outside of these lines -->\n"))
        self.assertTrue(text.endswith("\n<!-- /bench -->\nbehind\n"))
        self.assertIn(done.stdout, text)
        self.assertNotIn("old", text)
        self.assertEqual([each.name for each in self.file.parent.iterdir() if each.suffix == ".md"], ["page.md"])

    def test_half_a_section_is_told_before_anything_runs(self):
        page = "text\n<!-- bench: made by hand -->\nold\n"
        self.file.write_text(page)
        done = self.bench()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("page.md:2: error: no '<!-- /bench -->' follows", done.stderr)
        self.assertNotIn("made ready", done.stderr)
        self.assertEqual(self.file.read_text(), page)


if __name__ == "__main__":
    unittest.main()
