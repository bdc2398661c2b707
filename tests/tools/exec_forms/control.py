# SPDX-License-Identifier: Apache-2.0
"""Chapter control: branches, loops, calls; and the asynchronous copies of sm_80."""


def branches(add):
    add("control/bra_divergent", """
        .reg .pred small;
        setp.lt.u32 small, a, 100;
        @small bra yes;
        mul.lo.u32 d, a, 3;
        bra done;
        yes:
        add.u32 d, a, 7;
        done:
        """, "a u32 0..200", "d u32", trials=8)
    add("control/bra_uni", "mov.u32 d, a;\nbra.uni over;\nmov.u32 d, 0;\nover:", "a u32", "d u32",
        trials=2)
    add("control/bra_nested_divergence", """
        .reg .pred p, q;
        .reg .u32 bit;
        and.b32 bit, a, 1;
        setp.eq.u32 p, bit, 1;
        and.b32 bit, a, 2;
        setp.eq.u32 q, bit, 2;
        mov.u32 d, 0;
        @!p bra even;
        @!q bra odd_low;
        add.u32 d, d, 3;
        bra join_odd;
        odd_low:
        add.u32 d, d, 5;
        join_odd:
        mul.lo.u32 d, d, 11;
        bra join;
        even:
        @q bra even_high;
        add.u32 d, d, 17;
        bra join;
        even_high:
        sub.u32 d, d, 23;
        join:
        add.u32 d, d, a;
        """, "a u32", "d u32", trials=8)
    add("control/loop_of_different_lengths", """
        .reg .pred more;
        .reg .u32 n, x;
        mov.u32 n, a;
        mov.u32 x, 1;
        again:
        setp.eq.u32 more, n, 0;
        @more bra done;
        mad.lo.u32 x, x, 1664525, n;
        sub.u32 n, n, 1;
        bra again;
        done:
        mov.u32 d, x;
        """, "a u32 0..40", "d u32", "Lanes leave the loop one after the other.", trials=8)
    add("control/loop_with_break_and_continue", """
        .reg .pred p;
        .reg .u32 n, bit;
        mov.u32 n, 0;
        mov.u32 d, 0;
        again:
        add.u32 n, n, 1;
        setp.gt.u32 p, n, 30;
        @p bra done;
        and.b32 bit, n, 3;
        setp.eq.u32 p, bit, 0;
        @p bra again;
        add.u32 d, d, n;
        setp.gt.u32 p, d, a;
        @p bra done;
        bra again;
        done:
        """, "a u32 0..500", "d u32", trials=8)
    add("control/nested_loops", """
        .reg .pred p;
        .reg .u32 i, j;
        mov.u32 d, 0;
        mov.u32 i, 0;
        outer:
        mov.u32 j, 0;
        inner:
        mad.lo.u32 d, d, 31, j;
        add.u32 j, j, 1;
        setp.le.u32 p, j, i;
        @p bra inner;
        add.u32 i, i, 1;
        setp.lt.u32 p, i, a;
        @p bra outer;
        """, "a u32 0..12", "d u32", trials=4)
    add("control/irreducible_loop", """
        .reg .pred p, odd;
        .reg .u32 n, bit;
        mov.u32 n, a;
        mov.u32 d, 1;
        and.b32 bit, a, 1;
        setp.eq.u32 odd, bit, 1;
        @odd bra second;
        first:
        mad.lo.u32 d, d, 3, 1;
        second:
        mad.lo.u32 d, d, 5, 2;
        sub.u32 n, n, 1;
        setp.gt.s32 p, n, 0;
        @p bra first;
        """, "a u32 0..20", "d u32", "A loop with two entries.", trials=4)
    add("control/brx_idx", """
        .reg .u32 i;
        and.b32 i, a, 3;
        targets: .branchtargets zero, one, two, three;
        brx.idx i, targets;
        zero:
        mov.u32 d, 100;
        bra done;
        one:
        mul.lo.u32 d, a, 3;
        bra done;
        two:
        not.b32 d, a;
        bra done;
        three:
        add.u32 d, a, a;
        done:
        """, "a u32", "d u32", trials=8)
    add("control/predicated", """
        .reg .pred p;
        setp.lt.s32 p, a, 0;
        mov.u32 d, 1;
        mov.u32 e, 2;
        @p add.s32 d, a, 5;
        @!p sub.s32 e, a, 5;
        @p ld.global.u32 f, [m];
        @!p mov.u32 f, 9;
        """, "a s32", "d u32, e u32, f u32", trials=4, global_="m u32[4] bits")
    add("control/exit_of_some_lanes", """
        .reg .u32 i;
        .reg .u64 p, o;
        .reg .pred odd;
        mov.u32 i, %tid.x;
        mul.wide.u32 o, i, 4;
        add.u64 p, m, o;
        and.b32 i, i, 1;
        setp.eq.u32 odd, i, 1;
        st.global.u32 [p], a;
        @odd exit;
        st.global.u32 [p], 5;
        """, "a u32", "", "Half of the lanes leave; the others go on.", trials=2,
        global_="m u32[32]")
    add("control/ret_of_some_lanes", """
        .reg .u32 i;
        .reg .u64 p, o;
        .reg .pred high;
        mov.u32 i, %tid.x;
        mul.wide.u32 o, i, 4;
        add.u64 p, m, o;
        setp.gt.u32 high, i, 20;
        @high ret;
        activemask.b32 i;
        st.global.u32 [p], i;
        """, "", "", trials=1, global_="m u32[32]")
    add("control/select_by_vote_then_branch", """
        .reg .pred p, all;
        setp.lt.u32 p, a, 4294967000;
        vote.sync.all.pred all, p, -1;
        mov.u32 d, 1;
        @all bra over;
        mov.u32 d, 2;
        over:
        """, "a u32 edge", "d u32", trials=8)


def calls(add):
    add("control/call_direct", """
        call (d), call_direct_f, (a, b);
        """, "a u32, b u32", "d u32", trials=4, module="""
.func (.reg .u32 out) call_direct_f(.reg .u32 x, .reg .u32 y)
{
    mad.lo.u32 out, x, y, 1;
    ret;
}
""")
    add("control/call_with_param_space", """
        {
        .param .b32 p0;
        .param .b64 p1;
        .param .b32 r0;
        st.param.b32 [p0], a;
        st.param.b64 [p1], b;
        call.uni (r0), call_param_f, (p0, p1);
        ld.param.b32 d, [r0];
        }
        """, "a b32, b b64", "d b32", trials=4, module="""
.func (.param .b32 r) call_param_f(.param .b32 x, .param .b64 y)
{
    .reg .b32 u;
    .reg .b64 v;
    .reg .b32 lo, hi;
    ld.param.b32 u, [x];
    ld.param.b64 v, [y];
    mov.b64 {lo, hi}, v;
    xor.b32 lo, lo, hi;
    add.u32 u, u, lo;
    st.param.b32 [r], u;
    ret;
}
""")
    add("control/call_with_struct", """
        {
        .param .align 16 .b8 s[32];
        .param .align 16 .b8 r[16];
        st.param.v4.b32 [s], {a0, a1, a2, a3};
        st.param.v2.b32 [s+16], {a3, a0};
        st.param.b64 [s+24], 7;
        call (r), call_struct_f, (s);
        ld.param.v4.b32 {d0, d1, d2, d3}, [r];
        }
        """, "a u32[4]", "d u32[4]", trials=4, module="""
.func (.param .align 16 .b8 out[16]) call_struct_f(.param .align 16 .b8 in[32])
{
    .reg .b32 x<4>;
    .reg .b32 y<2>;
    .reg .b64 z;
    .reg .b32 w;
    ld.param.v4.b32 {x0, x1, x2, x3}, [in];
    ld.param.v2.b32 {y0, y1}, [in+16];
    ld.param.b64 z, [in+24];
    cvt.u32.u64 w, z;
    add.u32 x0, x0, y0;
    add.u32 x1, x1, y1;
    mul.lo.u32 x2, x2, w;
    st.param.v4.b32 [out], {x3, x2, x1, x0};
    ret;
}
""")
    add("control/call_recursive", """
        .reg .u32 n;
        and.b32 n, a, 15;
        call (d), call_recursive_f, (n);
        """, "a u32", "d u32", "Lanes recurse to different depths.", trials=2, module="""
.func (.reg .u32 out) call_recursive_f(.reg .u32 n)
{
    .reg .pred base;
    .reg .u32 one, two, x;
    setp.lt.u32 base, n, 2;
    mov.u32 out, n;
    @base ret;
    sub.u32 x, n, 1;
    call (one), call_recursive_f, (x);
    sub.u32 x, n, 2;
    call (two), call_recursive_f, (x);
    add.u32 out, one, two;
    ret;
}
""")
    add("control/call_indirect", """
        .reg .u64 f;
        .reg .u32 bit;
        .reg .pred odd;
        and.b32 bit, a, 1;
        setp.eq.u32 odd, bit, 1;
        mov.u64 f, call_indirect_even;
        @odd mov.u64 f, call_indirect_odd;
        shape: .callprototype (.param .b32 _) _ (.param .b32 _);
        {
        .param .b32 p;
        .param .b32 r;
        st.param.b32 [p], a;
        call (r), f, (p), shape;
        ld.param.b32 d, [r];
        }
        """, "a u32", "d u32", "Lanes of one warp call different functions.", trials=4, module="""
.func (.param .b32 r) call_indirect_even(.param .b32 x)
{
    .reg .b32 u;
    ld.param.b32 u, [x];
    shr.u32 u, u, 1;
    st.param.b32 [r], u;
    ret;
}
.func (.param .b32 r) call_indirect_odd(.param .b32 x)
{
    .reg .b32 u;
    ld.param.b32 u, [x];
    mad.lo.u32 u, u, 3, 1;
    st.param.b32 [r], u;
    ret;
}
""")
    add("control/call_through_table", """
        .reg .u64 p, o, f;
        .reg .u32 i;
        and.b32 i, a, 1;
        mul.wide.u32 o, i, 8;
        mov.u64 p, call_table;
        add.u64 p, p, o;
        ld.global.u64 f, [p];
        shape: .callprototype (.param .b32 _) _ (.param .b32 _);
        {
        .param .b32 q;
        .param .b32 r;
        st.param.b32 [q], a;
        call (r), f, (q), shape;
        ld.param.b32 d, [r];
        }
        """, "a u32", "d u32", trials=4, module="""
.func (.param .b32 r) call_table_f(.param .b32 x)
{
    .reg .b32 u;
    ld.param.b32 u, [x];
    not.b32 u, u;
    st.param.b32 [r], u;
    ret;
}
.func (.param .b32 r) call_table_g(.param .b32 x)
{
    .reg .b32 u;
    ld.param.b32 u, [x];
    add.u32 u, u, 1000;
    st.param.b32 [r], u;
    ret;
}
.global .align 8 .u64 call_table[2] = {call_table_f, call_table_g};
""")
    add("control/call_with_local_memory", """
        call (d), call_local_f, (a, b);
        """, "a u32, b u32", "d u32", "Every call has its own local memory.", trials=2, module="""
.func (.reg .u32 out) call_local_f(.reg .u32 x, .reg .u32 y)
{
    .local .align 8 .b8 place[16];
    .reg .u32 z;
    .reg .pred last;
    st.local.u32 [place], x;
    st.local.u32 [place+4], y;
    and.b32 z, x, 7;
    setp.eq.u32 last, z, 0;
    mov.u32 out, 0;
    @last bra done;
    sub.u32 z, x, 1;
    call (out), call_local_f, (z, y);
    done:
    ld.local.u32 z, [place];
    mad.lo.u32 out, out, 5, z;
    ld.local.u32 z, [place+4];
    xor.b32 out, out, z;
    ret;
}
""")
    add("control/call_noreturn_value", """
        .reg .u64 p, o;
        .reg .u32 i;
        mov.u32 i, %tid.x;
        mul.wide.u32 o, i, 4;
        add.u64 p, m, o;
        call call_void_f, (p, a);
        """, "a u32", "", trials=2, global_="m u32[32]", module="""
.func call_void_f(.reg .u64 p, .reg .u32 x)
{
    add.u32 x, x, x;
    st.global.u32 [p], x;
    ret;
}
""")


def copies(add):
    start = """
        .reg .u32 i, s;
        .reg .u64 g, o;
        mov.u32 i, %tid.x;
        mul.wide.u32 o, i, {0};
        add.u64 g, m, o;
        mov.u32 s, t;
        mad.lo.u32 s, i, {0}, s;
        """
    wait = "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;"
    for level, sizes in (("ca", (4, 8, 16)), ("cg", (16,))):
        for n in sizes:
            arrays = {"global_": f"m b8[{n * 32}] bits", "shared": f"t b8[{n * 32}] bits"}
            op = f"cp.async.{level}.shared.global"
            add(f"async_copy/cp_async_{level}_{n}", start.format(n) + f"{op} [s], [g], {n};\n" + wait,
                "", "", trials=2, **arrays)
            add(f"async_copy/cp_async_{level}_{n}_source_size",
                start.format(n) + f"{op} [s], [g], {n}, z;\n" + wait, f"z u32 0..{n}", "",
                "Bytes beyond the source size become zero.", trials=4, **arrays)
            add(f"async_copy/cp_async_{level}_{n}_ignore_source",
                start.format(n) + f"{op} [s], [g], {n}, p;\n" + wait, "p pred", "",
                "A true predicate makes the whole copy zeros.", trials=2, **arrays)
            for hint in ("64B", "128B", "256B"):
                add(f"async_copy/cp_async_{level}_{n}_l2_{hint.lower()}", start.format(n) +
                    f"cp.async.{level}.shared.global.L2::{hint} [s], [g], {n};\n" + wait, "", "",
                    trials=1, **arrays)
    arrays = {"global_": "m b8[512] bits", "shared": "t b8[512]"}
    add("async_copy/cp_async_wait_all", start.format(16) +
        "cp.async.cg.shared::cta.global [s], [g], 16;\ncp.async.wait_all;\nbar.sync 0;", "", "",
        trials=2, **arrays)
    add("async_copy/cp_async_predicated", start.format(16) +
        "@p cp.async.cg.shared.global [s], [g], 16;\n" + wait, "p pred", "", trials=2, **arrays)
    add("async_copy/cp_async_cache_hint", start.format(16) + """
        .reg .b64 policy;
        createpolicy.fractional.L2::evict_first.b64 policy, 1.0;
        cp.async.cg.shared.global.L2::cache_hint [s], [g], 16, policy;
        """ + wait, "", "", trials=1, **arrays)
    add("async_copy/cp_async_two_groups", start.format(8) + """
        cp.async.ca.shared.global [s], [g], 8;
        cp.async.commit_group;
        cp.async.ca.shared.global [s+256], [g+256], 8;
        cp.async.commit_group;
        cp.async.wait_group 1;
        ld.shared.u32 d, [s];
        cp.async.wait_group 0;
        ld.shared.u32 e, [s+256];
        """, "", "d u32, e u32", "The older group is there first.", trials=2, **arrays)
    add("async_copy/cp_async_empty_group", start.format(8) + """
        cp.async.commit_group;
        cp.async.wait_group 0;
        cp.async.ca.shared.global [s], [g], 8;
        cp.async.wait_all;
        ld.shared.u32 d, [s+4];
        """, "", "d u32", trials=1, **arrays)
    add("async_copy/cp_async_ring_of_stages", """
        .reg .u32 i, s, stage, x;
        .reg .u64 g, o;
        .reg .pred more;
        mov.u32 i, %tid.x;
        mul.wide.u32 o, i, 4;
        add.u64 g, m, o;
        mov.u32 x, t;
        mad.lo.u32 s, i, 4, x;
        cp.async.ca.shared.global [s], [g], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [s+128], [g+128], 4;
        cp.async.commit_group;
        mov.u32 stage, 0;
        mov.u32 d, 0;
        again:
        cp.async.wait_group 1;
        bar.warp.sync -1;
        and.b32 x, stage, 1;
        mad.lo.u32 x, x, 128, s;
        ld.shared.u32 i, [x];
        mad.lo.u32 d, d, 7, i;
        add.u64 g, g, 128;
        setp.lt.u32 more, stage, 2;
        @more cp.async.ca.shared.global [x], [g+128], 4;
        cp.async.commit_group;
        add.u32 stage, stage, 1;
        setp.lt.u32 more, stage, 4;
        @more bra again;
        """, "", "d u32", "Two buffers in turn, as in a kernel's main loop.", trials=2, **arrays)


def forms(add):
    branches(add)
    calls(add)
    copies(add)
