#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The launcher's decisions, on a machine made of stand-ins: a tree with a copy of the launcher, and
a PATH that holds only the tools it needs and recording stand-ins for those that change a machine."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
TOOLS = ["bash", "sh", "env", "dirname", "readlink", "grep", "mkdir", "tail", "uname", "cat", "rm",
         "find", "touch", "flock", "nproc"]
PROGRAM = """#!/bin/sh
if [ "$*" = "doctor --missing" ]; then cat "{tree}/missing" 2>/dev/null; exit 0; fi
echo "program: $*"
exit 3
"""


class LauncherTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.log = self.tree / "calls"
        shutil.copy(ROOT / "warpwright", self.tree / "warpwright")
        shutil.copytree(ROOT / "requirements", self.tree / "requirements")
        (self.tree / "bin").mkdir()
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.tree / "bin" / tool)
        (self.tree / "program").write_text(PROGRAM.format(tree=self.tree))
        names = [line for line in (ROOT / "requirements/apt.txt").read_text().splitlines()
                 if line and not line.startswith("#")]
        self.packages = {name: "installed" for name in names}
        self.stand_in("id", "echo 0")
        self.stand_in("cmake", f"mkdir -p {self.tree}/build/release; "
                               f"touch {self.tree}/build/release/build.ninja")
        self.stand_in("ninja", f"cat {self.tree}/program > {self.tree}/build/release/warpwright; "
                               f"/bin/chmod +x {self.tree}/build/release/warpwright")
        for name in ("apt-get", "ctest", "sudo"):
            self.stand_in(name, "exit 0")

    def stand_in(self, name, body, path=None):
        path = path or self.tree / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        record = f'printf "%s\\n" "{name} $*" >> {self.log}'
        path.write_text(f"#!/bin/sh\n{record}\n{body}\n")
        path.chmod(0o755)

    def launch(self, *arguments, **environment):
        lines = "\n".join(f"{state} {name}" for name, state in self.packages.items())
        self.stand_in("dpkg-query", f"echo '{lines}'")
        done = subprocess.run([str(self.tree / "warpwright"), *arguments], capture_output=True,
                              text=True, cwd="/", stdin=subprocess.DEVNULL,
                              env={"PATH": str(self.tree / "bin"),
                                   "WARPWRIGHT_CACHE": str(self.tree / "cache"), **environment})
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        return done, [call for call in calls if not call.startswith(("dpkg-query", "id "))]

    def test_builds_and_runs_the_verb(self):
        done, calls = self.launch("check", "a b", "--json")
        self.assertEqual(done.stdout, "program: check a b --json\n")
        self.assertEqual(done.returncode, 3, "the program's exit code")
        self.assertEqual([call.split()[0] for call in calls], ["cmake", "ninja"])
        _, calls = self.launch("doctor")
        self.assertEqual([call.split()[0] for call in calls], ["cmake", "ninja", "ninja"])

    def test_a_wheel_gets_a_portable_library(self):
        done, calls = self.launch("wheel", "--out", "dist")
        self.assertEqual(done.stdout, f"program: wheel --out dist --library {self.tree}/build/portable/libsage3.so\n")
        self.assertTrue(any(call.endswith("--preset portable") for call in calls), calls)
        self.assertIn(f"ninja -C {self.tree}/build/portable sage3", calls)
        (self.tree / "calls").unlink()
        for arguments in (["wheel", "--library", "x.so"], ["wheel", "--library=x.so"], ["wheel", "--help"]):
            done, calls = self.launch(*arguments)
            self.assertEqual(done.stdout, f"program: {' '.join(arguments)}\n")
        self.assertFalse(any("portable" in call for call in calls), calls)

    def test_root_installs_only_what_is_missing(self):
        self.packages["libfmt-dev"] = "not-installed"
        del self.packages["libgtest-dev"]
        done, calls = self.launch("doctor")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(calls[:2], ["apt-get update",
                                     "apt-get install -y --no-install-recommends "
                                     "libfmt-dev libgtest-dev"])

    def test_sudo_is_used_when_it_asks_nothing(self):
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", '[ "$1" = -n ] || exec "$@"')
        del self.packages["g++"]
        done, calls = self.launch("doctor")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("apt-get install -y --no-install-recommends g++", calls)

    def test_without_root_one_command_is_printed(self):
        self.stand_in("id", "echo 1000")
        (self.tree / "bin/sudo").unlink()
        del self.packages["cmake"]
        done, calls = self.launch("doctor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("su -c 'apt-get update && apt-get install -y --no-install-recommends cmake'",
                      done.stderr)
        self.assertEqual(calls, [])

    def test_a_sudo_that_wants_a_password_is_left_to_the_user(self):
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", "exit 1")
        del self.packages["cmake"]
        done, _ = self.launch("doctor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sudo sh -c 'apt-get update", done.stderr)

    def test_failed_build_shows_the_log(self):
        self.stand_in("ninja", "echo 'x.cpp:1: error: no'; exit 1")
        done, _ = self.launch("doctor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("x.cpp:1: error: no", done.stderr)
        self.assertIn("build.log", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_failed_configure_is_tried_again(self):
        self.stand_in("cmake", f"mkdir -p {self.tree}/build/release; "
                               f"touch {self.tree}/build/release/build.ninja; echo no fmt; exit 1")
        done, _ = self.launch("doctor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no fmt", done.stderr)
        self.assertFalse((self.tree / "build/release/build.ninja").exists())

    def test_test_alone_is_ctest_and_with_arguments_the_verb(self):
        done, calls = self.launch("test")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(calls[-1].startswith("ctest --preset release"), calls)
        self.assertTrue(any(call.startswith("ninja") and call.endswith(" all") for call in calls))
        done, _ = self.launch("test", "cvt/*")
        self.assertEqual(done.stdout, "program: test cvt/*\n")

    def test_missing_parts_come_as_pinned_wheels(self):
        (self.tree / "missing").write_text("ptxas\nnvdisasm\n")
        self.stand_in("python", f'[ "$3" = --version ] || rm {self.tree}/missing',
                      self.tree / "cache/wheels/bin/python")
        done, calls = self.launch("doctor")
        self.assertEqual(done.returncode, 3, done.stderr)
        install = [call for call in calls if "pip install" in call]
        self.assertEqual(len(install), 1, calls)
        self.assertIn("--require-hashes", install[0])
        self.assertIn("wheels/ptxas.txt", install[0])
        self.assertIn("wheels/nvdisasm.txt", install[0])
        self.assertNotIn("nvrtc", install[0])
        self.assertFalse((self.tree / "cache/wheels.failed").exists())

    def test_wheels_that_do_not_help_are_not_fetched_again_at_once(self):
        (self.tree / "missing").write_text("ptxas\n")
        self.stand_in("python", "exit 0", self.tree / "cache/wheels/bin/python")
        self.launch("doctor")
        _, calls = self.launch("doctor")
        self.assertEqual(sum("pip install" in call for call in calls), 1)

    def test_failed_fetch_does_not_stop_the_verb_or_repeat_at_once(self):
        (self.tree / "missing").write_text("ptxas\n")
        self.stand_in("python", '[ "$2 $3" = "pip --version" ]',
                      self.tree / "cache/wheels/bin/python")
        done, calls = self.launch("doctor")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("fetching wheels failed", done.stderr)
        done, again = self.launch("doctor")
        self.assertEqual(done.returncode, 3)
        self.assertIn("still missing: ptxas", done.stderr)
        self.assertEqual(sum("pip install" in call for call in again), 1)

    def test_no_install_is_obeyed(self):
        (self.tree / "missing").write_text("ptxas\n")
        done, calls = self.launch("doctor", WARPWRIGHT_NO_INSTALL="1")
        self.assertEqual(done.returncode, 3)
        self.assertFalse(any("pip" in call for call in calls))
        del self.packages["g++"]
        done, calls = self.launch("doctor", WARPWRIGHT_NO_INSTALL="1")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(any("apt-get" in call for call in calls))


if __name__ == "__main__":
    unittest.main()
