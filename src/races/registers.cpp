// SPDX-License-Identifier: Apache-2.0
// Registers of wgmma: a product in flight owns its accumulators and fragments of A, and what a thread
// wrote to them, or read of accumulators, needs a wgmma.fence before the product; so does the first one.
#include "races/checker.hpp"

namespace ww::races {

void Checker::registers(const machine::Warp& warp, const machine::Inst& inst, bool product, std::span<const uint32_t> reads,
                        std::span<const uint32_t> writes) {
    WarpState& state = cluster_of(warp).warp(warp);
    const auto held = [&](uint32_t number) -> WarpState::Register& {
        if (state.registers.size() <= number) state.registers.resize(number + 1);
        return state.registers[number];
    };
    const auto flies = [&](const WarpState::Register& r) { return r.product > state.products_done; };
    if (product) {
        if (!state.product_fenced && !writes.empty()) report_register(Rule::no_wgmma_fence, warp, inst.index, inst, writes[0]);
        for (const std::span<const uint32_t> list : {writes, reads})
            for (const uint32_t number : list) {
                const WarpState::Register& r = held(number);
                const bool overwrites = list.data() == writes.data();
                if (r.written != 0) report_register(Rule::no_wgmma_fence, warp, r.written - 1, inst, number);
                else if (r.read != 0 && overwrites) report_register(Rule::no_wgmma_fence, warp, r.read - 1, inst, number, true);
                if (flies(r) && r.accumulator && list.data() == reads.data())
                    report_register(Rule::register_in_flight, warp, r.inst, inst, number);
            }
        state.next_product = {inst.index, {writes.begin(), writes.end()}, {reads.begin(), reads.end()}};
        return;
    }
    for (const uint32_t number : reads) {
        WarpState::Register& r = held(number);
        if (flies(r) && r.accumulator) report_register(Rule::register_in_flight, warp, r.inst, inst, number);
        r.read = inst.index + 1;
    }
    for (const uint32_t number : writes) {
        WarpState::Register& r = held(number);
        if (flies(r)) report_register(r.accumulator ? Rule::register_in_flight : Rule::fragment_overwritten, warp, r.inst, inst, number);
        r.written = inst.index + 1;
    }
}

void Checker::registers_fenced(const machine::Warp& warp) {
    WarpState& state = cluster_of(warp).warp(warp);
    state.product_fenced = true;
    for (WarpState::Register& r : state.registers) r.written = r.read = 0;
}

// The product that the warp announced has a number now.
void Checker::hold_registers(WarpState& state, uint32_t number) {
    for (const uint32_t each : state.next_product.fragments) state.registers[each] = {.product = number, .inst = state.next_product.inst};
    for (const uint32_t each : state.next_product.accumulators) state.registers[each] = {.product = number, .inst = state.next_product.inst, .accumulator = true};
    state.next_product = {};
}

void Checker::report_register(Rule rule, const machine::Warp& warp, uint32_t first, const machine::Inst& second, uint32_t number,
                              bool first_reads) {
    if (level_of(rule) > level_) return;
    const auto [known, fresh] = known_.try_emplace({rule, first, second.index}, findings_.size());
    if (!fresh) {
        ++findings_[known->second].count;
        return;
    }
    Side side{.block = warp.block->id, .thread = warp.block->thread_of(warp.id, 0), .warp = warp.id, .cluster = warp.block->cluster.index};
    Finding finding{.rule = rule, .first = side, .second = side, .address = number, .count = 1};
    finding.first.inst = first;
    finding.second.inst = second.index;
    (rule == Rule::no_wgmma_fence ? finding.second : finding.first).by = Side::By::mma;
    finding.first.write = rule != Rule::fragment_overwritten && !first_reads;
    finding.second.write = rule != Rule::register_in_flight;
    findings_.push_back(std::move(finding));
}

}  // namespace ww::races
