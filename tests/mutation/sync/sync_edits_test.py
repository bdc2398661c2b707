# SPDX-License-Identifier: Apache-2.0
"""sync_edits.py on a text with one of everything: which mutants there are, and that each changes its line
only."""
import sys

import sync_edits

TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry other() {
  bar.sync 0;
}
.visible .entry k() {
  .reg .pred p;
  // bar.sync 0;
  .loc 1 2 3
A:  @p bar.sync 0;
  { .reg .pred q; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 q, [%r1], %r2; @q bra D; bra AGAIN; D: }
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
  mbarrier.arrive.shared::cta.b64 %rd1, [%r1];
  cp.async.bulk.wait_group 0; bar.sync 1, 128;
  fence.acq_rel.gpu;
  fence.proxy.async.shared::cta;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  atom.acq_rel.gpu.add.u32 %r1, [%r2], 1;
  add.u32 %r1, %r1, 1;
}
"""

# Line, kind, what, and what the statement became.
EXPECTED = [
    (11, "barrier", "removed", "A:"),
    (12, "wait", "removed", "setp.eq.u32 q, 0, 0;"),
    (12, "parity", "the other one", "xor.b32 ww_changed, %r2, 1; mbarrier.try_wait.parity.shared::cta.b64 q, [%r1], ww_changed;"),
    (12, "order", ".relaxed", "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 q, [%r1], %r2;"),
    (13, "arrive", "removed", ""),
    (13, "bytes", "16 bytes more", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 272;"),
    (13, "bytes", "16 bytes fewer", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 240;"),
    (13, "bytes", "no bytes", "mbarrier.arrive.shared::cta.b64 _, [%r1];"),
    (13, "order", ".relaxed", "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%r1], 256;"),
    (14, "arrive", "removed", ""),
    (14, "order", ".relaxed for .release", "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r1];"),
    (14, "order", ".cta for .cluster", "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r1];"),
    (15, "arrive", "removed", "mov.b64 %rd1, 0;"),
    (15, "order", ".relaxed", "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd1, [%r1];"),
    (16, "wait", "removed", "bar.sync 1, 128;"),
    (16, "wait", "one group more in flight", "cp.async.bulk.wait_group 1;"),
    (16, "wait", ".read", "cp.async.bulk.wait_group.read 0;"),
    (16, "barrier", "removed", "cp.async.bulk.wait_group 0;"),
    (16, "count", "32 threads more", "bar.sync 1, 160;"),
    (16, "count", "32 threads fewer", "bar.sync 1, 96;"),
    (17, "fence", "removed", ""),
    (17, "fence", ".cta for .gpu", "fence.acq_rel.cta;"),
    (18, "fence", "removed", ""),
    (18, "fence", ".async.global for .async.shared::cta", "fence.proxy.async.global;"),
    (19, "count", "removed", ""),
    (19, "count", "1 arrivals more", "[%r1], 2;"),
    (19, "count", "1 arrivals fewer", "[%r1], 0;"),
    (20, "order", ".relaxed for .acq_rel", "atom.relaxed.gpu.add.u32"),
]


def main():
    mutants = sync_edits.mutants(TEXT, "k")
    found = [(each.line, each.kind, each.what) for each in mutants]
    expected = [row[:3] for row in EXPECTED]
    if found != expected:
        print("\n".join(f"- {row}" for row in expected if row not in found))
        print("\n".join(f"+ {row}" for row in found if row not in expected))
        return 1
    lines = TEXT.split("\n")
    for each, (line, _, what, became) in zip(mutants, EXPECTED):
        changed = each.text.split("\n")
        others = [i + 1 for i in range(len(lines)) if changed[i] != lines[i] and i + 1 != line]
        if len(changed) != len(lines) or others or changed[line - 1] == lines[line - 1] or became not in changed[line - 1]:
            print(f"line {line}, {what}: {changed[line - 1]}")
            return 1
    if len(sync_edits.mutants(TEXT)) != len(EXPECTED) + 1:
        print("without a name the other kernel's barrier counts")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
