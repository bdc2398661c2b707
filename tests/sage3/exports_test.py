#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libsage3.so exports the functions that sage3.h declares and nothing else, and needs no CUDA library to be
loaded.

    exports_test.py libsage3.so sage3.h
"""
import re
import subprocess
import sys

library, header = sys.argv[1:3]
listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
exported = {line.split()[-1] for line in listed.stdout.splitlines()}
with open(header) as file:
    declared = set(re.findall(r"^SAGE3_API [^(]*\b(sage3_\w+)\(", file.read(), re.MULTILINE))
if not declared:
    sys.exit(f"{header} declares nothing")
if exported != declared:
    sys.exit(f"not in {header}: {sorted(exported - declared)}; not exported: {sorted(declared - exported)}")
dynamic = subprocess.run(["readelf", "-dW", library], check=True, capture_output=True, text=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
if any(name.startswith(("libcu", "libnv")) for name in needed):
    sys.exit(f"needs {needed}")
print("exports", *sorted(exported))
