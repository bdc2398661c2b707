# SPDX-License-Identifier: Apache-2.0
"""How many synchronisation mutants (sync_edits.py) of a kernel are caught. A command runs a PTX file and
exits with 0 when nothing is wrong, with 1 when something is, and prints what. Any kernel:
`sync_table.py --ptx FILE --run 'COMMAND {ptx}'`; ours: `sync_table.py --subjects PROGRAM`, where the
program is sync_subject. docs/sync_mutation.md quotes what it prints."""
import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

import sync_edits

# What the run of a caught mutant said. early read: of memory that an asynchronous operation has yet to write.
KINDS = {
    "race": r"\(error\) at ",
    "early read": r"before the asynchronous operation",
    "deadlock": r"deadlock|stuck|waits (at|for)|never|warp instructions",
    "fault": r": error: ",
    "wrong result": r"wrong|unwritten|out_of_bounds|not_a_number",
}


class Subject:
    """clean: what a run without a finding prints, as a regular expression."""

    def __init__(self, name, text, command, entry=None, clean=r"\s*"):
        self.name, self.text, self.command, self.entry, self.clean = name, text, command, entry, clean


def verdict(code, output):
    if code == 0:
        return "survived"
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, output)), "fault")


def run(subject, text, timeout):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [part.replace("{ptx}", path) for part in subject.command]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            sys.exit(f"{subject.name}: a run took more than {timeout} s, which says nothing: give --timeout, or the command a budget")
    return done.returncode, done.stdout


def measure(subject, options):
    """Rows of (mutant, verdict, output)."""
    code, output = run(subject, subject.text, options.timeout)
    if code != 0 or not re.fullmatch(subject.clean, output, re.S):
        sys.exit(f"{subject.name}: the unmutated kernel is not clean (exit code {code}):\n{output}")
    mutants = sync_edits.mutants(subject.text, subject.entry)
    if options.limit:
        mutants = mutants[:: max(1, len(mutants) // options.limit)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda each: run(subject, each.text, options.timeout), mutants)
        for mutant, (code, output) in zip(mutants, results):
            if code not in (0, 1):
                sys.exit(f"{subject.name}, line {mutant.line}: {mutant.what}: {mutant.instruction}\nexit code {code}: {output}")
            found = verdict(code, output)
            if options.reports and found != "survived":
                print(output, file=sys.stderr)
            if options.verbose:
                print(f"{subject.name}:{mutant.line}: {mutant.kind}: {mutant.what}: {mutant.instruction}: {found}", file=sys.stderr, flush=True)
            yield mutant, found


def our_subjects(program, names):
    known = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    for name, entry in (line.split() for line in known):
        if names and name not in names:
            continue
        made = subprocess.run([program, name], stdout=subprocess.PIPE, text=True, check=False)
        if made.returncode != 0:
            sys.exit(made.returncode)
        yield Subject(name, made.stdout, [program, name, "{ptx}"], entry)


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def add_options(parser):
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run; beyond it everything ends")
    parser.add_argument("--limit", type=int, default=0, help="about so many mutants of each kernel, evenly spread")
    parser.add_argument("--goal", type=float, default=95, help="percent; below it the exit code is 1")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--reports", action="store_true", help="what the runs of caught mutants printed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", metavar="PROGRAM", help="sync_subject: all kernels that it knows, or those of --only")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--ptx", metavar="FILE", help="any PTX, run by --run")
    parser.add_argument("--entry", metavar="KERNEL", help="of --ptx; else all kernels in it")
    parser.add_argument("--run", metavar="COMMAND", help="{ptx} stands for the file")
    add_options(parser)
    options = parser.parse_args()
    if not options.subjects and not (options.ptx and options.run):
        parser.error("give --subjects, or --ptx and --run")
    if options.ptx:
        with open(options.ptx, encoding="utf-8") as file:
            subjects = [Subject(os.path.basename(options.ptx), file.read(), shlex.split(options.run), options.entry)]
    else:
        subjects = list(our_subjects(options.subjects, options.only))
    total, survivors = collections.Counter(), []
    print("| kernel | mutants | caught | " + " | ".join(KINDS) + " |")
    print("|---|" + "---|" * (len(KINDS) + 2))

    def row(name, counts):
        whole = sum(counts.values())
        caught = whole - counts["survived"]
        cells = [str(counts[kind]) for kind in KINDS]
        print(f"| {name} | {whole} | {caught} ({share(caught, whole)}) | " + " | ".join(cells) + " |", flush=True)

    for subject in subjects:
        counts = collections.Counter()
        for mutant, found in measure(subject, options):
            counts[found] += 1
            if found == "survived":
                survivors.append((subject, mutant))
        row(f"`{subject.name}`", counts)
        total += counts
    row("all", total)
    print("\nSurvivors:\n")
    for subject, mutant in survivors:
        print(f"- `{subject.name}`, line {mutant.line}, {mutant.kind}, {mutant.what}: `{mutant.instruction}`")
    whole = sum(total.values())
    held = whole and 100 * (whole - total["survived"]) >= options.goal * whole
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
