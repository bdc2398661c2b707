# SPDX-License-Identifier: Apache-2.0
"""What the tests here share: running the program in a folder, and stating what must hold."""
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None


def run(folder, *words, code=0, **options):
    """stdout and stderr; the exit code must be this one."""
    done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=300, **options)
    if code is not None:
        expect(done.returncode == code, f"{' '.join(map(str, words))}: exit {done.returncode}, not {code}\n"
               f"{done.stdout}{done.stderr}")
    return done


def as_json(folder, *words, code=0):
    return json.loads(run(folder, *words, "--json", code=code).stdout)


def expect(holds, message):
    if not holds:
        raise AssertionError(message)


def delete(folder):
    """A tree, although parts of it are read-only."""
    for root, folders, _ in os.walk(folder):
        for each in [root] + [os.path.join(root, name) for name in folders]:
            os.chmod(each, os.stat(each).st_mode | stat.S_IRWXU)
    subprocess.run(["rm", "-rf", folder], check=True)


class Port:
    """A temporary port folder."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="warpwright_port_"))
        (self.path / "port.toml").write_text("")
        return self.path

    def __exit__(self, *_):
        delete(self.path)


def as_nobody(words, folder):
    """Root may write everywhere, so this runs as somebody else; the program is copied to where that one can read it."""
    def drop():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
    with tempfile.TemporaryDirectory() as bin_folder:
        os.chmod(bin_folder, 0o755)
        return subprocess.run([shutil.copy(PROGRAM, bin_folder), *words], cwd=folder, capture_output=True, text=True,
                              preexec_fn=drop)


def limit_file_size(size):
    """For preexec_fn: no file may grow beyond it, so what is written ends half-way, as on a full disk."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def main(tests):
    failed = 0
    for test in tests:
        try:
            test()
            print(f"ok    {test.__name__}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAIL  {test.__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)
