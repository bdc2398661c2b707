# SPDX-License-Identifier: Apache-2.0
"""Chapters warp, sync and special_registers."""


def shuffles(add):
    for mode in ("idx", "up", "down", "bfly"):
        clamp = 0 if mode == "up" else 31
        add(f"warp/shfl_sync_{mode}_b32", f"shfl.sync.{mode}.b32 d|p, a, b, {clamp}, 0xffffffff;",
            "a b32 bits, b u32 0..40", "d b32, p pred", "Each lane with its own distance.")
        for width in (2, 4, 8, 16):
            c = ((32 - width) << 8) | (0 if mode == "up" else 31)
            add(f"warp/shfl_sync_{mode}_b32_width{width}",
                f"shfl.sync.{mode}.b32 d|p, a, b, 0x{c:x}, 0xffffffff;",
                "a b32 bits, b u32 0..33", "d b32, p pred", f"Segments of {width} lanes.", trials=4)
        # The clamp and the mask as data, the same in the whole warp.
        add(f"warp/shfl_sync_{mode}_b32_any_clamp", f"""
            .reg .u32 w;
            mov.u32 w, %ctaid.x;
            mul.lo.u32 w, w, 0x35b1;
            and.b32 w, w, 0x1f1f;
            shfl.sync.{mode}.b32 d|p, a, b, w, 0xffffffff;
            """, "a b32 bits, b u32 0..31", "d b32, p pred", trials=32)
        add(f"warp/shfl_sync_{mode}_b32_immediate",
            f"shfl.sync.{mode}.b32 d, a, 3, {clamp}, -1;", "a b32 bits", "d b32", trials=4)


def votes(add):
    for mode in ("all", "any", "uni"):
        for how, ins, before in (("", "a pred", ""),
                                 ("_rare", "x b32 0..40", ".reg .pred a;\nsetp.eq.u32 a, x, 3;\n"),
                                 ("_often", "x b32 0..40", ".reg .pred a;\nsetp.ne.u32 a, x, 3;\n")):
            add(f"warp/vote_sync_{mode}_pred{how}", before + f"vote.sync.{mode}.pred p, a, 0xffffffff;",
                ins, "p pred", trials=8)
        add(f"warp/vote_sync_{mode}_not", f"vote.sync.{mode}.pred p, !a, -1;", "a pred", "p pred",
            trials=8)
    add("warp/vote_sync_ballot_b32", "vote.sync.ballot.b32 d, a, 0xffffffff;", "a pred", "d b32",
        trials=8)
    add("warp/vote_sync_ballot_partial", """
        .reg .pred odd;
        .reg .u32 lane, bit;
        mov.u32 lane, %laneid;
        and.b32 bit, lane, 1;
        setp.eq.u32 odd, bit, 1;
        mov.b32 d, 0;
        @odd bra others;
        vote.sync.ballot.b32 d, a, 0x55555555;
        bra done;
        others:
        vote.sync.ballot.b32 d, a, 0xaaaaaaaa;
        done:
        """, "a pred", "d b32", "Lanes outside of the mask give 0.", trials=8)


def matches(add):
    for t in ("b32", "b64"):
        add(f"warp/match_any_sync_{t}", f"match.any.sync.{t} d, a, 0xffffffff;", f"a {t} 0..6",
            "d b32", trials=8)
        add(f"warp/match_any_sync_{t}_bits", f"match.any.sync.{t} d, a, 0xffffffff;", f"a {t} edge",
            "d b32", trials=8)
        add(f"warp/match_all_sync_{t}", f"""
            .reg .u32 block;
            .reg .pred even;
            mov.u32 block, %ctaid.x;
            and.b32 block, block, 1;
            setp.eq.u32 even, block, 0;
            @even mov.{t} a, 42;
            match.all.sync.{t} d|p, a, 0xffffffff;
            """, f"a {t} 0..1", "d b32, p pred", "All equal in every other block.", trials=8)


def reductions(add):
    for op in ("add", "min", "max"):
        for t in ("s32", "u32"):
            add(f"warp/redux_sync_{op}_{t}", f"redux.sync.{op}.{t} d, a, 0xffffffff;", f"a {t}",
                f"d {t}", trials=8)
    for op in ("and", "or", "xor"):
        add(f"warp/redux_sync_{op}_b32", f"redux.sync.{op}.b32 d, a, 0xffffffff;", "a b32", "d b32",
            trials=8)
        add(f"warp/redux_sync_{op}_b32_edge", f"redux.sync.{op}.b32 d, a, 0xffffffff;",
            "a b32 65520..65535", "d b32", trials=8)
    add("warp/redux_sync_partial", """
        .reg .pred low;
        .reg .u32 lane;
        mov.u32 lane, %laneid;
        setp.lt.u32 low, lane, 9;
        @low bra first;
        redux.sync.add.s32 d, a, 0xfffffe00;
        bra done;
        first:
        redux.sync.add.s32 d, a, 0x1ff;
        done:
        """, "a s32", "d s32", trials=8)


def whole_warp(add):
    add("warp/elect_sync", """
        .reg .b32 leader;
        elect.sync leader|p, 0xffffffff;
        mov.b32 d, leader;
        """, "", "p pred, d b32", trials=1)
    add("warp/elect_sync_sink", "elect.sync _|p, 0xffffffff;", "", "p pred", trials=1)
    add("warp/activemask_b32", "activemask.b32 d;", "", "d b32", trials=1)
    add("warp/bar_warp_sync", """
        .reg .u32 i, p;
        mov.u32 i, %tid.x;
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        st.shared.u32 [p], a;
        bar.warp.sync 0xffffffff;
        xor.b32 i, i, 9;
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        ld.shared.u32 d, [p];
        """, "a u32", "d u32", trials=4, shared="m b32[32]")


def barriers(add):
    exchange = """
        .reg .u32 i, p;
        mov.u32 i, %tid.x;
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        st.shared.u32 [p], a;
        {0}
        xor.b32 i, i, 97;
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        ld.shared.u32 d, [p];
        """
    for name, text in (("bar_sync", "bar.sync 1;"), ("bar_sync_count", "bar.sync 3, 128;"),
                       ("barrier_sync", "barrier.sync 2;"), ("bar_cta_sync", "bar.cta.sync 4;"),
                       ("barrier_cta_sync_aligned", "barrier.cta.sync.aligned 5, 128;"),
                       ("bar_sync_register", ".reg .u32 b;\nand.b32 b, 9, 15;\nbar.sync b;"),
                       ("membar_cta", "membar.cta;\nbar.sync 0;"),
                       ("membar_gl", "membar.gl;\nbar.sync 0;"),
                       ("membar_sys", "membar.sys;\nbar.sync 0;"),
                       ("fence_sc_cta", "fence.sc.cta;\nbar.sync 0;"),
                       ("fence_acq_rel_gpu", "fence.acq_rel.gpu;\nbar.sync 0;"),
                       ("fence_acq_rel_cluster", "fence.acq_rel.cluster;\nbar.sync 0;"),
                       ("fence_acq_rel_sys", "fence.acq_rel.sys;\nbar.sync 0;"),
                       ("fence_proxy_async", "fence.proxy.async;\nbar.sync 0;"),
                       ("fence_proxy_alias", "fence.proxy.alias;\nbar.sync 0;")):
        add(f"sync/{name}", exchange.format(text), "a u32", "d u32", threads=128, trials=2,
            shared="m b32[128]")
    for op in ("and", "or"):
        for how, test in (("", "setp.lt.u32 q, a, 1000;"), ("_one", "setp.eq.u32 q, i, 77;")):
            add(f"sync/bar_red_{op}_pred{how}", f"""
                .reg .pred q;
                .reg .u32 i;
                mov.u32 i, %tid.x;
                {test}
                bar.red.{op}.pred p, 0, q;
                barrier.cta.red.{op}.pred r, 1, 128, !q;
                """, "a u32 0..1200", "p pred, r pred", threads=128, trials=2)
    add("sync/bar_red_popc_u32", "bar.red.popc.u32 d, 0, q;\nbar.red.popc.u32 e, 2, 128, !q;",
        "q pred", "d u32, e u32", threads=128, trials=2)
    add("sync/bar_arrive_producer_consumer", """
        .reg .u32 i, p;
        .reg .pred produces;
        mov.u32 i, %tid.x;
        mov.u32 p, m;
        setp.lt.u32 produces, i, 64;
        mov.u32 d, 0;
        @!produces bra consume;
        mad.lo.u32 p, i, 4, p;
        st.shared.u32 [p], a;
        bar.arrive 1, 128;
        bra done;
        consume:
        bar.sync 1, 128;
        sub.u32 i, i, 64;
        mad.lo.u32 p, i, 4, p;
        ld.shared.u32 d, [p];
        done:
        """, "a u32", "d u32", "Half of the block arrives, the other half waits.", threads=128,
        trials=2, shared="m b32[64]")
    add("sync/barrier_sync_half_block", """
        .reg .u32 i, p;
        .reg .pred second;
        mov.u32 i, %tid.x;
        setp.ge.u32 second, i, 64;
        @second bra other;
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        st.shared.u32 [p], a;
        barrier.sync 6, 64;
        mov.u32 p, m;
        xor.b32 i, i, 33;
        mad.lo.u32 p, i, 4, p;
        ld.shared.u32 d, [p];
        bra done;
        other:
        mov.u32 d, a;
        barrier.sync 7, 64;
        done:
        """, "a u32", "d u32", "Two barriers, each for half of the block.", threads=128, trials=2,
        shared="m b32[64]")
    add("sync/barrier_in_a_loop", """
        .reg .u32 i, p, q, n;
        .reg .pred more;
        mov.u32 i, %tid.x;
        mov.u32 d, a;
        mov.u32 n, 0;
        again:
        mov.u32 p, m;
        mad.lo.u32 p, i, 4, p;
        st.shared.u32 [p], d;
        bar.sync 0;
        add.u32 q, i, 1;
        and.b32 q, q, 127;
        mov.u32 p, m;
        mad.lo.u32 p, q, 4, p;
        ld.shared.u32 q, [p];
        add.u32 d, d, q;
        bar.sync 0;
        add.u32 n, n, 1;
        setp.lt.u32 more, n, 10;
        @more bra again;
        """, "a u32", "d u32", threads=128, trials=2, shared="m b32[128]")


def special_registers(add):
    def put(name, registers, **options):
        t = options.pop("t", "u32")
        body = "\n".join(f"mov.{t} d{i}, %{r};" for i, r in enumerate(registers))
        add(f"special_registers/{name}", body, "",
            ", ".join(f"d{i} {t}" for i in range(len(registers))), ", ".join(registers), **options)

    put("tid", ["tid.x", "tid.y", "tid.z"], threads="8x4x3", trials=1)
    put("ntid", ["ntid.x", "ntid.y", "ntid.z"], threads="8x4x3", trials=1)
    put("ctaid", ["ctaid.x", "ctaid.y", "ctaid.z"], threads=32, trials="3x2x4")
    put("nctaid", ["nctaid.x", "nctaid.y", "nctaid.z"], threads=32, trials="3x2x4")
    put("laneid", ["laneid"], threads="7x3x4", trials=1)
    put("lanemask", ["lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"],
        threads=64, trials=1)
    put("cluster_of_one", ["cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank",
                           "cluster_nctarank", "clusterid.x", "nclusterid.x"], trials=4)
    put("cluster", ["cluster_ctaid.x", "cluster_ctaid.y", "cluster_nctaid.x", "cluster_nctaid.y",
                    "cluster_ctarank", "cluster_nctarank", "clusterid.x", "clusterid.y",
                    "nclusterid.x", "nclusterid.y"], trials="4x4", cluster="2x2")
    put("dynamic_smem_size", ["dynamic_smem_size"], trials=1, dynamic=2048,
        module=".extern .shared .align 16 .b8 dynamic_smem_size_pool[];")
    add("special_registers/is_explicit_cluster", "mov.pred p, %is_explicit_cluster;", "", "p pred",
        trials=2, cluster=2)
    add("special_registers/clock_goes_up", """
        .reg .u32 c, e;
        .reg .u64 c64, e64, t, u;
        mov.u32 c, %clock;
        mov.u64 c64, %clock64;
        mov.u64 t, %globaltimer;
        bar.warp.sync -1;
        mov.u32 e, %clock;
        mov.u64 e64, %clock64;
        mov.u64 u, %globaltimer;
        sub.u32 e, e, c;
        setp.lt.u32 p, e, 1000000000;
        setp.gt.u64 q, e64, c64;
        setp.ge.u64 r, u, t;
        """, "", "p pred, q pred, r pred", trials=1)
    add("special_registers/places", """
        .reg .u32 x, y;
        mov.u32 x, %smid;
        mov.u32 y, %nsmid;
        setp.lt.u32 p, x, y;
        mov.u32 x, %warpid;
        mov.u32 y, %nwarpid;
        setp.lt.u32 q, x, y;
        """, "", "p pred, q pred", "Below their counts.", threads=64, trials=2)


def forms(add):
    shuffles(add)
    votes(add)
    matches(add)
    reductions(add)
    whole_warp(add)
    barriers(add)
    special_registers(add)
