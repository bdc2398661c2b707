# SPDX-License-Identifier: Apache-2.0
"""Forms whose results follow from the manual alone, so that the tests state them: comparisons into halves,
hints and fences around a store and a load, faults."""
import operator
import random
import struct

from .exact import decode

BOOL = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
TRUE = {"f16": 0x3c00, "bf16": 0x3f80, "u16": 0xffff, "s16": 0xffff, "u32": 0xffffffff,
        "s32": 0xffffffff}


def operand(rng, t):
    """A code and its value; small numbers, so that equal operands are frequent. Never NaN."""
    if t in ("f16", "bf16"):
        code = rng.getrandbits(1) << 15 | (0x3c00 if t == "f16" else 0x3f80) + (rng.randint(0, 2) << 6)
        return code, decode(t, code)
    if t in ("f32", "f64"):
        value = rng.randint(-3, 3) / 2
        code = struct.unpack("<I" if t == "f32" else "<Q",
                             struct.pack("<f" if t == "f32" else "<d", value))[0]
        return code, value
    bits = int(t[1:])
    value = rng.choice([0, 1, 2, (1 << bits) - 1, 1 << bits - 1])
    return value, value - (1 << bits) if t[0] == "s" and value >> bits - 1 else value


def set_half(add, op, d, t, combine="", negate=False, extra=""):
    """set.OP{.COMBINE}{.ftz}.D.T; of halves in one register when T ends in x2."""
    compare = {"lt": operator.lt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
               "lo": operator.lt, "gtu": operator.gt, "num": lambda a, b: True}[op]
    opcode = ".".join(["set", op] + [x for x in (combine, extra) if x] + [d, t])
    rng = random.Random(opcode)
    count, element, result = (2, t[:-2], d[:-2]) if t.endswith("x2") else (1, t, d)
    values, expect = {"a": [], "b": [], "c": []}, []
    for _ in range(32):
        words, c = [0, 0, 0], rng.getrandbits(1)
        for i in range(count):
            (a, x), (b, y) = operand(rng, element), operand(rng, element)
            holds = compare(x, y)
            if combine:
                holds = BOOL[combine](holds, bool(c) != negate)
            words[0] |= a << 16 * i
            words[1] |= b << 16 * i
            words[2] |= (TRUE[result] if holds else 0) << 16 * i
        values["a"].append(words[0])
        values["b"].append(words[1])
        values["c"].append(c)
        expect.append(words[2])
    if not combine:
        del values["c"]
    sources = "a, b" + (", " + "!" * negate + "c" if combine else "")
    add("half_compare/" + opcode.replace(".", "_"), f"{opcode} d, {sources};",
        ", ".join(f"{x} {'pred' if x == 'c' else t}" for x in values), f"d {d}", opcode,
        trials=1, values=values,
        expect={"d": expect})


def set_halves(add):
    for d in ("f16", "bf16"):
        for t in ("b16", "u16", "s32", "u64", "f32", "f64"):
            set_half(add, "ne", d, t)
        set_half(add, "lt", d, "s16")
        set_half(add, "lo", d, "u32")
        set_half(add, "lt", d, "s32", "and")
        set_half(add, "ge", d, "f64", "xor", negate=True)
        for result in (d, "u16", "s32"):
            for combine in BOOL:
                set_half(add, "lt", result, d, combine)
        set_half(add, "gtu", d, d, "or", negate=True)
        for combine in BOOL:
            set_half(add, "ge", d + "x2", d + "x2", combine)
    set_half(add, "ge", "f16", "f32", "or", extra="ftz")
    set_half(add, "eq", "f16", "f16", "or", extra="ftz")


def around_copy(add, name, middle, desc, m_bytes=128, **options):
    """d is what was stored before (or after, with st in the text) the instruction."""
    rng = random.Random(name)
    codes = [rng.getrandbits(32) for _ in range(32)]
    body = f"""
        .reg .u32 i;
        .reg .u64 at;
        mov.u32 i, %tid.x;
        mad.wide.u32 at, i, 4, m;
        {middle}
        """
    if "ld." not in middle:
        body += "ld.global.u32 d, [at];\n"
    add(name, body, "a u32", "d u32", desc, trials=1, global_=f"m b32[{m_bytes // 4}]",
        values={"a": codes}, expect={"d": codes, "m": codes}, **options)


STORE = "st.global.u32 [at], a;\n"


def fences(add):
    plain = {"membar.proxy.alias": {}, "fence.proxy.async.global": {},
             "fence.acquire.sync_restrict::shared::cluster.cluster": {"ptx": "8.6"},
             "fence.release.sync_restrict::shared::cta.cluster": {"ptx": "8.6"},
             "fence.mbarrier_init.release.cluster": {},
             "fence.proxy.tensormap::generic.release.gpu": {},
             "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster":
                 {"ptx": "8.6"},
             "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster":
                 {"ptx": "8.6"}}
    for opcode, options in plain.items():
        name = "sync/" + opcode.replace("::", "_").replace(".", "_")
        around_copy(add, name, STORE + opcode + ";", opcode, **options)
    opcode = "fence.proxy.tensormap::generic.acquire.gpu"
    around_copy(add, "sync/fence_proxy_tensormap_generic_acquire_gpu", STORE + opcode + " [m], 128;",
                opcode)
    for opcode in ("pmevent.mask 3", "griddepcontrol.wait", "griddepcontrol.launch_dependents"):
        around_copy(add, "misc/" + opcode.split()[0].replace(".", "_"), STORE + opcode + ";", opcode)
    for action, count in (("dec", 40), ("inc", 232)):
        opcode = f"setmaxnreg.{action}.sync.aligned.u32"
        rng = random.Random(opcode)
        codes = [rng.getrandbits(32) for _ in range(128)]
        add("misc/" + opcode.replace(".", "_"), f"{opcode} {count};\nmov.u32 d, a;", "a u32", "d u32",
            opcode, target="sm_90a", threads=128, trials=1, values={"a": codes},
            expect={"d": codes})


def hints(add):
    around_copy(add, "data_movement/mmio_u32",
                "st.mmio.relaxed.sys.global.u32 [at], a;\nld.mmio.relaxed.sys.global.u32 d, [at];",
                "ld.mmio and st.mmio")
    around_copy(add, "data_movement/ld_proxy_readonly",
                STORE + "bar.sync 0;\nld.global.u32.proxy::readonly d, [at];", "ld.proxy::readonly",
                ptx="9.4")
    around_copy(add, "misc/discard_l2",
                ".reg .pred first;\nsetp.eq.u32 first, i, 0;\n"
                "@first discard.global.L2 [m], 128;\nbar.sync 0;\n" + STORE,
                "What is stored after the discard is kept.")
    around_copy(add, "misc/prefetch_tensormap", STORE + "prefetch.tensormap [m];",
                "A hint about a descriptor that nothing uses.")
    for name, create in (("createpolicy_range", "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 "
                          "policy, [m], 128, 128;"),
                         ("createpolicy_cvt", "mov.b64 policy, 0x12f0000000000000;\n"
                          "createpolicy.cvt.L2.b64 policy, policy;")):
        around_copy(add, "misc/" + name, ".reg .b64 policy;\n" + STORE + create +
                    "\nld.global.L2::cache_hint.u32 d, [at], policy;", create.split(" ")[0])


def clusters(add):
    codes = list(range(7, 39))
    for kind, space, own in (
            ("u32", ".shared::cluster", "mov.u32 at, s;\nmad.lo.u32 at, i, 4, at;"),
            ("u64", "", "mov.u64 at, s;\ncvta.shared.u64 at, at;\nmad.wide.u32 at, i, 4, at;")):
        add(f"data_movement/mapa_getctarank_{kind}", f"""
            .reg .{kind} at, there;
            .reg .u32 i;
            .shared .align 16 .b8 s[128];
            mov.u32 i, %tid.x;
            {own}
            mapa{space}.{kind} there, at, 0;
            getctarank{space}.{kind} r, there;
            st{space}.u32 [at], a;
            ld{space}.u32 d, [there];
            """, "a u32", "d u32, r u32",
            "A grid without clusters: each block is rank 0 of its own.", trials=1,
            values={"a": codes}, expect={"d": codes, "r": [0]})


def warps(add):
    """Without .sync, as written for targets before sm_70."""
    rng = random.Random("old warps")
    a = [rng.getrandbits(32) for _ in range(32)]
    p = [rng.getrandbits(1) for _ in range(32)]
    old = {"target": "sm_60", "ptx": "6.0", "trials": 1}
    lanes = {"up": lambda i: i - 3 if i >= 3 else i, "down": lambda i: i + 3 if i < 29 else i,
             "bfly": lambda i: i ^ 3, "idx": lambda i: 3}
    inside = {"up": lambda i: i >= 3, "down": lambda i: i < 29, "bfly": lambda i: True,
              "idx": lambda i: True}
    for mode, source in lanes.items():
        c = 0 if mode == "up" else 31
        add(f"warp/shfl_{mode}_b32", f"shfl.{mode}.b32 d|p, a, 3, {c};", "a b32", "d b32, p pred",
            **old, values={"a": a}, expect={"d": [a[source(i)] for i in range(32)],
                                            "p": [int(inside[mode](i)) for i in range(32)]})
    for mode, result in (("all", all(p)), ("any", any(p)), ("uni", all(p) or not any(p))):
        add(f"warp/vote_{mode}_pred", f"vote.{mode}.pred d, a;", "a pred", "d pred", **old,
            values={"a": p}, expect={"d": [int(result)]})
    add("warp/vote_any_not_pred", "vote.any.pred d, !a;", "a pred", "d pred", **old,
        values={"a": [1]}, expect={"d": [0]})
    add("warp/vote_ballot_b32", "vote.ballot.b32 d, a;", "a pred", "d b32", **old, values={"a": p},
        expect={"d": [sum(bit << i for i, bit in enumerate(p))]})


def barriers(add):
    rng = random.Random("barriers")
    votes = [rng.getrandbits(1) for _ in range(128)]
    for opcode, c, count in (("barrier.cta.red.popc.aligned.u32", "a", sum(votes)),
                             ("barrier.red.popc.u32", "!a", 128 - sum(votes))):
        add("sync/" + opcode.replace(".", "_"), f"{opcode} d, 3, {c};", "a pred", "d u32",
            threads=128, trials=1, values={"a": votes}, expect={"d": [count]})
    codes = [rng.getrandbits(32) for _ in range(32)]
    add("sync/barrier_arrive_producer_consumer", """
        .reg .u32 i;
        .reg .u64 at;
        .reg .pred consumer;
        mov.u32 i, %tid.x;
        setp.ge.u32 consumer, i, 32;
        and.b32 i, i, 31;
        mad.wide.u32 at, i, 4, m;
        mov.u32 d, 0;
        @consumer bra consume;
        st.global.u32 [at], a;
        membar.cta;
        barrier.arrive 1, 64;
        bra done;
        consume:
        barrier.sync 1, 64;
        ld.global.u32 d, [at];
        done:
        """, "a u32", "d u32", "One warp stores and goes on, the other waits and loads.", threads=64,
        trials=1, global_="m b32[32]", values={"a": codes * 2},
        expect={"d": [0] * 32 + codes, "m": codes})


def faults(add):
    for opcode, text in (("trap", "the program executed trap"),
                         ("brkpt", "the program executed brkpt")):
        add("misc/" + opcode, f"{opcode};", desc="Ends the launch with a fault.", trials=1, fault=text)


def forms(add):
    set_halves(add)
    fences(add)
    hints(add)
    clusters(add)
    warps(add)
    barriers(add)
    faults(add)
