// SPDX-License-Identifier: Apache-2.0
#include "races/finding.hpp"

namespace ww::races {
namespace {

std::string completion(Side::By by) {
    switch (by) {
        case Side::By::copy: return "cp.async.wait_group or an mbarrier wait for the copy";
        case Side::By::mma: return "wgmma.wait_group for the product";
        default: return "mbarrier wait or cp.async.bulk.wait_group for the bulk operation";
    }
}

std::string barrier_between(const Side& a, const Side& b) {
    if (a.cluster != b.cluster)
        return "blocks of different clusters: no release and acquire of .gpu scope orders them";
    if (a.block != b.block) return "no barrier.cluster, mbarrier or release and acquire of .cluster scope orders them";
    if (a.warp == b.warp) return "no bar.warp.sync or other barrier orders these lanes of one warp";
    return "no bar.sync, mbarrier or other barrier orders them";
}

std::string unordered(const Finding& finding) {
    const Side &a = finding.first, &b = finding.second;
    if (a.by == Side::By::thread && b.by == Side::By::thread) return barrier_between(a, b);
    // The first is an operation in the background: nobody saw its end.
    if (a.by != Side::By::thread) return "no " + completion(a.by) + " comes before the second access";
    if (b.by == Side::By::mma && finding.known_to_some)
        return "no bar.sync, mbarrier or other barrier orders it before the product in all four warps";
    const bool same_group = b.by == Side::By::mma && a.block == b.block && a.warp / 4 == b.warp / 4;
    if (same_group || (a.block == b.block && a.thread == b.thread)) return "no " + completion(b.by) + " comes before the thread's own access";
    return "the first access is not ordered before the second was issued: " + barrier_between(a, b);
}

std::string no_wgmma_fence(const Finding& finding) {
    if (finding.first.inst == finding.second.inst) return "no wgmma.fence before the first product of the warp";
    if (finding.first.write) return "no wgmma.fence between the write to the register and the product that takes it";
    return "no wgmma.fence between the read of the accumulator and the product that writes it";
}

// A fence of the other space alone does not help.
std::string space_of(const Finding& finding) {
    return finding.space == machine::Space::global ? " for .global" : " for .shared::cta";
}

}  // namespace

std::string_view name(Rule rule) {
    switch (rule) {
        case Rule::unordered: return "race";
        case Rule::scope: return "scope-too-narrow";
        case Rule::mixed_proxies: return "atomics-through-two-proxies";
        case Rule::no_proxy_fence: return "missing-proxy-fence";
        case Rule::fence_elsewhere: return "proxy-fence-elsewhere";
        case Rule::async_overwrite: return "async-write-after-write";
        case Rule::async_write_after_own_read: return "async-write-after-own-read";
        case Rule::async_write_after_read: return "async-write-after-read";
        case Rule::block_ended: return "block-ended";
        case Rule::mbarrier_scope: return "mbarrier-scope";
        case Rule::register_in_flight: return "accumulator-in-flight";
        case Rule::fragment_overwritten: return "fragment-overwritten";
        case Rule::no_wgmma_fence: return "missing-wgmma-fence";
        case Rule::one_instruction: return "lanes-write-one-place";
    }
    return "";
}

RaceLevel level_of(Rule rule) {
    switch (rule) {
        case Rule::async_write_after_own_read:
        case Rule::fence_elsewhere: return RaceLevel::warning;
        case Rule::mbarrier_scope:
        case Rule::fragment_overwritten:
        case Rule::one_instruction: return RaceLevel::strict;
        case Rule::async_write_after_read: return RaceLevel::pedantic;
        default: return RaceLevel::error;
    }
}

bool is_of_registers(Rule rule) {
    return rule == Rule::register_in_flight || rule == Rule::fragment_overwritten || rule == Rule::no_wgmma_fence;
}

std::string missing(const Finding& finding) {
    switch (finding.rule) {
        case Rule::unordered: return unordered(finding);
        case Rule::scope: return "the scopes of these strong accesses do not include each other's thread";
        case Rule::mixed_proxies: return "the generic and the async proxy give no atomicity with each other: order the accesses";
        case Rule::no_proxy_fence:
            return "no fence.proxy.async between them" + space_of(finding) + ": the writer needs one after its write, before the barrier";
        case Rule::fence_elsewhere:
            return "the fence.proxy.async between them is not the writer's: it should come after the write, before the barrier";
        case Rule::async_overwrite: return "no fence.proxy.async between the write and the asynchronous write" + space_of(finding);
        case Rule::async_write_after_own_read:
            return "no fence.proxy.async and no barrier between the read and the asynchronous write, which may overtake it";
        case Rule::async_write_after_read: return "no fence.proxy.async between the read and the asynchronous write" + space_of(finding);
        case Rule::block_ended:
            return "the block may end before another one accesses its shared memory: no barrier.cluster or mbarrier wait comes before its end";
        case Rule::mbarrier_scope: return "the arrival comes from another block: it needs .release.cluster, and the wait .acquire.cluster";
        case Rule::register_in_flight: return "no wgmma.wait_group for the product comes before the access to its accumulator";
        case Rule::fragment_overwritten: return "no wgmma.wait_group for the product comes before the write to its fragment of A";
        case Rule::no_wgmma_fence: return no_wgmma_fence(finding);
        case Rule::one_instruction: return "lanes of one instruction write to one place: which value stays is undefined";
    }
    return "";
}

}  // namespace ww::races
