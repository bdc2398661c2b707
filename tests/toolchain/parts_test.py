#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every compiler part is here, and answers with its version. Skipped (77) where a part is missing,
unless WARPWRIGHT_EXPECT_ORIGIN names the origin that each must have: CI's proof of the wheels."""
import json
import os
import subprocess
import sys

report = json.loads(subprocess.run([sys.argv[1], "doctor", "--json"], check=True,
                                   capture_output=True).stdout)
expected = os.environ.get("WARPWRIGHT_EXPECT_ORIGIN")
bad, missing = [], []
for part in report["toolchain"]:
    print(part["component"], part["version"], part["origin"], part["path"])
    if part["component"] == "nvcc":
        continue  # only a toolkit has it, and only asm --frontend nvcc wants it
    if part["origin"] == "missing":
        missing.append(part["component"])
    elif not part["version"].startswith(("12.", "13.")):
        bad.append(f"{part['component']} did not tell a version of CUDA 12 or 13")
    if expected and part["origin"] != expected:
        bad.append(f"{part['component']} comes from {part['origin']}, not from {expected}")
if bad:
    sys.exit("\n".join(bad))
sys.exit(77 if missing else 0)
