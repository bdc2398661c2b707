# SPDX-License-Identifier: Apache-2.0
"""Ports are clean under any order of warps and completions: `check` with --schedule and --async random:SEED
must pass, and report no race, not even a warning, for each seed."""
import argparse
import json
import subprocess
import sys


def problems(program, port, seed, rungs, cases):
    command = [program, "check", port, "--json", "--schedule", f"random:{seed}", "--async", f"random:{seed}"]
    command += ["--rung", rungs] if rungs else []
    command += ["--case", cases] if cases else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        return 0, None
    if done.returncode not in (0, 1):
        return 0, [f"exit code {done.returncode}: {done.stderr}"]
    report = json.loads(done.stdout)
    ran = [rung for rung in report["rungs"] if rung["status"] != "skip"]
    found = [f"{rung['name']}: {rung.get('failure')}" for rung in ran if rung["status"] == "fail"]
    found += [f"{rung['name']}: {race}" for rung in ran for race in rung.get("races", [])]
    return len(ran), found or ([] if ran else ["no rung ran"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("ports", nargs="+")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--rung", default="")
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    failed, rungs = False, 0
    for port in options.ports:
        for seed in range(options.first, options.first + options.seeds):
            ran, found = problems(options.program, port, seed, options.rung, options.case)
            if found is None:
                return 77
            rungs += ran
            failed |= bool(found)
            for each in found:
                print(f"{port}, seed {seed}: {each}")
    print(f"{len(options.ports)} port(s), {options.seeds} seed(s), {rungs} rungs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
