#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The relative L1 error of sage3's Hopper kernels as a share of that of SageAttention2's formula, case by case, over inputs of other seeds than
the ladder's own; on the emulator.

    tests/bench/sage3_seeds.py WARPWRIGHT [SEEDS] [JOBS]      seeds 1 to SEEDS (10); without the cases whose inputs are files

A rung that fails counts with its figures; what fails besides o's share is listed."""
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys
import tomllib

PORT = pathlib.Path(__file__).resolve().parents[2] / "kernels/sage3_hopper"


def cases():
    port = tomllib.loads((PORT / "port.toml").read_text())
    from_files = [case["id"] for case in port["case"] if any(data.get("distribution") == "file" for data in case.get("data", {}).values())]
    return [case["id"] for case in port["case"] if not case["id"].startswith("bench_") and case["id"] not in from_files]


def shares(document):
    """Of o, in each rung that compares it with the formula."""
    for rung in document["rungs"]:
        for metric in rung.get("metrics", []):
            if metric["output"] == "o" and metric.get("l1_baseline") == "sage2" and rung["name"].startswith(("stage/", "held_out/")) and metric["baseline_relative_l1"]:
                yield metric["relative_l1"] / metric["baseline_relative_l1"]


def run(warpwright, case, seed):
    done = subprocess.run([warpwright, "check", PORT, "--case", case, "--seed", str(seed), "--check", "none", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{case}, seed {seed}: {done.stderr}")
    document = json.loads(done.stdout)
    other = [f"{case}, seed {seed}: {rung['failure']['message']}" for rung in document["rungs"]
             if rung["status"] == "fail" and "relative L1 error of o" not in rung["failure"]["message"]]
    return case, next(shares(document), None), other


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    seeds, jobs = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 10), (3, 2)))
    found, others = {case: [] for case in cases()}, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(run, sys.argv[1], case, seed) for seed in range(1, seeds + 1) for case in found]
        for task in tasks:
            case, share, other = task.result()
            others += other
            if share is not None:
                found[case].append(share)
    print("| case | mean | least | most |\n|---|---|---|---|")
    for case, each in sorted(found.items()):
        print(f"| {case} | {statistics.mean(each):.4f} | {min(each):.4f} | {max(each):.4f} |" if each else f"| {case} | | | |")
    every = [share for each in found.values() for share in each]
    print(f"\n{len(every)} of {len(found)} cases and {seeds} seeds: mean {statistics.mean(every):.4f}, most {max(every):.4f}, "
          f"{sum(share > 1 for share in every)} above 1")
    print("\n".join(["", *others]) if others else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
