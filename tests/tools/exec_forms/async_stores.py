# SPDX-License-Identifier: Apache-2.0
"""Stores and additions of sm_100 that arrive in global memory some time before the end, and st.bulk."""


def forms(add):
    for kind, size in (("b8", 1), ("u16", 2), ("f32", 4), ("b64", 8)):
        reg = {1: "b8", 8: "b64"}.get(size, kind)
        values = [(i + 1) * 0x0102030405060708 & ((1 << 8 * size) - 1) for i in range(32)]
        total = sum(v << 8 * size * i for i, v in enumerate(values))
        make = f"mul.lo.u64 w, w, 0x{0x0102030405060708:x};\n" + {
            8: "mov.b64 v, w;", 4: "cvt.u32.u64 n, w; mov.b32 v, n;", 2: "cvt.u16.u64 v, w;", 1: "cvt.u8.u64 v, w;"}[size]
        add(f"async_bulk/st_async_release_{kind}", f"""
            .reg .u32 i, n; .reg .u64 w, at; .reg .{reg} v;
            mov.u32 i, %tid.x;
            add.u32 n, i, 1;
            cvt.u64.u32 w, n;
            {make}
            mul.wide.u32 at, i, {size};
            add.u64 at, at, g;
            st.async.release.gpu.global.{kind} [at], v;
            """, target="sm_100", trials=1, global_=f"g b32[{8 * size}] zero",
            expect={"g": [total >> 32 * i & 0xffffffff for i in range(8 * size)]})
    for kind, size in (("u32", 4), ("s64", 8)):
        sums = [sum(i + 1 for i in range(32) if i % 4 == j) for j in range(4)]
        total = sum(s << 8 * size * j for j, s in enumerate(sums))
        add(f"async_bulk/red_async_release_{kind}", f"""
            .reg .u32 i, n; .reg .u64 at; .reg .{kind} v;
            mov.u32 i, %tid.x;
            add.u32 n, i, 1;
            cvt.{kind}.u32 v, n;
            and.b32 n, i, 3;
            mul.wide.u32 at, n, {size};
            add.u64 at, at, g;
            red.async.release.gpu.global.add.{kind} [at], v;
            """, target="sm_100", trials=1, global_=f"g b32[{size}] zero",
            expect={"g": [total >> 32 * i & 0xffffffff for i in range(size)]})
    for form, space, size in (("weak_shared", ".weak.shared::cta", "n"), ("generic", "", "72")):
        add(f"async_bulk/st_bulk_{form}", f"""
            .reg .u32 i, n, a; .reg .u64 at; .reg .pred first;
            mov.u32 i, %tid.x;
            mov.u32 a, m;
            mad.lo.u32 n, i, 4, a;
            st.shared.b32 [n], 0x55aa55aa;
            bar.warp.sync -1;
            setp.eq.u32 first, i, 0;
            mov.u32 n, 72;
            cvt.u64.u32 at, a;
            cvta.shared.u64 at, at;
            @first st.bulk{space} [{"a" if space else "at"}+24], {size}, 0;
            bar.warp.sync -1;
            """, target="sm_100", trials=1, shared="m b32[32] zero",
            expect={"m": [0 if 6 <= i < 24 else 0x55aa55aa for i in range(32)]})
