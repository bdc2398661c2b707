# SPDX-License-Identifier: Apache-2.0
"""Virtual environments in the cache, each with the pinned packages of some requirements files.

Tests use them for other people's compilers and kernels; nothing of those is in this repository.
"""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

UNREACHABLE = re.compile(
    "NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|Max retries exceeded|Name or service "
    "not known|Temporary failure in name resolution|Network is unreachable|Connection refused")


def cache_root():
    if "WARPWRIGHT_CACHE" in os.environ:
        return pathlib.Path(os.environ["WARPWRIGHT_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "warpwright"


def environment(name, *requirements):
    """The Python of a virtual environment with these requirements files; made when it is missing.

    Ends the process with 77 when pip cannot reach its index, and with 1 when it fails otherwise.
    """
    content = b"".join(each.read_bytes() for each in requirements)
    key = hashlib.sha256(content + sys.version.encode()).hexdigest()[:16]
    folder = cache_root() / "frontends" / f"{name}-{key}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            install(folder, requirements)
    return folder / "bin" / "python"


def install(folder, requirements):
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    done = subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--no-input",
                           "--no-deps", "--disable-pip-version-check", "--only-binary", ":all:",
                           *(word for each in requirements for word in ("-r", each))],
                          capture_output=True, text=True)
    if done.returncode == 0:
        (folder / "complete").touch()
        return
    print(done.stdout + done.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    if UNREACHABLE.search(done.stdout + done.stderr):
        print("skipped: pip cannot reach its index")
        sys.exit(77)
    sys.exit(1)


def site_packages(python):
    """Where the packages of an environment lie; python is what environment() returned."""
    found = sorted(python.parent.parent.glob("lib/python*/site-packages"))
    if len(found) != 1:
        sys.exit(f"{python.parent.parent} holds {len(found)} folders of packages instead of 1")
    return found[0]
