#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of manifest.toml from their installed packages, without a GPU.

    build.py --out DIR [--filter GLOB] [--targets sm_90a,...] [--jobs N] [--list]

Leaves <id>.<target>.ptx, .cubin, .log (of ptxas -v) and .json (command, versions, entries) in DIR.
What is up to date stays. Exit 1: a compilation failed; 2: wrong usage or manifest; 77: no nvcc, or
pip cannot reach its index.
"""
import argparse
import concurrent.futures
import dataclasses
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "tools"))
from environments import environment, site_packages  # noqa: E402

TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
NVCC_FROM = (13, 0)
FIELDS = {"what", "package", "unit", "frontend", "targets", "entries", "seconds"}
PRODUCTS = ["ptx", "cubin", "log"]


def usage_error(message):
    print(f"build.py: {message}", file=sys.stderr)
    sys.exit(2)


@dataclasses.dataclass
class Job:
    """One kernel for one target."""
    name: str
    target: str
    table: dict
    options: list
    key: str = ""
    command: list = dataclasses.field(default_factory=list)

    @property
    def stem(self):
        return f"{self.name}.{self.target}"


def read_manifest(path=HERE / "manifest.toml"):
    manifest = tomllib.loads(path.read_text())
    for name, table in manifest["kernel"].items():
        missing = FIELDS - set(table)
        if missing:
            usage_error(f"{path.name}: kernel.{name} lacks {', '.join(sorted(missing))}")
        if table["package"] not in manifest["package"]:
            usage_error(f"{path.name}: kernel.{name}: no package.{table['package']}")
        if table["frontend"] not in ("nvcc", "triton"):
            usage_error(f"{path.name}: kernel.{name}: frontend is {table['frontend']}, "
                        "not nvcc or triton")
        for target in table["targets"]:
            if target not in TARGETS:
                usage_error(f"{path.name}: kernel.{name}: target {target} is none of {TARGETS}")
    return manifest


def select(manifest, pattern, targets):
    jobs = [Job(name, target, table, table.get("options", []))
            for name, table in manifest["kernel"].items() for target in table["targets"]
            if fnmatch.fnmatchcase(name, pattern) and target in targets]
    if not jobs:
        usage_error(f"no kernel matches '{pattern}' for {', '.join(targets)}")
    return jobs


def find_nvcc():
    """nvcc and its version line, or an exit with 77 that says what was looked for."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [pathlib.Path(root) / "bin" / "nvcc" for root in roots if root]
    found = next((str(place) for place in places if place.is_file()), shutil.which("nvcc"))
    if not found:
        print("skipped: no nvcc in CUDA_HOME, CUDA_PATH, /usr/local/cuda or PATH")
        sys.exit(77)
    text = subprocess.run([found, "--version"], check=True, capture_output=True, text=True).stdout
    release = re.search(r"release (\d+)\.(\d+), (V[\d.]+)", text)
    if not release or (int(release[1]), int(release[2])) < NVCC_FROM:
        print(f"skipped: {found} is older than {NVCC_FROM[0]}.{NVCC_FROM[1]}")
        sys.exit(77)
    return found, f"nvcc {release[3]}"


def check_packages(manifest, packages):
    for name, table in manifest["package"].items():
        folder = f"{table['distribution'].replace('-', '_')}-{table['version']}.dist-info"
        if not (packages / folder).is_dir():
            usage_error(f"manifest.toml: package.{name} wants {table['distribution']} "
                        f"{table['version']}, which requirements/real_kernels.txt does not pin")


def prepare(job, manifest, packages):
    """Fills in the command and the key: everything that the products depend on."""
    unit = HERE / "units" / job.table["unit"]
    package = manifest["package"][job.table["package"]]
    content = hashlib.sha256()
    content.update(unit.read_bytes())
    for name in re.findall(r'#include "([^"]+)"', unit.read_text()):
        content.update((unit.parent / name).read_bytes())
    versions = [f"{package['distribution']} {package['version']}"]
    if job.table["frontend"] == "nvcc":
        nvcc, version = find_nvcc()
        includes = [f"-I{packages / folder}" for folder in package["include"]]
        job.command = [nvcc, "-cubin", f"-arch={job.target}", *manifest["options"]["nvcc"],
                       *job.options, *includes, unit]
    else:
        pin = ROOT / "requirements" / "frontends" / "triton.txt"
        version = next(line for line in pin.read_text().splitlines() if line.startswith("triton"))
        job.command = [environment("triton", pin), unit, packages, job.target, *job.options]
    versions.append(version)
    command = [str(word).replace(str(packages), "") for word in job.command[1:]]
    content.update(json.dumps([versions, command]).encode())
    job.key = content.hexdigest()
    return versions


def up_to_date(job, out):
    try:
        record = json.loads((out / f"{job.stem}.json").read_text())
    except (OSError, ValueError):
        return False
    return record.get("key") == job.key and all(
        (out / f"{job.stem}.{each}").is_file() for each in PRODUCTS)


def match_entries(job, log):
    """name -> mangled name. Every pattern has one kernel, every kernel one pattern."""
    kernels = sorted(set(re.findall(r"Compiling entry function '([^']+)'", log)))
    entries = {}
    for name, pattern in job.table["entries"].items():
        matching = [kernel for kernel in kernels if re.search(pattern, kernel)]
        if len(matching) != 1:
            raise ValueError(f"entry {name}: '{pattern}' matches {len(matching)} kernels instead "
                             f"of 1 of {kernels}")
        entries[name] = matching[0]
    left = set(kernels) - set(entries.values())
    if left:
        raise ValueError(f"no entry names the kernels {sorted(left)}")
    return entries


def build(job, out, versions):
    """Compiles into a scratch folder, then moves the products to their places."""
    with tempfile.TemporaryDirectory(dir=out, prefix=".building-") as folder:
        scratch = pathlib.Path(folder)
        if job.table["frontend"] == "nvcc":
            command = [*job.command, "--keep", "--keep-dir", scratch, "-o", scratch / "made.cubin"]
        else:
            command = [*job.command, scratch]
        start = time.monotonic()
        done = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "TRITON_CACHE_DIR": folder, "TMPDIR": folder})
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise ValueError(f"exit code {done.returncode} from {' '.join(map(str, command))}\n"
                             f"{done.stdout}")
        entries = match_entries(job, done.stdout)
        made = {each: next(scratch.glob(f"*.{each}"), None) for each in ("ptx", "cubin")}
        if None in made.values():
            raise ValueError(f"the compiler left {made}")
        (out / f"{job.stem}.json").unlink(missing_ok=True)
        for each, path in made.items():
            os.replace(path, out / f"{job.stem}.{each}")
        (out / f"{job.stem}.log").write_text(done.stdout)
        record = {"key": job.key, "id": job.name, "target": job.target, "what": job.table["what"],
                  "versions": versions, "entries": entries, "seconds": round(seconds, 1),
                  "command": [str(word) for word in job.command]}
        (out / f"{job.stem}.json").write_text(json.dumps(record, indent=1) + "\n")
    size = (out / f"{job.stem}.cubin").stat().st_size
    return f"{job.stem}: {len(entries)} kernels, {size // 1024} KiB, {seconds:.1f} s"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="*", metavar="GLOB", help="on the kernel's id")
    parser.add_argument("--targets", default=",".join(TARGETS), help="comma-separated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="name what would be built, and stop")
    args = parser.parse_args()
    args.targets = args.targets.split(",")
    for target in args.targets:
        if target not in TARGETS:
            usage_error(f"target {target} is none of {', '.join(TARGETS)}")
    if args.jobs < 1:
        usage_error("--jobs must be at least 1")
    return args


def main():
    args = arguments()
    manifest = read_manifest()
    jobs = select(manifest, args.filter, args.targets)
    if args.list:
        for job in jobs:
            print(f"{job.stem}: {job.table['what']}")
        return
    find_nvcc()
    packages = site_packages(environment("real", ROOT / "requirements" / "real_kernels.txt"))
    check_packages(manifest, packages)
    args.out.mkdir(parents=True, exist_ok=True)
    out = args.out.resolve()
    failed = False
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = {}
        for job in jobs:
            versions = prepare(job, manifest, packages)
            if up_to_date(job, out):
                print(f"{job.stem}: up to date")
            else:
                running[pool.submit(build, job, out, versions)] = job
        for each in concurrent.futures.as_completed(running):
            try:
                print(each.result(), flush=True)
            except ValueError as error:
                failed = True
                print(f"{running[each].stem}: FAILED: {error}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
