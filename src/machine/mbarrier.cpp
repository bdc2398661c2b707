// SPDX-License-Identifier: Apache-2.0
#include "machine/mbarrier.hpp"

#include <fmt/format.h>

#include <cstring>

#include "machine/types.hpp"

namespace ww::machine {
namespace {

constexpr int kPendingAt = 20, kTransactionsAt = 40, kParityAt = 61, kMarkAt = 62;
constexpr uint64_t kCountMask = Mbarrier::kMaxCount;
constexpr uint64_t kTransactionsMask = (uint64_t{1} << (kParityAt - kTransactionsAt)) - 1;
constexpr uint64_t kObject = 1, kState = 2;

uint64_t word_at(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

void check_count(uint32_t count, const char* what) {
    if (count == 0 || count > Mbarrier::kMaxCount)
        throw GuestTrap(fmt::format("the {} of an mbarrier may be 1 to {}, not {}", what,
                                    Mbarrier::kMaxCount, count));
}

uint64_t checked_state(uint64_t state) {
    if (state >> kMarkAt != kState)
        throw GuestTrap(fmt::format(
            "{:#x} is no state of an mbarrier: it must come from mbarrier.arrive", state));
    return state;
}

}  // namespace

Mbarrier Mbarrier::initial(uint32_t count) {
    check_count(count, "expected arrival count");
    Mbarrier m;
    m.expected_ = m.pending_ = count;
    return m;
}

Mbarrier Mbarrier::load(const uint8_t* at) {
    const uint64_t word = word_at(at);
    if (word >> kMarkAt != kObject)
        throw GuestTrap(
            "there is no mbarrier at this address: mbarrier.init did not run for it, or its 8 "
            "bytes were overwritten");
    Mbarrier m;
    m.expected_ = static_cast<uint32_t>(word & kCountMask);
    m.pending_ = static_cast<uint32_t>(word >> kPendingAt & kCountMask);
    const int64_t transactions = static_cast<int64_t>(word << (64 - kParityAt));
    m.transactions_ = static_cast<int32_t>(transactions >> (64 - kParityAt + kTransactionsAt));
    m.parity_ = word >> kParityAt & 1;
    return m;
}

void Mbarrier::invalidate(uint8_t* at) { std::memset(at, 0, kBytes); }

void Mbarrier::store(uint8_t* at) const {
    const uint64_t word = (state() & ((uint64_t{1} << kMarkAt) - 1)) | kObject << kMarkAt;
    std::memcpy(at, &word, sizeof word);
}

uint64_t Mbarrier::state() const {
    const uint64_t transactions = static_cast<uint64_t>(transactions_) & kTransactionsMask;
    return uint64_t{expected_} | uint64_t{pending_} << kPendingAt |
           transactions << kTransactionsAt | uint64_t{parity_} << kParityAt | kState << kMarkAt;
}

bool Mbarrier::state_parity(uint64_t state) { return checked_state(state) >> kParityAt & 1; }

uint32_t Mbarrier::state_pending(uint64_t state) {
    return static_cast<uint32_t>(checked_state(state) >> kPendingAt & kCountMask);
}

bool Mbarrier::complete_if_due() {
    if (pending_ != 0 || transactions_ != 0) return false;
    pending_ = expected_;
    parity_ = !parity_;
    return true;
}

bool Mbarrier::arrive(uint32_t count) {
    check_count(count, "arrival count");
    if (count > pending_)
        throw GuestTrap(
            fmt::format("{} arrival(s) at an mbarrier that has only {} pending in this phase (of "
                        "{} expected)",
                        count, pending_, expected_));
    pending_ -= count;
    return complete_if_due();
}

bool Mbarrier::arrive_drop(uint32_t count) {
    check_count(count, "arrival count");
    if (count > expected_)
        throw GuestTrap(fmt::format("arrive_drop of {} from an mbarrier that expects only {}", count,
                                    expected_));
    expected_ -= count;
    return arrive(count);
}

bool Mbarrier::expect_transactions(uint32_t count) {
    const int64_t sum = int64_t{transactions_} + count;
    if (count > kMaxCount || sum > int64_t{kMaxCount})
        throw GuestTrap(fmt::format("expect_tx of {} makes the tx-count of an mbarrier {}; the limit is {}",
                                    count, sum, kMaxCount));
    transactions_ = static_cast<int32_t>(sum);
    return complete_if_due();
}

bool Mbarrier::complete_transactions(uint32_t count) {
    const int64_t left = int64_t{transactions_} - count;
    if (count > kMaxCount || left < -int64_t{kMaxCount})
        throw GuestTrap(fmt::format(
            "complete_tx of {} makes the tx-count of an mbarrier {}; the limit is -{}", count, left,
            kMaxCount));
    transactions_ = static_cast<int32_t>(left);
    return complete_if_due();
}

void Mbarrier::add_pending() {
    if (pending_ == kMaxCount)
        throw GuestTrap(fmt::format(
            "cp.async.mbarrier.arrive makes the pending count of an mbarrier more than {}", kMaxCount));
    ++pending_;
}

std::string Mbarrier::describe() const {
    return fmt::format("phase parity {}, {} of {} arrivals and {} bytes pending",
                       static_cast<int>(parity_), pending_, expected_, transactions_);
}

bool phase_completed(const uint8_t* at, bool parity) {
    const uint64_t word = word_at(at);
    return word >> kMarkAt != kObject || (word >> kParityAt & 1) != parity;
}

}  // namespace ww::machine
