# SPDX-License-Identifier: Apache-2.0
"""How many synchronisation mutants of public kernels are caught. FOLDER holds the programs that
tests/real/run_programs.py builds; each is run by `warpwright run --ptx MUTANT PROGRAM --long` (a problem
that makes rings wrap and blocks go on to further tiles), whose exit code says whether the mutant is caught: a race, a fault, a deadlock, or the program's own comparison with float64.
Only kernels that the program launches are mutated. Of each survivor a second run tells whether its
instruction is executed at all: one with a trap before it. docs/sync_mutation.md quotes what it prints."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import sync_edits
import sync_table

PROGRAMS = ["cutlass_sm90_fp8", "cutlass_sm90_bf16_pingpong", "cutlass_sm90_fmha", "cutlass_sm90_f16_streamk", "cutlass_sm80_f16",
            "cutlass_sm80_splitk", "flashinfer_decode"]
CLEAN = r".*\npass: exit code 0, \d+ launches, 0 races, 0 faults, 0 refused calls; [^\n]*\n"


def subjects_of(warpwright, program):
    """Of one program: a subject for each kernel that it launches, unmutated."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([warpwright, "run", "--json", "--keep", folder, program, "--long"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{program}: the unmutated program is not clean (exit code {done.returncode}):\n{done.stderr}")
        report = json.loads(done.stdout)
        texts = [pathlib.Path(module["name"]).read_text(encoding="utf-8") for module in report["modules"]]
    # Lane instructions, where a hang is told by warp instructions: room for about 30 times as many.
    budget = sum(launch["lane_instructions"] for launch in report["launches"])
    command = [warpwright, "run", "--threads", "1", "--budget", str(budget), "--ptx", "{ptx}", program, "--long"]
    kernels = list(dict.fromkeys(launch["kernel"] for launch in report["launches"]))
    for kernel in kernels:
        text = next(text for text in texts if f".entry {kernel}(" in text)
        if not sync_edits.mutants(text, kernel):
            continue
        name = program.name.split(".")[0] + (f" {kernels.index(kernel) + 1}" if len(kernels) > 1 else "")
        yield sync_table.Subject(name, text, [str(word) for word in command], kernel, CLEAN)


class Executed:
    """Whether a mutant's instruction is executed; each probe is run once."""

    def __init__(self, options):
        self.options, self.known = options, {}

    def __call__(self, subject, mutant):
        key = (subject.name, mutant.line, mutant.instruction)
        if key not in self.known:
            self.known[key] = sync_table.run(subject, mutant.probe, self.options.timeout)[0] != 0
        return self.known[key]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warpwright", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    sync_table.add_options(parser)
    options = parser.parse_args()
    names = options.only or PROGRAMS
    executed, survivors = Executed(options), []
    all_kinds = collections.Counter()
    print("| kernel | mutants | caught | of those executed | " + " | ".join(sync_table.KINDS) + " |")
    print("|---|" + "---|" * (len(sync_table.KINDS) + 3))

    def row(name, counts):
        whole = sum(counts[kind] for kind in (*sync_table.KINDS, "survived", "not executed"))
        caught = whole - counts["survived"] - counts["not executed"]
        cells = [str(counts[kind]) for kind in sync_table.KINDS]
        live = caught + counts["survived"]
        print(f"| {name} | {whole} | {caught} ({sync_table.share(caught, whole)}) | {live} ({sync_table.share(caught, live)}) | "
              + " | ".join(cells) + " |", flush=True)
        return 100 * caught >= options.goal * whole

    for name in names:
        program = next(iter(sorted(options.folder.glob(f"{name}.sm_*[0-9a]"))), None)
        if not program:
            sys.exit(f"{options.folder / name}.sm_*: missing; tests/real/run_programs.py build makes it")
        for subject in subjects_of(options.warpwright.resolve(), program.resolve()):
            counts = collections.Counter()
            for mutant, found in list(sync_table.measure(subject, options)):  # all before the probes
                if found == "survived":
                    found = found if executed(subject, mutant) else "not executed"
                    survivors.append((subject, mutant, found))
                counts[found] += 1
            row(f"`{subject.name}`", counts)
            all_kinds += counts
    held = row("all", all_kinds)
    print("\nSurvivors:\n")
    for subject, mutant, found in survivors:
        executed_text = "" if found == "survived" else ", not executed"
        print(f"- `{subject.name}`, line {mutant.line}, {mutant.kind}, {mutant.what}{executed_text}: `{mutant.instruction}`")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
