#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels/sage3/peers/attention_peers.py speaks its protocol where there is no GPU, too, and has each peer that the ports name.

    attention_peers_test.py REPOSITORY"""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
program = root / "kernels/sage3/peers/attention_peers.py"


def run(*arguments, lines=()):
    done = subprocess.run([sys.executable, program, *arguments], input="".join(json.dumps(line) + "\n" for line in lines),
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


def check(condition, what):
    if not condition:
        sys.exit(f"attention_peers_test: {what}")


code, out = run("--list")
names = out.split()
check(code == 0 and len(names) > 3, f"--list: {out}")
for port in ("sage3", "sage3_hopper"):
    text = (root / "kernels" / port / "port.toml").read_text(encoding="utf-8")
    asked = re.findall(r'^argv = \["python3", "\{port\}/(.*?)", "(.*?)"\]', text, re.MULTILINE)
    check(len(asked) == text.count("[[peer]]") and asked, f"{port}: peers that are not understood")
    for path, name in asked:
        check((root / "kernels" / port / path).resolve() == program.resolve(), f"{port}: {path}")
        check(name in names, f"{port}: {name} is none of {names}")
for name in names:
    code, out = run(name, lines=[{"do": "hello", "protocol": 2}, {"do": "sing"}, {"do": "close"}])
    answers = [json.loads(line) for line in out.splitlines()]
    check(code == 0 and len(answers) == 3, f"{name}: {out}")
    check("protocol 1" in answers[0].get("unavailable", ""), f"{name}: {answers[0]}")
    check(answers[1] == {"error": "unknown request 'sing'"}, f"{name}: {answers[1]}")
    check(answers[2] == {"ok": True} or "error" in answers[2], f"{name}: {answers[2]}")
check(run("none")[0] == 2, "an unknown peer")
print("passed")
