#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The portable binary needs only glibc's own libraries, in the version that docs/toolchain.md
promises, and no NVIDIA library to start."""
import re
import subprocess
import sys

NEWEST_GLIBC = (2, 35)
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
           "ld-linux-x86-64.so.2"}

program = sys.argv[1]
dynamic = subprocess.run(["readelf", "-dW", program], check=True, capture_output=True,
                         text=True).stdout
symbols = subprocess.run(["readelf", "-VW", program], check=True, capture_output=True,
                         text=True).stdout
needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)}
print("needs", sorted(needed), "and glibc", ".".join(map(str, max(versions))))
if not needed or needed - ALLOWED:
    sys.exit(f"libraries that another machine may lack: {sorted(needed - ALLOWED)}")
if max(versions) > NEWEST_GLIBC:
    sys.exit(f"glibc newer than {NEWEST_GLIBC} is needed")
