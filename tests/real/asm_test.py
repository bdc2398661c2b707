#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`warpwright asm FILE.cubin --json` on kernels nobody here wrote, against other sources.

    asm_test.py resources|instructions|loops PROGRAM FOLDER [--filter GLOB] [--jobs N]
    asm_test.py judges FOLDER ...

FOLDER is what build.py made. resources: equal to the log of ptxas -v and to cuobjdump -res-usage;
instructions: totals and sums over classes equal to a count of lines of nvdisasm and of cuobjdump;
loops: equal to those that sass_graph.py finds naively. judges: no program, only whether nvdisasm's
listing and its drawing give the same edges and loops, and whether both tools list the same code.
Exit 77 when pip cannot reach its index and the disassemblers are not in the cache.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import sass_graph  # noqa: E402
from environments import cache_root, environment, site_packages  # noqa: E402

WHEELS = HERE.parents[1] / "requirements" / "wheels"
LEAST_CUBINS = 20


# ---- What asm_info.json calls things: these five functions and nothing else know its names.

def kernels_of(report):
    return {each["name"]: each for each in report["kernels"]}


def resources_of(kernel):
    return kernel["resources"]


def total_of(counts):
    return counts["total"]


def classes_of(counts):
    return counts["classes"].values()


def loop_of(entry, offsets):
    """A sass_graph.Loop; offsets are those of the kernel's instructions."""
    ranges = [(int(first, 16), int(end, 16)) for first, end in entry["ranges"]]
    body = frozenset(each for each in offsets if any(a <= each < b for a, b in ranges))
    return sass_graph.Loop(int(entry["header"], 16),
                           frozenset(int(each, 16) for each in entry["latches"]), body)


# ---- The other sources.

def disassemblers():
    """nvdisasm and cuobjdump of the wheels that requirements/wheels pins."""
    shared = sorted(cache_root().glob("wheels/lib/python*/site-packages"))
    for packages in shared:
        folder = packages / "nvidia" / "cu13" / "bin"
        if (folder / "nvdisasm").is_file() and (folder / "cuobjdump").is_file():
            return folder
    python = environment("disassemblers", WHEELS / "nvdisasm.txt", WHEELS / "cuobjdump.txt")
    return site_packages(python) / "nvidia" / "cu13" / "bin"


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"exit code {done.returncode} from {' '.join(map(str, command))}: "
                         f"{done.stderr.strip()}")
    return done.stdout


def numbers(pattern, text):
    return {key: int(value) for value, key in re.findall(pattern, text)}


def ptxas_log(text):
    """kernel -> what ptxas -v says about it; what it does not mention is not there."""
    facts, kernel, subject = {}, None, None
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = facts.setdefault(match[1], {})
            subject = match[1]
        elif match := re.search(r"Function properties for (\S+)", line):
            subject = match[1]
        elif "bytes stack frame" in line and subject in facts:
            found = numbers(r"(\d+) bytes (stack frame|spill stores|spill loads)", line)
            facts[subject].update(spill_store_bytes=found["spill stores"],
                                  spill_load_bytes=found["spill loads"],
                                  frame=found["stack frame"])
        elif match := re.search(r"Used (\d+) registers, used (\d+) barriers", line):
            kernel.update(registers=int(match[1]), barriers=int(match[2]))
            found = numbers(r"(\d+) bytes (smem|lmem|cumulative stack size)", line)
            kernel["static_shared_bytes"] = found.get("smem", 0)
            kernel["stack_bytes"] = found.get("cumulative stack size", kernel["frame"])
            kernel["banks"] = numbers(r"(\d+) bytes cmem\[(\d+)\]", line)
    return facts


def res_usage(text):
    """kernel -> what cuobjdump -res-usage says: REG, STACK, SHARED, LOCAL; banks."""
    facts = {}
    for name, line in re.findall(r"^ Function (\S+):\n(.*)$", text, re.M):
        facts[name] = {key: int(value) for key, value in re.findall(r"\b([A-Z]+):(\d+)", line)}
        facts[name]["banks"] = {bank: int(value)
                                for bank, value in re.findall(r"CONSTANT\[(\d+)\]:(\d+)", line)}
    return facts


def count_lines(text):
    """kernel -> lines of cuobjdump -sass with an instruction."""
    counts, name = {}, None
    for line in text.splitlines():
        if match := re.match(r"\s*Function : (\S+)", line):
            name = match[1]
            counts[name] = 0
        elif name and re.match(r"\s+/\*[0-9a-f]{4,}\*/\s", line):
            counts[name] += 1
    return counts


# ---- The checks: each yields what is wrong with one cubin, and counts what it compared.

class Check:
    def __init__(self, tools, program=None):
        self.tools, self.program = tools, program

    def report(self, cubin):
        return kernels_of(json.loads(output(self.program, "asm", cubin, "--json")))

    def listing(self, cubin):
        return sass_graph.read_listing(output(self.tools / "nvdisasm", "-c", cubin))


def same_kernels(ours, theirs, whose):
    if set(ours) != set(theirs):
        yield f"the program and {whose} disagree on the kernels: {sorted(set(ours) ^ set(theirs))}"


class Resources(Check):
    def wrong(self, cubin):
        ours = self.report(cubin)
        log = ptxas_log(cubin.with_suffix(".log").read_text())
        usage = res_usage(output(self.tools / "cuobjdump", "-res-usage", cubin))
        yield from same_kernels(ours, log, "ptxas -v")
        yield from same_kernels(ours, usage, "cuobjdump -res-usage")
        for name in sorted(set(ours) & set(log) & set(usage)):
            yield from self.compare(name, resources_of(ours[name]), log[name], usage[name])

    @staticmethod
    def compare(name, mine, log, usage):
        pairs = [(f"ptxas: {key}", mine[key], log[key])
                 for key in ("registers", "barriers", "static_shared_bytes", "stack_bytes")]
        pairs += [("cuobjdump: REG", mine["registers"], usage["REG"]),
                  ("cuobjdump: STACK", mine["stack_bytes"], usage["STACK"]),
                  ("cuobjdump: LOCAL", mine["local_bytes"], usage["LOCAL"]),
                  ("cuobjdump: SHARED", mine["static_shared_bytes"] + mine["reserved_shared_bytes"],
                   usage["SHARED"])]
        pairs += [(f"ptxas: cmem[{bank}]", mine["constant_bytes"].get(bank), size)
                  for bank, size in log["banks"].items()]
        pairs += [(f"cuobjdump: CONSTANT[{bank}]", mine["constant_bytes"].get(bank), size)
                  for bank, size in usage["banks"].items()]
        # A cubin does not tell how much was spilled; whoever says a number must be right.
        pairs += [(f"ptxas: {key}", mine[key], log[key])
                  for key in ("spill_store_bytes", "spill_load_bytes") if mine.get(key) is not None]
        for what, got, wanted in pairs:
            if got != wanted:
                yield f"{name}: {what}: {wanted}, and the program says {got}"


class Instructions(Check):
    def wrong(self, cubin):
        ours = self.report(cubin)
        listed = {name: len(section.instructions) for name, section in self.listing(cubin).items()}
        dumped = count_lines(output(self.tools / "cuobjdump", "-sass", cubin))
        yield from same_kernels(ours, listed, "nvdisasm")
        for name in sorted(set(ours) & set(listed)):
            counts = ours[name]["instructions"]
            for whose, wanted in (("nvdisasm", listed[name]), ("cuobjdump", dumped.get(name)),
                                  ("the sum of the classes", sum(classes_of(counts)))):
                if total_of(counts) != wanted:
                    yield (f"{name}: {wanted} instructions by {whose}, and the program says "
                           f"{total_of(counts)}")


def described(loop):
    latches = ", ".join(f"{each:#06x}" for each in sorted(loop.latches))
    return f"the loop at {loop.header:#06x}, latches {latches}, {len(loop.body)} instructions,"


class Loops(Check):
    def wrong(self, cubin):
        ours, listing = self.report(cubin), self.listing(cubin)
        yield from same_kernels(ours, listing, "nvdisasm")
        for name in sorted(set(ours) & set(listing)):
            yield from self.compare(name, ours[name]["loops"], listing[name])

    @staticmethod
    def compare(name, entries, section):
        offsets = [each.offset for each in section.instructions]
        mine = [loop_of(entry, offsets) for entry in entries]
        naive = sass_graph.naive_loops(sass_graph.graph_of_listing(section))
        for loop in sorted(naive - set(mine), key=lambda each: each.header):
            yield f"{name}: {described(loop)} is not the program's"
        for loop in sorted(set(mine) - naive, key=lambda each: each.header):
            yield f"{name}: {described(loop)} is the program's only"
        by_id = {entry["id"]: loop for entry, loop in zip(entries, mine)}
        for entry, loop in zip(entries, mine):
            around = sorted((each for each in naive if each.body > loop.body),
                            key=lambda each: len(each.body))
            parent = by_id.get(entry["parent"])
            if parent != (around[0] if around else None) or entry["depth"] != len(around) + 1:
                yield (f"{name}: {described(loop)} has depth {entry['depth']} and parent "
                       f"{entry['parent']}; it lies in {len(around)} loops")
            if total_of(entry["instructions"]) != len(loop.body):
                yield (f"{name}: {described(loop)} counts {total_of(entry['instructions'])} "
                       "instructions")


class Judges(Check):
    def wrong(self, cubin):
        listing = self.listing(cubin)
        dumped = count_lines(output(self.tools / "cuobjdump", "-sass", cubin))
        yield from same_kernels(listing, dumped, "cuobjdump")
        done = subprocess.run([self.tools / "nvdisasm", "-bbcfg", "-poff", cubin],
                              capture_output=True, text=True)
        if "flow analysis is disabled" in done.stderr:  # cubins of ptxas before 13.0
            return
        drawings = sass_graph.graphs_of_drawing(done.stdout)
        for name, section in listing.items():
            if len(section.instructions) != dumped.get(name):
                yield (f"{name}: {len(section.instructions)} instructions by nvdisasm, "
                       f"{dumped.get(name)} by cuobjdump")
            listed = sass_graph.graph_of_listing(section)
            drawn = sass_graph.drawn_graph(section, listed, drawings)
            differing = sass_graph.steps(listed) ^ sass_graph.steps(drawn)
            if differing:
                pairs = [f"{a:#06x} -> {b:#06x}" for a, b in sorted(differing)]
                yield f"{name}: steps in one graph only: {', '.join(pairs[:10])}"
            if sass_graph.naive_loops(listed) != sass_graph.naive_loops(drawn):
                yield f"{name}: the listing and the drawing have different loops"


CHECKS = {"resources": Resources, "instructions": Instructions, "loops": Loops, "judges": Judges}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("paths", nargs="+", metavar="PROGRAM FOLDER", type=pathlib.Path)
    parser.add_argument("--filter", default="*", metavar="GLOB", help="on <id>.<target>")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if len(args.paths) != (1 if args.check == "judges" else 2):
        parser.error("judges takes FOLDER, the others PROGRAM FOLDER")
    return args


def main():
    args = arguments()
    cubins = sorted(each for each in args.paths[-1].glob("*.cubin")
                    if fnmatch.fnmatchcase(each.stem, args.filter))
    if not cubins or (args.filter == "*" and len(cubins) < LEAST_CUBINS):
        sys.exit(f"{args.paths[-1]} holds {len(cubins)} cubins; run build.py first")
    check = CHECKS[args.check](disassemblers(), args.paths[0].resolve())

    def judge(cubin):
        try:
            return list(check.wrong(cubin))
        except (ValueError, KeyError) as error:
            return [f"{type(error).__name__}: {error}"]

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for cubin, wrong in zip(cubins, pool.map(judge, cubins)):
            bad += bool(wrong)
            print(f"{cubin.stem}: {'ok' if not wrong else 'WRONG'}")
            print("".join(f"  {each}\n" for each in wrong), end="", flush=True)
    print(f"{len(cubins) - bad} of {len(cubins)} cubins are right")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
