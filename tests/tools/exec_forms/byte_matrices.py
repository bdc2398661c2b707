# SPDX-License-Identifier: Apache-2.0
"""ldmatrix and stmatrix of bytes, which only sm_100a and sm_120a have: what each register holds is computed
here, element by element, from the manual's figures. Rows are given in another order than they lie in."""

MULTIPLIER = 0x9e3779b1
FORMATS = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}


def word(i):
    return (i + 1) * MULTIPLIER & 0xffffffff


def rows_of_memory(rows):
    """16 bytes each, as the kernel below writes them."""
    return [[word(4 * row + i // 4) >> 8 * (i % 4) & 0xff for i in range(16)] for row in range(rows)]


def elements(row, bits):
    packed = sum(byte << 8 * i for i, byte in enumerate(row))
    return [packed >> bits * i & ((1 << bits) - 1) for i in range(16)]


def register(four):
    return sum(element << 8 * i for i, element in enumerate(four))


def place(rows, row):
    """The row of memory that lane `row` names."""
    return (5 * row + 3) % rows


FILL = """
    .reg .u32 i, j, p, q;
    .reg .b32 v<4>;
    mov.u32 i, %tid.x;
    shl.b32 j, i, 2;
    add.u32 j, j, 1;
    mul.lo.u32 v0, j, 0x9e3779b1;
    add.u32 v1, v0, 0x9e3779b1;
    add.u32 v2, v1, 0x9e3779b1;
    add.u32 v3, v2, 0x9e3779b1;
"""


def point(rows):
    return f"""
    mad.lo.u32 j, i, 5, 3;
    and.b32 j, j, {rows - 1};
    mov.u32 q, m;
    mad.lo.u32 p, j, 16, q;
"""


def load(add, num, transposed, form):
    count = num * (2 if transposed else 1)
    rows = 8 * count
    memory = rows_of_memory(32)
    matrix = [elements(memory[place(rows, row)], FORMATS[form]) for row in range(rows)]
    words = []
    for lane in range(32):
        for r in range(count):
            if transposed:
                first = 16 * (r // 2) + 4 * (lane % 4)
                words.append(register([matrix[first + k][lane // 4 + 8 * (r % 2)] for k in range(4)]))
            else:
                words.append(register(matrix[8 * r + lane // 4][4 * (lane % 4):][:4]))
    shape = "m16n16" if transposed else "m8n16"
    trans = ".trans" if transposed else ""
    regs = ", ".join(f"d{i}" for i in range(count))
    store = "mad.lo.u32 p, i, 16, q;\nst.shared.v4.b32 [p], {v0, v1, v2, v3};\nbar.warp.sync -1;\n"
    add(f"ldmatrix/ldmatrix_{shape}_x{num}_{form.split('.')[-1]}", FILL + "mov.u32 q, m;\n" + store + point(rows) +
        f"ldmatrix.sync.aligned.{shape}.x{num}{trans}.shared.{form} {{{regs}}}, [p];", "", f"d b32[{count}]",
        target="sm_120a", trials=1, shared="m b32[128] zero",
        expect={"d": words, "m": [word(i) for i in range(128)]})


def store(add, num):
    rows = 8 * num
    memory = [[0] * 16 for _ in range(rows)]
    for lane in range(32):
        for r in range(num):
            for b in range(4):
                row = 8 * r + 2 * (lane % 4) + b % 2
                memory[place(rows, row)][lane // 4 + 8 * (b // 2)] = word(4 * lane + r) >> 8 * b & 0xff
    regs = ", ".join(f"v{i}" for i in range(num))
    add(f"ldmatrix/stmatrix_m16n8_x{num}_b8", FILL + point(rows) +
        f"stmatrix.sync.aligned.m16n8.x{num}.trans.shared.b8 [p], {{{regs}}};", target="sm_120a", trials=1,
        shared=f"m b32[{4 * rows}] zero",
        expect={"m": [register(row[4 * i:4 * i + 4]) for row in memory for i in range(4)]})


def forms(add):
    for form in FORMATS:
        for num in (1, 2):
            load(add, num, True, form)
        if form != "b8":
            for num in (1, 2, 4):
                load(add, num, False, form)
    for num in (1, 2, 4):
        store(add, num)
