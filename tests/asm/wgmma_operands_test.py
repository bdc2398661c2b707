#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No instruction writes a register that a wgmma in flight still reads as its A operand: ptxas does not see to that (kernels/common/
wgmma_operands.cuh). Looks at the SASS of a port's kernels, on every path.

    wgmma_operands_test.py PROGRAM PORT
    wgmma_operands_test.py --sass FILE...

Exit code: 1 with the places; 77 without nvdisasm, or without a kernel that has such a wgmma."""
import pathlib
import re
import subprocess
import sys
import tempfile

A_REGISTERS = 4  # of every shape: 32 bytes of 64 rows
NO_TARGET = re.compile(r"^(ST|RED|ATOMS|BAR|BRA|EXIT|SYNCS|WARPGROUP|WARPSYNC|DEPBAR|MEMBAR|FENCE|UBLKCP|BSYNC|BSSY|NOP|ERRBAR|CCTL)")
WGMMA = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")  # f16 and bf16 and tf32, FP8, INT8, one bit
WIDE = re.compile(r"\.(64|128)\b|\.WIDE")


class Instruction:
    def __init__(self, number, text):
        self.number, self.text = number, text
        body = re.sub(r"^@!?U?P[0-9T]+ +", "", text)
        self.opcode, _, operands = body.partition(" ")
        self.operands = [each.strip() for each in operands.rstrip(" ;").split(",")]
        self.conditional = text.startswith("@")
        labels = re.findall(r"`\((\.L\w+)\)", text)
        self.label = labels[0] if labels and self.opcode.startswith("BRA") else None
        self.ends = self.opcode.startswith("EXIT") or self.opcode == "BRA"

    def written(self):
        if NO_TARGET.match(self.opcode) or self.opcode.startswith(WGMMA):
            return set()
        found = re.match(r"R(\d+)$", self.operands[0])
        if not found:
            return set()
        wide = WIDE.search(self.opcode)
        count = 1 if not wide else 4 if wide.group(1) == "128" else 2
        return set(range(int(found.group(1)), int(found.group(1)) + count))

    def operand_a(self):
        """Registers of A, or nothing where it is in shared memory."""
        if not self.opcode.startswith(WGMMA):
            return set()
        found = re.match(r"R(\d+)$", self.operands[1])
        return set(range(int(found.group(1)), int(found.group(1)) + A_REGISTERS)) if found else set()

    def is_group_end(self):
        return self.opcode.startswith(WGMMA) and "gsb0" in self.text

    def pending(self):
        """How many groups WARPGROUP.DEPBAR leaves in flight; None for other instructions."""
        found = re.match(r"WARPGROUP\.DEPBAR\.LE gsb0, (0x\w+)", self.text)
        return int(found.group(1), 16) if found else None


def read(text):
    """Instructions and the place of each label, of one kernel's listing."""
    instructions, labels = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        label = re.match(r"(\.L\w+):", line)
        if label:
            labels[label.group(1)] = len(instructions)
        found = re.search(r"/\*[0-9a-f]{4,}\*/ +(.*?;)", line)
        if found:
            instructions.append(Instruction(number, found.group(1).strip()))
    return instructions, labels


def step(instruction, groups):
    """Registers of A in flight, by group, oldest first, the last one still open; after the instruction."""
    pending = instruction.pending()
    if pending is not None:
        closed = groups[:-1]
        return tuple(closed[len(closed) - pending:] if pending else ()) + (groups[-1],)
    groups = groups[:-1] + (groups[-1] | frozenset(instruction.operand_a()),)
    if instruction.is_group_end():
        groups += (frozenset(),)
    while len(groups) > 1 and not groups[0]:  # the oldest read no registers: what a loop begins need not be counted
        groups = groups[1:]
    return groups


def problems(text):
    """(places, how many wgmma have A in registers)."""
    instructions, labels = read(text)
    found, seen, work = {}, set(), [(0, (frozenset(),))]
    while work:
        at, groups = work.pop()
        while at < len(instructions) and (at, groups) not in seen:
            seen.add((at, groups))
            each = instructions[at]
            overwritten = each.written() & frozenset().union(*groups)
            if overwritten:
                found[each.number] = f"line {each.number}: {each.text} writes R{min(overwritten)} of a wgmma in flight"
            groups = step(each, groups)
            if each.label in labels:
                work.append((labels[each.label], groups))
            if each.ends and not each.conditional:
                break
            at += 1
    return [found[number] for number in sorted(found)], sum(bool(each.operand_a()) for each in instructions)


# R153 is written before its product has been waited for, R154 after it; the branch is taken with both in flight.
SMALL = """
    /*0000*/ HGMMA.64x128x16.F32 R88, gdesc[UR16], R88, gsb0 ;
    /*0010*/ HGMMA.64x128x16.F32 R24, R152, gdesc[UR16], R24, gsb0 ;
    /*0020*/ WARPGROUP.DEPBAR.LE gsb0, 0x1 ;
    /*0030*/ @P0 BRA `(.L_x_1) ;
    /*0040*/ FADD R153, R4, R5 ;
    /*0050*/ WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
    /*0060*/ FADD R154, R4, R5 ;
    /*0070*/ EXIT ;
.L_x_1:
    /*0080*/ LDS.64 R154, [R4] ;
    /*0090*/ EXIT ;
"""


def main():
    places, count = problems(SMALL)
    if count != 1 or [place.split(" writes ")[1][:4] for place in places] != ["R153", "R154"] or "FADD R153" not in places[0]:
        sys.exit(f"the check itself is wrong: {count} {places}")
    if sys.argv[1] == "--sass":
        listings = [pathlib.Path(each) for each in sys.argv[2:]]
        return judge(listings)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], "asm", sys.argv[2], "--out", folder], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        listings = sorted(pathlib.Path(folder).glob("*.sass"))
        if not listings:
            print("no nvdisasm: no SASS")
            return 77
        return judge(listings)


def judge(listings):
    products, wrong = 0, 0
    for path in listings:
        places, count = problems(path.read_text())
        products += count
        wrong += len(places)
        for place in places[:5]:
            print(f"{path.name}: {place}")
    print(f"{len(listings)} kernels, {products} wgmma with A in registers, {wrong} registers overwritten too early")
    return 1 if wrong else 0 if products else 77


if __name__ == "__main__":
    sys.exit(main())
