# SPDX-License-Identifier: Apache-2.0
"""Synchronisation mutants of PTX text: each removes or weakens one synchronising instruction. Knows
nothing of who runs them. `python3 sync_edits.py FILE.ptx` lists them."""
import dataclasses
import re
import sys


@dataclasses.dataclass(frozen=True)
class Mutant:
    line: int  # of the instruction, in the text
    kind: str  # fence, wait, arrive, bytes, count, barrier, parity, order
    what: str  # "removed", "16 bytes more", ...
    instruction: str
    text: str = dataclasses.field(repr=False)  # all of it, changed; lines keep their numbers
    probe: str = dataclasses.field(repr=False)  # unchanged but for a trap before the instruction: is it ever executed?


@dataclasses.dataclass
class Statement:
    begin: int  # of guard or opcode
    end: int    # of its semicolon
    line: int
    guard: str  # "@p " or ""
    opcode: str
    operands: list


def blank_comments(text):
    """The text with comments as spaces: places stay."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def split_operands(text):
    out, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "[{("
        depth -= c in "]})"
        if c == "," and depth == 0:
            out.append(text[last:i].strip())
            last = i + 1
    return out + [text[last:].strip()] if text.strip() else out


# Labels, blocks and directives without a semicolon, before an instruction.
HEAD = re.compile(r"(?:[\s{}]|[\w$%]+\s*:(?!:)|\.(?:loc|file|version|target|address_size)\b[^\n]*"
                  r"|\.(?:visible|weak|entry|func)\b[^;{]*)*")
# To the next function: inline assembly has braces at the beginning of lines, too.
KERNEL = re.compile(r"^[^\n]*\.entry\s+([\w$]+).*?(?=^[^\n]*\.(?:entry|func)\b|\Z)", re.S | re.M)
INSTRUCTION = re.compile(r"(@!?[%\w$]+\s+)?([a-z][\w.:]*)(.*)", re.S)


def statements(text):
    plain = blank_comments(text)
    start, line, counted = 0, 1, 0
    for end in (m.start() for m in re.finditer(";", plain)):
        begin = start + HEAD.match(plain[start:end]).end()
        start = end + 1
        found = INSTRUCTION.fullmatch(plain[begin:end])
        if not found:
            continue
        line += plain.count("\n", counted, begin)
        counted = begin
        yield Statement(begin, end, line, found[1] or "", found[2], split_operands(found[3]))


class Edits:
    """All edits of one text, in its order. entry: of that kernel and of functions, not of other kernels."""

    def __init__(self, text, entry=None):
        self.text = text
        self.mutants = []
        others = [m.span() for m in KERNEL.finditer(text) if entry and m[1] != entry]
        for statement in statements(text):
            if any(begin <= statement.begin < end for begin, end in others):
                continue
            self.statement = statement
            self.visit(statement)

    def change(self, kind, what, replacement):
        s = self.statement
        old = self.text[s.begin:s.end + 1]
        replacement += "\n" * (old.count("\n") - replacement.count("\n"))
        self.mutants.append(Mutant(s.line, kind, what, " ".join(old.split()),
                                   self.text[:s.begin] + replacement + self.text[s.end + 1:],
                                   f"{self.text[:s.begin]}{s.guard}trap; {self.text[s.begin:]}"))

    def remove(self, kind):
        self.change(kind, "removed", "")

    def spell(self, opcode=None, operands=None):
        s = self.statement
        values = s.operands if operands is None else operands
        return f"{s.guard}{opcode or s.opcode} {', '.join(values)}".rstrip() + ";"

    def with_operand(self, index, value):
        operands = list(self.statement.operands)
        operands[index] = value
        return self.spell(operands=operands)

    def off_by(self, kind, index, step, noun):
        """The operand at index, a number or a register, more and less by step."""
        operand = self.statement.operands[index]
        for delta in (step, -step):
            what = f"{step} {noun} {'more' if delta > 0 else 'fewer'}"
            if re.fullmatch(r"\d+", operand):
                if int(operand) + delta >= 0:
                    self.change(kind, what, self.with_operand(index, str(int(operand) + delta)))
            else:
                self.change(kind, what, "{ .reg .b32 ww_changed; " + f"add.s32 ww_changed, {operand}, {delta}; " +
                            self.with_operand(index, "ww_changed") + " }")

    def weaker(self, kind, pairs):
        for old, new in pairs:
            if re.search(re.escape(old) + r"(?![\w:])" + ("$" if old.startswith(".async") else ""), self.statement.opcode):
                self.change(kind, f"{new} for {old}", self.spell(opcode=self.statement.opcode.replace(old, new, 1)))

    def visit(self, s):
        op = s.opcode
        if op.startswith(("fence.", "membar.", "wgmma.fence")):
            self.remove("fence")
            if not op.startswith("fence.mbarrier_init"):
                self.weaker("fence", [(".sys", ".cta"), (".gpu", ".cta"), (".gl", ".cta"), (".cluster", ".cta")]
                            if ".proxy" not in op and "sync_restrict" not in op else
                            [(".async", ".async.global"), (".async.shared::cta", ".async.global"), (".async.global", ".async.shared::cta")])
        elif re.match(r"(wgmma|cp\.async|cp\.async\.bulk)\.commit_group", op):
            self.remove("wait")
        elif re.match(r"(wgmma|cp\.async|cp\.async\.bulk)\.wait_(group|all)", op):
            self.remove("wait")
            if s.operands:
                self.change("wait", "one group more in flight", self.with_operand(-1, str(int(s.operands[-1]) + 1)))
            if op == "cp.async.bulk.wait_group":
                self.change("wait", ".read", self.spell(opcode=op + ".read"))
        elif op.startswith("mbarrier.init"):
            self.remove("count")
            self.off_by("count", 1, 1, "arrivals")
        elif op.startswith("mbarrier.arrive"):
            self.remove_arrival("arrive")
            if ".expect_tx" in op:
                self.off_by("bytes", -1, 16, "bytes")
                self.change("bytes", "no bytes", self.spell(opcode=op.replace(".expect_tx", ""), operands=s.operands[:-1]))
            self.weaker("order", [(".release", ".relaxed"), (".cluster", ".cta")])
            if ".release" not in op and ".relaxed" not in op:
                scoped = op if re.search(r"\.(cta|cluster)(?![\w:])", op) else op.replace("mbarrier.arrive", "mbarrier.arrive.cta", 1)
                scoped = scoped.replace("mbarrier.arrive.cta.expect_tx", "mbarrier.arrive.expect_tx.cta", 1)
                relaxed = re.sub(r"\.(cta|cluster)(?![\w:])", r".relaxed.\1", scoped, count=1)
                self.change("order", ".relaxed", self.spell(opcode=relaxed))
        elif op.startswith("mbarrier.expect_tx"):
            self.remove("bytes")
            self.off_by("bytes", 1, 16, "bytes")
        elif op.startswith("cp.async.mbarrier.arrive"):
            self.remove("arrive")
        elif op.startswith(("mbarrier.try_wait", "mbarrier.test_wait")):
            self.answer()
            if ".parity" in op:
                self.change("parity", "the other one", "{ .reg .b32 ww_changed; " + f"xor.b32 ww_changed, {s.operands[2]}, 1; " +
                            self.with_operand(2, "ww_changed") + " }")
            self.weaker("order", [(".acquire", ".relaxed")])
            if ".acquire" not in op and ".relaxed" not in op:
                relaxed = re.sub(r"^(mbarrier\.\w+(?:\.parity)?)(?:\.cta)?", r"\1.relaxed.cta", op)
                self.change("order", ".relaxed", self.spell(opcode=relaxed))
        elif re.match(r"(bar|barrier)(\.cta)?\.(sync|arrive)|bar\.warp\.sync", op):
            self.remove("barrier")
            if op != "bar.warp.sync" and len(s.operands) == 2:
                self.off_by("count", 1, 32, "threads")
        elif op.startswith("barrier.cluster."):
            self.remove("barrier")
            if ".arrive" in op and ".relaxed" not in op:
                relaxed = op.replace(".release", "").replace(".arrive", ".arrive.relaxed", 1)
                self.change("order", ".relaxed", self.spell(opcode=relaxed))
        elif op.startswith("griddepcontrol.wait"):
            self.remove("wait")
        elif re.match(r"(ld|st|atom|red)\.", op):
            self.weaker("order", [(".acquire", ".relaxed"), (".release", ".relaxed"), (".acq_rel", ".relaxed")])

    def remove_arrival(self, kind):
        """The state that it returns, if it does, is zero."""
        s = self.statement
        returned = s.operands[0] if s.operands and not s.operands[0].startswith("[") and s.operands[0] != "_" else None
        self.change(kind, "removed", f"{s.guard}mov.b64 {returned}, 0;" if returned else "")

    def answer(self):
        """The wait says yes at once."""
        s = self.statement
        self.change("wait", "removed", f"{s.guard}setp.eq.u32 {s.operands[0].split('|')[0]}, 0, 0;")


def mutants(text, entry=None):
    return Edits(text, entry).mutants


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        for each in mutants(file.read()):
            print(f"{each.line}: {each.kind}: {each.what}: {each.instruction}")


if __name__ == "__main__":
    main()
