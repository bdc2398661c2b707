#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of manifest.toml, whose kernels nobody here wrote, on the emulator.

    run_programs.py build FOLDER [--filter GLOB]
    run_programs.py run PROGRAM FOLDER [--filter GLOB] [--document FILE]

build compiles programs/* with nvcc into FOLDER (what is up to date stays): NAME.TARGET, linked with
the shared CUDA runtime, and NAME.gpu, an ordinary program for a GPU, where the target is sm_90a. run
executes each by `PROGRAM run`: its results are compared with float64 by itself, every instruction of its
PTX must have a row, and its outputs must have the bits that recorded.txt has of a GPU. Once more under
the race checker: what that finds is counted. --document writes docs/real_kernels.md.
Exit 1: something failed; 2: wrong usage; 77: no nvcc, or pip cannot reach its index.
"""
import argparse
import dataclasses
import datetime
import fnmatch
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import build  # noqa: E402
from environments import environment, site_packages  # noqa: E402

PROGRAMS = HERE / "programs"
RECORDED = HERE / "recorded.txt"
# ptxas contracts a mul and an add that PTX leaves open; the emulator does not.
SASS = ["-Xptxas", "--fmad=false"]
OPTIONS = ["-std=c++17", "-O3", "-DNDEBUG", "--expt-relaxed-constexpr", "-lineinfo", "--no-compress",
           "-static-global-template-stub=false"]
FIELDS = {"what", "kernel", "target", "seconds"}
TIMEOUT = 600


@dataclasses.dataclass
class Run:
    name: str
    table: dict
    package: dict
    kernel: dict

    @property
    def target(self):
        return self.table["target"]

    @property
    def stem(self):
        return f"{self.name}.{self.target}"

    @property
    def source(self):
        return next(PROGRAMS.glob(f"{self.name}.c*"))

    @property
    def runs_on_gpu(self):
        """On the one whose answers are recorded."""
        return self.target == "sm_90a"


def selected(pattern):
    manifest = build.read_manifest()
    runs = []
    for name, table in manifest["run"].items():
        missing = FIELDS - set(table)
        if missing:
            build.usage_error(f"manifest.toml: run.{name} lacks {', '.join(sorted(missing))}")
        if table["kernel"] not in manifest["kernel"]:
            build.usage_error(f"manifest.toml: run.{name}: no kernel.{table['kernel']}")
        kernel = manifest["kernel"][table["kernel"]]
        if fnmatch.fnmatchcase(name, pattern):
            runs.append(Run(name, table, manifest["package"][kernel["package"]], kernel))
    if not runs:
        build.usage_error(f"no program matches '{pattern}'")
    return manifest, runs


# ---- build

def sources_of(path, seen):
    """The file and what it includes in quotes."""
    path = path.resolve()
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'#include "([^"]+)"', path.read_text()):
        sources_of(path.parent / name, seen)


def key_of(run, words):
    seen = set()
    sources_of(run.source, seen)
    seen.add(HERE / "units" / run.kernel["unit"])
    content = hashlib.sha256(json.dumps(words).encode())
    for path in sorted(seen):
        content.update(path.read_bytes())
    return content.hexdigest()


def commands_of_cuda(run, nvcc, packages, folder):
    arch = run.target.removeprefix("sm_")
    code = f"[compute_{arch},sm_{arch}]" if run.runs_on_gpu else f"compute_{arch}"
    made = folder / f"{run.stem}.o"
    yield [nvcc, *OPTIONS, *SASS, "-gencode", f"arch=compute_{arch},code={code}",
           *(f"-I{packages / each}" for each in run.package["include"]), "-c", run.source, "-o", made]
    yield [nvcc, "-cudart=shared", made, "-o", folder / run.stem]
    if run.runs_on_gpu:
        yield [nvcc, "-cudart=static", made, "-o", folder / f"{run.name}.gpu"]


def commands_of_image(run, nvcc, manifest, packages, folder):
    """The kernel's PTX is made first, by itself; it becomes part of the program."""
    job = build.Job(run.table["kernel"], run.target, run.kernel, run.kernel.get("options", []))
    versions = build.prepare(job, manifest, packages)
    if not build.up_to_date(job, folder):
        build.build(job, folder, versions)
    entry = json.loads((folder / f"{job.stem}.json").read_text())["entries"][run.table["image"]]
    shared = re.search(r"dynamic shared memory: (\d+)", (folder / f"{job.stem}.log").read_text())
    arch = run.target.removeprefix("sm_")
    words = [*OPTIONS, "-gencode", f"arch=compute_{arch},code=compute_{arch}", f'-DREAL_ENTRY="{entry}"',
             *([f"-DREAL_SHARED={shared[1]}"] if shared else []),
             *(f"-I{packages / each}" for each in run.package["include"])]
    ptx, cubin = folder / f"{job.stem}.ptx", folder / f"{run.name}.gpu.cubin"
    programs = [("shared", run.stem, ptx)]
    if run.runs_on_gpu:
        ptxas = pathlib.Path(nvcc).with_name("ptxas")
        yield [ptxas, "--fmad=false", f"-arch={run.target}", ptx, "-o", cubin]
        programs.append(("static", f"{run.name}.gpu", cubin))
    for runtime, name, image in programs:
        yield [nvcc, *words, f"-cudart={runtime}", f'-DREAL_IMAGE="{image}"', run.source, "-o", folder / name]


def compile_program(run, nvcc, version, manifest, packages, folder):
    key = key_of(run, [version, run.package["version"], run.target, *OPTIONS, *SASS])
    record = folder / f"{run.stem}.key"
    if record.is_file() and record.read_text() == key:
        return f"{run.stem}: up to date"
    start = time.monotonic()
    if "image" in run.table:
        commands = commands_of_image(run, nvcc, manifest, packages, folder)
    else:
        commands = commands_of_cuda(run, nvcc, packages, folder)
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise ValueError(f"exit code {done.returncode} from {' '.join(map(str, command))}\n"
                             f"{done.stdout}")
    record.write_text(key)
    return f"{run.stem}: {time.monotonic() - start:.0f} s"


def build_all(args):
    manifest, runs = selected(args.filter)
    nvcc, version = build.find_nvcc()
    packages = site_packages(environment("real", build.ROOT / "requirements" / "real_kernels.txt"))
    build.check_packages(manifest, packages)
    args.folder.mkdir(parents=True, exist_ok=True)
    folder, failed = args.folder.resolve(), False
    for run in runs:
        try:
            print(compile_program(run, nvcc, version, manifest, packages, folder), flush=True)
        except ValueError as error:
            failed = True
            print(f"{run.stem}: FAILED: {error}", flush=True)
    return failed


# ---- run

@dataclasses.dataclass
class Result:
    run: Run
    report: dict         # without the race checker
    checked: dict        # with it
    outputs: list        # the program's own lines
    digest: str          # of its raw outputs
    recorded: tuple      # digest, device, date; None without
    wrong: list = dataclasses.field(default_factory=list)


def recorded():
    """program -> (sha256, device, date)"""
    entries = {}
    if RECORDED.is_file():
        for line in RECORDED.read_text().splitlines():
            if line and not line.startswith("#"):
                name, digest, date, device = line.split(maxsplit=3)
                entries[name] = (digest, device, date)
    return entries


def execute(program, run, folder, *options):
    """The report, what the program printed, and the digest of its outputs."""
    outputs = folder / f"{run.stem}.out"
    outputs.unlink(missing_ok=True)
    schedule = run.table.get("schedule", "fair")
    done = subprocess.run([program, "run", "--json", "--target", run.target, "--schedule", schedule,
                           *options, folder / run.stem, outputs],
                          capture_output=True, text=True, timeout=TIMEOUT)
    if not done.stdout.startswith("{"):
        raise ValueError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"output"')]
    digest = hashlib.sha256(outputs.read_bytes()).hexdigest() if outputs.is_file() else ""
    report = json.loads(done.stdout)
    report["text"] = done.stderr
    return report, lines, digest


def judge(program, run, folder, answers):
    report, lines, digest = execute(program, run, folder, "--check", "none", "--threads", "1")
    checked, _, checked_digest = execute(program, run, folder)
    result = Result(run, report, checked, lines, digest, answers.get(run.name))
    if report["verdict"] != "pass" or not lines:
        result.wrong.append(report["text"][-2000:])
    for line in lines:
        if line["wrong"]:
            result.wrong.append(f"{line['output']}: {line['wrong']} of {line['values']} values are wrong")
    for module in report["modules"]:
        if module["unsupported"]:
            result.wrong.append(f"{module['name']}: no semantics for {', '.join(module['unsupported'])}")
    if checked_digest != digest:
        result.wrong.append("other bits under the race checker")
    if result.recorded and result.recorded[0] != digest:
        result.wrong.append(f"other bits than {result.recorded[1]} had on {result.recorded[2]}")
    return result


def text_of(result):
    report = result.report
    seconds = sum(each["seconds"] for each in report["launches"])
    races = len(result.checked["races"])
    return (f"{result.run.stem}: {'ok' if not result.wrong else 'WRONG'}: {len(report['launches'])} "
            f"launches, {seconds:.2f} s, {report['peak_kib'] // 1024} MiB, {races} races, {result.digest}")


def run_all(args):
    _, runs = selected(args.filter)
    answers, results = recorded(), []
    for run in runs:
        if not (args.folder / run.stem).is_file():
            sys.exit(f"{args.folder / run.stem} is missing; run build first")
        result = judge(args.program.resolve(), run, args.folder.resolve(), answers)
        results.append(result)
        print(text_of(result))
        print("".join(f"  {each}\n" for each in result.wrong), end="", flush=True)
    if args.document:
        args.document.write_text(document(results))
    return any(result.wrong for result in results)


# ---- docs/real_kernels.md

HEAD = """# Kernels nobody here wrote

Public kernels from PyPI packages, compiled by the tests and run on the emulator with their own host
code (`warpwright run`; programs in tests/real/programs). Each program compares its results with
float64: the table gives the largest error in shares of its bound, with both, and the bound stands in
the program. Rows cover: of the different opcodes of the PTX. Seconds are of the launches, on one core
without the race checker; MiB are the process's peak; races are the pairs of lines that `--check races`
reports at its default level. Silicon: whether the outputs have the bits of a GPU. Made by

    tests/real/run_programs.py build FOLDER
    tests/real/run_programs.py run build/release/warpwright FOLDER --document docs/real_kernels.md

"""


def silicon(result):
    if not result.run.runs_on_gpu:
        return "emulated; not yet run on silicon"
    if not result.recorded:
        return "not yet compared"
    return f"same bits, {result.recorded[1]}, {result.recorded[2]}"


def document(results):
    lines = [HEAD + f"{datetime.date.today()}.\n",
             "| program | package, target | what | launches | error / bound | rows cover | seconds | MiB | races | silicon |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        report, run = result.report, result.run
        worst = max(result.outputs, key=lambda each: each["error"] / each["bound"] if each["bound"] else 0)
        distinct = sum(module["distinct"] for module in report["modules"])
        without = sum(len(module["unsupported"]) for module in report["modules"])
        seconds = sum(each["seconds"] for each in report["launches"])
        lines.append(
            f"| {run.name} | {run.package['distribution']} {run.package['version']}, {run.target} "
            f"| {run.table['what']} | {len(report['launches'])} | {worst['error']:.3g} / "
            f"{worst['bound']:.3g} | {distinct - without} of {distinct} | {seconds:.2f} "
            f"| {report['peak_kib'] // 1024} | {len(result.checked['races'])} | {silicon(result)} |")
    lines.append("")
    found = [(result.run.name, race) for result in results for race in result.checked["races"]]
    if found:
        lines.append("## Races reported\n")
        counted = {}
        for name, race in found:
            key = (name, race["level"], race["rule"], race["missing"])
            counted[key] = counted.get(key, 0) + 1
        lines += [f"- {name}: {count} pairs of lines, {level}, {rule}: {missing}"
                  for (name, level, rule, missing), count in sorted(counted.items())]
        lines.append("")
        lines += [f"- {result.run.name}: {' '.join(result.run.table['note'].split())}"
                  for result in results if "note" in result.run.table]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    for name, function in (("build", build_all), ("run", run_all)):
        verb = verbs.add_parser(name)
        verb.set_defaults(function=function)
        if name == "run":
            verb.add_argument("program", type=pathlib.Path)
            verb.add_argument("--document", type=pathlib.Path, metavar="FILE")
        verb.add_argument("folder", type=pathlib.Path)
        verb.add_argument("--filter", default="*", metavar="GLOB", help="on the program's name")
    args = parser.parse_args()
    sys.exit(args.function(args))


if __name__ == "__main__":
    main()
