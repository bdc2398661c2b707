# SPDX-License-Identifier: Apache-2.0
"""Control-flow graphs and loops of SASS by slow and simple means, to judge the program's by.

Two sources of edges that share nothing with src/sass or with each other: the listing of
`nvdisasm -c` read line by line, and the graph that nvdisasm draws itself (`-bbcfg -poff`). Nodes
are basic blocks, named by the offset of their first instruction. Loops come from the definitions:
h dominates t if, without h, t cannot be reached; an edge t -> h with that is a back edge; its loop
is h and what reaches t without passing h; loops of one header are one.
"""
import collections
import dataclasses
import re

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]+)\*/\s+\{?\s*(?:(@!?U?P[T0-9]+)\s+)?"
                         r"([A-Z][\w.]*)([^;]*)")
LABEL = re.compile(r"^(\S+):\s*$")
SECTION = re.compile(r"^\s+\.section\s+\.text\.([^,\s]+),")
TARGET = re.compile(r"`\(([^)]+)\)")
LISTED_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')


@dataclasses.dataclass
class Instruction:
    offset: int
    guard: str  # "@P0", or empty
    opcode: str
    operands: str


@dataclasses.dataclass
class Section:
    """The code section of one kernel, with the subroutines behind it."""
    name: str
    instructions: list = dataclasses.field(default_factory=list)
    labels: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Graph:
    """blocks: first offset -> offsets; edges: first offset -> set of first offsets."""
    blocks: dict = dataclasses.field(default_factory=dict)
    edges: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(set))
    roots: set = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True)
class Loop:
    header: int
    latches: frozenset  # the last instructions of the blocks with a back edge
    body: frozenset  # all instructions


def read_listing(text):
    """The sections of `nvdisasm -c`: kernel -> Section."""
    sections, section, waiting = {}, None, []
    for line in text.splitlines():
        if match := SECTION.match(line):
            section, waiting = sections.setdefault(match[1], Section(match[1])), []
        elif match := LABEL.match(line):
            waiting.append(match[1])
        elif (match := INSTRUCTION.match(line)) and section:
            offset = int(match[1], 16)
            section.labels.update((label, offset) for label in waiting)
            waiting = []
            section.instructions.append(Instruction(offset, match[2] or "", match[3], match[4]))
    return sections


def successors(section, index):
    """Offsets that may run after an instruction; and whether it ends a block."""
    instruction = section.instructions[index]
    after = section.instructions[index + 1:index + 2]
    following = {each.offset for each in after}
    kind = instruction.opcode.split(".")[0]
    if kind in ("EXIT", "RET", "KILL"):
        return following if conditional(instruction) else set(), True
    if kind in ("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU") or calls_a_label(instruction):
        listed = LISTED_TARGETS.search(instruction.operands)
        names = listed[1].split(",") if listed else TARGET.findall(instruction.operands)
        targets = {section.labels[name.strip()] for name in names}
        if not targets:
            raise ValueError(f"{section.name}: no target in {instruction}")
        return targets | (following if conditional(instruction) else set()), True
    return following, False


def calls_a_label(instruction):
    """On sm_80, ptxas writes some jumps as calls of a label within the function: none returns."""
    return instruction.opcode.startswith("CALL.REL") and "`(.L_" in instruction.operands


def conditional(instruction):
    """Guarded, or with a condition among the operands: BRA.U UP0, BRA P1, BRA.DIV UR4."""
    first = instruction.operands.split("`")[0]
    return bool(instruction.guard) or bool(re.search(r"\bU?P\d|\bUR|~", first)
                                           and instruction.opcode.split(".")[0] == "BRA")


def graph_of_listing(section):
    """Calls return to the next instruction; a subroutine that is called is one more root."""
    offsets = [each.offset for each in section.instructions]
    leaders, flow, graph = {offsets[0]}, {}, Graph()
    graph.roots.add(offsets[0])
    for index, instruction in enumerate(section.instructions):
        flow[instruction.offset], ends = successors(section, index)
        if ends:
            leaders.update(flow[instruction.offset])
            leaders.update(offsets[index + 1:index + 2])
        if instruction.opcode.startswith("CALL") and not calls_a_label(instruction):
            for name in TARGET.findall(instruction.operands):
                graph.roots.add(section.labels[name])
    leaders |= graph.roots
    for offset in offsets:
        if offset in leaders:
            first = offset
            graph.blocks[first] = []
        graph.blocks[first].append(offset)
    for first, block in graph.blocks.items():
        graph.edges[first] |= flow[block[-1]]
    return graph


def graphs_of_drawing(text):
    """The graphs of `nvdisasm -bbcfg -poff`: kernel or subroutine -> Graph, without roots."""
    graphs = {}
    for part in text.split("subgraph ")[1:]:
        name = re.match(r'"cluster_([^"]+)"', part)[1]
        graph, named = graphs.setdefault(name, Graph()), {}
        for node in re.finditer(r'^"([^"]+)"\n\[label="\{(.*)\}"\]$', part, re.M):
            offsets = [int(each, 16)
                       for each in re.findall(r"(?:\\l|\||>)([0-9a-f]{4,}):\\ ", node[2])]
            if offsets:
                named[node[1]] = offsets[0]
                graph.blocks[offsets[0]] = offsets
        for edge in re.finditer(r'^"([^"]+)":\w+:\w -> "([^"]+)":', part, re.M):
            if edge[1] in named and edge[2] in named:
                graph.edges[named[edge[1]]].add(named[edge[2]])
    return graphs


def drawn_graph(section, listed, drawings):
    """The drawing of a section: its kernel and the subroutines that the listing has in it.

    Code that nothing reaches is not drawn.
    """
    graph = Graph(roots=listed.roots)
    for name in {section.name, *section.labels} & set(drawings):
        graph.blocks.update(drawings[name].blocks)
        for source, targets in drawings[name].edges.items():
            graph.edges[source] |= targets
    return graph


def steps(graph):
    """All pairs of offsets that may follow each other, from what the roots reach."""
    pairs = set()
    for first in reached(graph.edges, graph.roots):
        block = graph.blocks[first]
        pairs.update(zip(block, block[1:]))
        pairs.update((block[-1], target) for target in graph.edges[first])
    return pairs


def reached(edges, starts, without=None):
    seen, left = set(), [each for each in starts if each != without]
    while left:
        block = left.pop()
        if block not in seen:
            seen.add(block)
            left.extend(each for each in edges.get(block, ()) if each != without)
    return seen


def naive_loops(graph):
    backwards = collections.defaultdict(set)
    for source, targets in graph.edges.items():
        for target in targets:
            backwards[target].add(source)
    everything = reached(graph.edges, graph.roots)
    loops = set()
    for header in sorted(everything & set(backwards)):
        without = reached(graph.edges, graph.roots, header)
        latches = {each for each in backwards[header] if each in everything - without}
        if not latches:
            continue
        body = {header} | (reached(backwards, latches, header) & everything)
        loops.add(Loop(header, frozenset(graph.blocks[each][-1] for each in latches),
                       frozenset(offset for each in body for offset in graph.blocks[each])))
    return loops
