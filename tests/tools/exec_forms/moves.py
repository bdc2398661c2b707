# SPDX-License-Identifier: Apache-2.0
"""Chapter data_movement: mov, ld, st, address spaces; misc."""

VECTORS = [("b32", 1), ("b32", 2), ("b32", 4), ("b64", 1), ("b64", 2), ("b16", 1), ("b16", 2), ("b16", 4),
           ("f32", 4), ("f64", 2), ("u8", 1), ("u8", 2), ("u8", 4), ("s8", 1), ("s16", 4), ("u32", 2)]


def size(t):
    return int(t[1:]) // 8


def registers(name, n):
    names = [f"{name}{i}" for i in range(n)]
    return names[0] if n == 1 else "{" + ", ".join(names) + "}"


def loads_and_stores(add):
    """A round trip: each thread stores its values and loads those of the neighbour."""
    for space in ("global", "shared"):
        for t, n in VECTORS:
            v = "" if n == 1 else f".v{n}"
            step = size(t) * n
            address = "u64" if space == "global" else "u32"
            wide = "mul.wide.u32 p, i, {0};\nadd.u64 p, p, m;" if space == "global" else \
                "mov.u32 p, m;\nmad.lo.u32 p, i, {0}, p;"
            body = f"""
                .reg .u32 i;
                .reg .{address} p;
                mov.u32 i, %tid.x;
                {wide.format(step)}
                st.{space}{v}.{t} [p], {registers('a', n)};
                bar.sync 0;
                xor.b32 i, i, 5;
                {wide.format(step)}
                ld.{space}{v}.{t} {registers('d', n)}, [p];
                """
            ins = ", ".join(f"a{i} {t}" for i in range(n))
            outs = ", ".join(f"d{i} {t}" for i in range(n))
            array = f"m b8[{step * 32}]"
            kind = {"global": "global_", "shared": "shared"}[space]
            add(f"data_movement/ld_st_{space}{v.replace('.', '_')}_{t}", body, ins, outs,
                f"Round trip through {space} memory.", trials=4, **{kind: array})


def extension(add):
    for t in ("s8", "u8", "s16", "u16", "b16", "s32", "u32"):
        for wide in ("32", "64"):
            if int(t[1:]) >= int(wide):
                continue
            reg = ("s" if t[0] == "s" else "u") + wide
            add(f"data_movement/ld_global_{t}_into_{reg}", f"""
                .reg .u64 p;
                .reg .u32 i;
                mov.u32 i, %tid.x;
                mul.wide.u32 p, i, {size(t)};
                add.u64 p, p, m;
                ld.global.{t} d, [p];
                """, "", f"d {reg}", "Sign or zero extension into a wider register.",
                global_=f"m b8[{size(t) * 32}] bits", trials=4)
    add("data_movement/st_global_u8_of_u32", """
        .reg .u64 p;
        .reg .u32 i;
        mov.u32 i, %tid.x;
        mul.wide.u32 p, i, 2;
        add.u64 p, p, m;
        st.global.u8 [p], a;
        st.global.b8 [p+1], b;
        """, "a u32, b s64", "", "Stores the low byte.", global_="m b8[64]",
        trials=4)


GENERIC = {
    "global": ("global_", "mov.u64 g, m;"),
    "shared": ("shared", ".reg .u64 s;\nmov.u64 s, m;\ncvta.shared.u64 g, s;"),
}


def generic(add):
    for space, (kind, address) in GENERIC.items():
        add(f"data_movement/ld_st_generic_{space}", f"""
            .reg .u64 g, o;
            .reg .u32 i;
            {address}
            mov.u32 i, %tid.x;
            mul.wide.u32 o, i, 4;
            add.u64 g, g, o;
            ld.u32 d, [g];
            add.u32 i, d, 1;
            st.u32 [g], i;
            """, "", "d u32", f"A generic address of {space} memory.", trials=2,
            **{kind: "m b32[32] bits"})
    add("data_movement/ld_st_generic_local", """
        .local .align 8 .b8 m[64];
        .reg .u64 l, g;
        mov.u64 l, m;
        cvta.local.u64 g, l;
        st.local.u32 [l+4], a;
        ld.u32 d, [g+4];
        st.u32 [g+8], b;
        ld.local.u32 e, [l+8];
        """, "a u32, b u32", "d u32, e u32")
    add("data_movement/cvta_to_shared", """
        .reg .u64 s, g, t;
        .reg .u32 s32, t32;
        .reg .pred same;
        mov.u64 s, m;
        cvta.shared.u64 g, s;
        cvta.to.shared.u64 t, g;
        setp.eq.u64 p, s, t;
        isspacep.shared q, g;
        """, "", "p pred, q pred", "There and back again.", trials=1, shared="m b32[32]")
    add("data_movement/cvta_const", """
        .reg .u64 c, g, o;
        .reg .u32 i;
        mov.u64 c, cvta_const_table;
        cvta.const.u64 g, c;
        mov.u32 i, %tid.x;
        and.b32 i, i, 3;
        mul.wide.u32 o, i, 4;
        add.u64 g, g, o;
        ld.u32 d, [g];
        """, "", "d u32", trials=1,
        module=".const .align 4 .u32 cvta_const_table[4] = {0x11111111, 2, 0x80000000, 0xffffffff};")
    add("data_movement/isspacep", """
        .local .align 4 .b8 l[16];
        .reg .u64 a, g, s, c;
        mov.u64 a, l;
        cvta.local.u64 a, a;
        mov.u64 s, m;
        cvta.shared.u64 s, s;
        mov.u64 c, isspacep_table;
        cvta.const.u64 c, c;
        st.local.u32 [l], 1;
        isspacep.local p0, a;
        isspacep.shared p1, a;
        isspacep.global p2, a;
        isspacep.shared p3, s;
        isspacep.local p4, s;
        isspacep.global p5, n;
        isspacep.shared p6, n;
        isspacep.const p7, c;
        isspacep.shared::cta p8, s;
        """, "", ", ".join(f"p{i} pred" for i in range(9)), trials=1, shared="m b32[32]",
        global_="n b32[32]",
        module=".const .align 4 .u32 isspacep_table = 7;")


def qualified(add):
    """Every ordering and cache qualifier: the value is the same."""
    loads = ["volatile.global", "relaxed.cta.global", "relaxed.gpu.global", "relaxed.sys.global",
             "acquire.cta.global", "acquire.gpu.global", "acquire.sys.global", "weak.global",
             "global.ca", "global.cg", "global.cs", "global.lu", "global.cv", "global.nc",
             "global.ca.nc", "global.L1::evict_last", "global.L1::evict_first", "global.L1::no_allocate",
             "global.L2::128B", "global.L1::no_allocate.L2::256B", "global.nc.L1::evict_last",
             "relaxed.cluster.global", "volatile", "relaxed.gpu", "global.nc.L1::no_allocate.L2::128B"]
    for q in loads:
        add("data_movement/ld_" + q.replace("::", "_").replace(".", "_").lower() + "_u32", f"""
            .reg .u64 p;
            .reg .u32 i;
            mov.u32 i, %tid.x;
            mul.wide.u32 p, i, 4;
            add.u64 p, p, m;
            ld.{q}.u32 d, [p];
            """, "", "d u32", f"ld.{q}.u32", trials=1, global_="m b32[32] bits")
    stores = ["volatile.global", "relaxed.gpu.global", "release.cta.global", "release.gpu.global",
              "release.sys.global", "weak.global", "global.wb", "global.cg", "global.cs", "global.wt",
              "global.L1::evict_last", "relaxed.sys", "global.L1::no_allocate"]
    for q in stores:
        add("data_movement/st_" + q.replace("::", "_").replace(".", "_").lower() + "_u32", f"""
            .reg .u64 p;
            .reg .u32 i;
            mov.u32 i, %tid.x;
            mul.wide.u32 p, i, 4;
            add.u64 p, p, m;
            st.{q}.u32 [p], a;
            """, "a u32", "", f"st.{q}.u32", trials=1, global_="m b32[32]")
    add("data_movement/ld_st_cache_hint", """
        .reg .u64 p, policy;
        .reg .u32 i;
        mov.u32 i, %tid.x;
        mul.wide.u32 p, i, 4;
        add.u64 p, p, m;
        createpolicy.fractional.L2::evict_last.b64 policy, 1.0;
        ld.global.L2::cache_hint.u32 d, [p], policy;
        st.global.L2::cache_hint.u32 [p], a, policy;
        """, "a u32", "d u32", trials=1, global_="m b32[32] bits")
    add("data_movement/ldu_global_v4_f32", "ldu.global.v4.f32 {d0, d1, d2, d3}, [m];", "",
        "d0 f32, d1 f32, d2 f32, d3 f32", trials=1, global_="m f32[4] normal")


def packing(add):
    for t, n, part in (("b32", 2, "b16"), ("b32", 4, "b8"), ("b64", 2, "b32"), ("b64", 4, "b16"),
                       ("b16", 2, "b8"), ("b128", 2, "b64")):
        parts_in = ", ".join(f"a{i} {part}" for i in range(n))
        parts_out = ", ".join(f"e{i} {part}" for i in range(n))
        pack = "{" + ", ".join(f"a{i}" for i in range(n)) + "}"
        unpack = "{" + ", ".join(f"e{i}" for i in range(n)) + "}"
        add(f"data_movement/mov_pack_{t}_{part}", f"mov.{t} d, {pack};", parts_in, f"d {t}")
        add(f"data_movement/mov_unpack_{t}_{part}", f"mov.{t} {unpack}, a;", f"a {t}", parts_out)
    add("data_movement/mov_unpack_sink", "mov.b64 {_, d}, a;\nmov.b32 {e, _}, b;", "a b64, b b32",
        "d b32, e b16", "The sink takes a part that nobody wants.")
    for t in ("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64", "pred", "b128"):
        add(f"data_movement/mov_{t}", f"mov.{t} d, a;", f"a {t}", f"d {t}")
    add("data_movement/mov_immediates", """
        mov.u32 d0, 0x7fffffff;
        mov.u32 d1, 0b101;
        mov.u32 d2, 0777;
        mov.s32 d3, -5;
        mov.f32 d4, 0f40490fdb;
        mov.f64 d5, 0d400921fb54442d18;
        mov.f32 d6, 1.5;
        mov.u32 d7, 3 * (4 + 1) - 2;
        mov.u64 d8, 0xffffffffffffffff;
        mov.f64 d9, -2.5e-3;
        mov.u32 d10, ~0;
        mov.u32 d11, 7 > 3 ? 10 : 20;
        mov.s32 d12, -7 / 2;
        mov.u32 d13, 1 << 31;
        """, "", "d0 u32, d1 u32, d2 u32, d3 s32, d4 f32, d5 f64, d6 f32, d7 u32, d8 u64, d9 f64, "
        "d10 u32, d11 u32, d12 s32, d13 u32", "Constants in every notation.", trials=1)
    add("data_movement/mov_address_of_variable", """
        .reg .u64 p, q;
        mov.u64 p, mov_table;
        mov.u64 q, mov_table+8;
        ld.global.u32 d, [p+4];
        ld.global.u32 e, [q];
        ld.global.u32 f, [mov_table+12];
        """, "", "d u32, e u32, f u32", trials=1,
        module=".global .align 8 .u32 mov_table[4] = {10, 20, 30, 40};")


def variables(add):
    add("data_movement/ld_const", """
        .reg .u32 i;
        .reg .u64 p, o;
        mov.u32 i, %tid.x;
        and.b32 i, i, 7;
        mul.wide.u32 o, i, 4;
        mov.u64 p, ld_const_table;
        add.u64 p, p, o;
        ld.const.f32 d, [p];
        ld.const.v2.u32 {e, f}, [ld_const_pair];
        """, "", "d f32, e u32, f u32", trials=1,
        module=".const .align 4 .f32 ld_const_table[8] = {0f3f800000, 2.0, -3.0, 0f7f800000, 0.5, 0.0, "
        "-0.0, 1e10};\n.const .align 8 .u32 ld_const_pair[2] = {1, 0xdeadbeef};")
    add("data_movement/ld_st_local", """
        .local .align 16 .b8 m[128];
        .reg .u32 i;
        .reg .u64 p, o;
        mov.u64 p, m;
        and.b32 i, a, 15;
        mul.wide.u32 o, i, 8;
        add.u64 o, o, p;
        st.local.v2.u32 [o], {a, b};
        ld.local.u64 d, [o];
        st.local.u8 [m+3], b;
        ld.local.u8 e, [m+3];
        st.local.v4.f32 [m+16], {c, c, c, c};
        ld.local.v4.f32 {_, f, _, _}, [m+16];
        """, "a u32, b u32, c f32", "d u64, e u8, f f32", "Addresses that depend on data.")
    add("data_movement/ld_global_initialised", """
        ld.global.u8 d, [init_bytes+2];
        ld.global.u16 e, [init_shorts+2];
        ld.global.f64 f, [init_double];
        ld.global.u32 g, [init_partly+8];
        .reg .u64 p;
        ld.global.u64 p, [init_pointer];
        ld.u32 h, [p];
        """, "", "d u8, e u16, f f64, g u32, h u32",
        "Initialised variables; what an initialiser leaves out is zero.", trials=1,
        module="""
.global .align 1 .b8 init_bytes[4] = {1, 2, 3, 255};
.global .align 2 .u16 init_shorts[3] = {1, 65535, 3};
.global .align 8 .f64 init_double = 0d3ff8000000000000;
.global .align 4 .u32 init_partly[4] = {5, 6};
.global .align 4 .u32 init_target[2] = {77, 88};
.global .align 8 .u64 init_pointer = generic(init_target)+4;
""")
    add("data_movement/prefetch", """
        prefetch.global.L1 [m];
        prefetch.global.L2 [m];
        prefetch.global.L2::evict_last [m];
        prefetch.L1 [m];
        prefetchu.L1 [m];
        ld.global.u32 d, [m];
        """, "", "d u32", "A prefetch changes nothing.", trials=1, global_="m b32[32] bits")
    add("misc/createpolicy_and_applypriority", """
        .reg .b64 p;
        createpolicy.fractional.L2::evict_first.b64 p, 0.5;
        ld.global.L2::cache_hint.u32 d, [m], p;
        applypriority.global.L2::evict_normal [m], 128;
        """, "", "d u32", trials=1, global_="m b32[32] bits")
    add("misc/dynamic_shared", """
        .reg .u32 i, p, q;
        mov.u32 i, %tid.x;
        mov.u32 q, dynamic_pool;
        mad.lo.u32 p, i, 4, q;
        st.shared.u32 [p+4096], a;
        bar.sync 0;
        xor.b32 i, i, 31;
        mad.lo.u32 p, i, 4, q;
        ld.shared.u32 d, [p+4096];
        """, "a u32", "d u32", trials=4, dynamic=8192,
        module=".extern .shared .align 16 .b8 dynamic_pool[];")
    add("misc/nested_scopes", """
        .reg .u32 x;
        mov.u32 x, a;
        {
        .reg .u32 x;
        mov.u32 x, b;
        again:
        add.u32 d, x, 1;
        }
        {
        .reg .f32 x;
        cvt.rn.f32.u32 x, a;
        again:
        mov.b32 e, x;
        }
        mov.u32 f, x;
        """, "a u32, b u32", "d u32, e b32, f u32", "Names and labels are those of the inner scope.")
    add("misc/parameterised_registers", """
        .reg .b32 r<5>;
        mov.b32 r0, a;
        mov.b32 r4, b;
        add.u32 r3, r0, r4;
        mov.b32 d, r3;
        """, "a b32, b b32", "d b32")
    add("misc/nanosleep_and_pmevent", """
        nanosleep.u32 20;
        pmevent 1;
        mov.u32 d, a;
        """, "a u32", "d u32", trials=1)
    add("misc/pragma_and_loc", """
        .pragma "nounroll";
        mov.u32 d, a;
        """, "a u32", "d u32", trials=1)


def forms(add):
    loads_and_stores(add)
    extension(add)
    generic(add)
    qualified(add)
    packing(add)
    variables(add)
