// SPDX-License-Identifier: Apache-2.0
// Operands that need conversion, and control: divergence, convergence, exchange between lanes.
#include "machine/warp.hpp"

#include "machine/block.hpp"

namespace ww::machine {

void Warp::addresses(const Arg& arg, uint64_t* out) const {
    alignas(64) uint64_t scratch64[kLanes];
    const uint64_t displacement = static_cast<uint64_t>(arg.displacement);
    const Operand& base = arg[0];
    if (base.bank == Bank::regs && base.width == 4) {
        // A 32-bit address stays one: compilers count on [r+128] with a "negative" r.
        const uint32_t* from = reinterpret_cast<const uint32_t*>(registers + base.offset);
        for (int i = 0; i < kLanes; ++i) out[i] = from[i] + static_cast<uint32_t>(displacement);
        return;
    }
    const uint64_t* from = in<uint64_t>(base, scratch64);
    for (int i = 0; i < kLanes; ++i) out[i] = from[i] + displacement;
}

void Warp::read_slow(const Operand& operand, void* out, int bytes) const {
    uint8_t* to = static_cast<uint8_t*>(out);
    if (operand.bank == Bank::special) {
        uint64_t values[kLanes];
        read_special(*this, static_cast<Special>(operand.offset), values);
        for (int i = 0; i < kLanes; ++i) {
            std::memset(to + i * bytes, 0, static_cast<size_t>(bytes));
            std::memcpy(to + i * bytes, &values[i], static_cast<size_t>(bytes < 8 ? bytes : 8));
        }
        return;
    }
    if (operand.bank != Bank::regs) {
        std::memset(to, 0, static_cast<size_t>(bytes) * kLanes);
        return;
    }
    // A register wider than the operand's type gives its low bytes; a narrower one is refused at
    // bind, zero extension only keeps this function total.
    const int width = operand.width;
    const uint8_t* from = registers + operand.offset;
    for (int i = 0; i < kLanes; ++i) {
        std::memset(to + i * bytes, 0, static_cast<size_t>(bytes));
        std::memcpy(to + i * bytes, from + i * width, static_cast<size_t>(width < bytes ? width : bytes));
    }
}

void Warp::write_slow(const Operand& operand, const void* values, int bytes, bool is_signed) {
    if (operand.bank != Bank::regs) return;  // the sink '_'
    const int width = operand.width;
    const uint8_t* from = static_cast<const uint8_t*>(values);
    uint8_t* to = registers + operand.offset;
    for (int i = 0; i < kLanes; ++i) {
        if (!(active >> i & 1)) continue;
        const uint8_t* value = from + i * bytes;
        const bool negative = is_signed && (value[bytes - 1] & 0x80);
        std::memset(to + i * width, negative ? 0xff : 0, static_cast<size_t>(width));
        std::memcpy(to + i * width, value, static_cast<size_t>(width < bytes ? width : bytes));
    }
}

void Warp::branch(LaneMask taken, uint32_t target) {
    taken &= mask;
    if (taken == 0) return;
    if (taken == mask) {
        next_pc = target;
        return;
    }
    park(taken, target);
    mask &= ~taken;
}

void Warp::branch_each(const uint32_t* target) {
    LaneMask left = active;
    if (mask & ~active) {
        park(mask & ~active, pc + 1);
        mask = active;
    }
    const uint32_t first = target[__builtin_ctz(left)];
    while (left) {
        const uint32_t to = target[__builtin_ctz(left)];
        LaneMask group = 0;
        for (int i = 0; i < kLanes; ++i)
            if ((left >> i & 1) && target[i] == to) group |= LaneMask{1} << i;
        left &= ~group;
        if (to != first) branch(group, to);
    }
    next_pc = first;
}

void Warp::exit_lanes(LaneMask lanes) {
    exited |= lanes;
    mask &= ~lanes;
    if (grid->sink) grid->sink->exited(*this, lanes);
}

bool Warp::gather(const Inst& inst, LaneMask members, uint32_t (*values)[kLanes], int count) {
    const LaneMask live = members & alive();
    if (exchanges.empty() && (live & ~active) == 0) return true;
    Exchange* exchange = nullptr;
    for (Exchange& e : exchanges)
        if (e.members == members && e.operation == inst.run && e.aux == inst.aux) exchange = &e;
    if (!exchange) {
        if ((live & ~active) == 0) return true;
        exchanges.push_back(Exchange{.members = members, .operation = inst.run, .aux = inst.aux});
        exchange = &exchanges.back();
    }
    // Lanes still owed an earlier round's result keep a new round from starting.
    const bool complete_round = exchange->consumed != 0;
    if (!complete_round) {
        exchange->published |= active;
        for (int k = 0; k < count; ++k)
            for (int i = 0; i < kLanes; ++i)
                if (active >> i & 1) exchange->values[static_cast<size_t>(k)][static_cast<size_t>(i)] = values[k][i];
    }
    const bool everybody = (live & ~exchange->published) == 0;
    if (!everybody || (complete_round && (exchange->consumed & active))) {
        wait_here(Wait{.kind = Wait::Kind::lanes, .lanes = live});
        return false;
    }
    // The round is complete: who waits for it takes its values next, and must not merge with lanes
    // that come to the same instruction for the round after.
    for (Split& split : parked)
        if (split.wait.kind == Wait::Kind::lanes && (split.mask & exchange->published & ~active)) {
            split.wait = {};
            split.resumed = true;
        }
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < kLanes; ++i)
            values[k][i] = exchange->values[static_cast<size_t>(k)][static_cast<size_t>(i)];
    exchange->consumed |= active;
    if ((exchange->published & alive() & ~exchange->consumed) == 0)
        exchanges.erase(exchanges.begin() + (exchange - exchanges.data()));
    return true;
}

bool Warp::converged() {
    if ((mask | exited) == kAllLanes) return true;
    wait_here(Wait{.kind = Wait::Kind::lanes, .lanes = alive()});
    return false;
}

}  // namespace ww::machine
