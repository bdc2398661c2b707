// SPDX-License-Identifier: Apache-2.0
// The mbarrier object in its 8 bytes: the encoding keeps every field, and phases turn over.
#include "machine/mbarrier.hpp"

#include <gtest/gtest.h>

#include "machine/types.hpp"

namespace ww::machine {
namespace {

Mbarrier stored(const Mbarrier& m) {
    uint8_t bytes[Mbarrier::kBytes];
    m.store(bytes);
    return Mbarrier::load(bytes);
}

TEST(Mbarrier, BytesKeepTheEndsOfEveryField) {
    for (const uint32_t count : {1u, 2u, Mbarrier::kMaxCount})
        for (const int32_t transactions : {0, 1, -1, 1048575, -1048575})
            for (const bool second : {false, true}) {
                Mbarrier m = Mbarrier::initial(count);
                if (second) m.arrive(count);
                if (transactions > 0) m.expect_transactions(static_cast<uint32_t>(transactions));
                if (transactions < 0) m.complete_transactions(static_cast<uint32_t>(-transactions));
                const Mbarrier back = stored(m);
                EXPECT_EQ(back.pending(), count);
                EXPECT_EQ(back.transactions(), transactions);
                EXPECT_EQ(back.parity(), second);
                EXPECT_EQ(back.state(), m.state());
            }
}

TEST(Mbarrier, APhaseNeedsArrivalsAndBytes) {
    Mbarrier m = Mbarrier::initial(2);
    m.expect_transactions(64);
    EXPECT_FALSE(m.arrive(2));
    EXPECT_FALSE(m.complete_transactions(63));
    EXPECT_TRUE(m.complete_transactions(1));
    EXPECT_EQ(m.pending(), 2u);
    EXPECT_FALSE(m.complete_transactions(16));  // ahead of its expectation
    EXPECT_FALSE(m.arrive(1));
    m.expect_transactions(16);
    EXPECT_TRUE(m.arrive(1));
    EXPECT_FALSE(m.parity());
}

TEST(Mbarrier, AnExpectationOfBytesThatCameCompletesThePhase) {
    Mbarrier m = Mbarrier::initial(1);
    EXPECT_FALSE(m.complete_transactions(16));
    EXPECT_FALSE(m.arrive(1));
    EXPECT_FALSE(m.expect_transactions(12));
    EXPECT_FALSE(m.parity());
    EXPECT_TRUE(m.expect_transactions(4));
    EXPECT_TRUE(m.parity());
    EXPECT_EQ(m.pending(), 1u);
}

TEST(Mbarrier, StatesRememberTheirPhase) {
    Mbarrier m = Mbarrier::initial(3);
    const uint64_t state = m.state();
    EXPECT_FALSE(Mbarrier::state_parity(state));
    EXPECT_EQ(Mbarrier::state_pending(state), 3u);
    m.arrive(3);
    EXPECT_TRUE(Mbarrier::state_parity(m.state()));
    EXPECT_THROW(Mbarrier::state_parity(0), GuestTrap);
    uint8_t bytes[Mbarrier::kBytes];
    m.store(bytes);
    EXPECT_TRUE(phase_completed(bytes, false));
    EXPECT_FALSE(phase_completed(bytes, true));
    Mbarrier::invalidate(bytes);
    EXPECT_THROW(Mbarrier::load(bytes), GuestTrap);
}

}  // namespace
}  // namespace ww::machine
