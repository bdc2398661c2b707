// SPDX-License-Identifier: Apache-2.0
// Who signalled an mbarrier lately.
#include "machine/signals.hpp"

#include <gtest/gtest.h>

namespace ww::machine {
namespace {

TEST(SignalHistory, NewestFirstAndCounted) {
    SignalHistory history;
    EXPECT_EQ(history.of(8)[0].times, 0u);
    history.note(8, 1, 100, 3, false);
    history.note(8, 2, 200, 0, true);
    history.note(8, 1, 100, 4, false);
    history.note(16, 5, 300, 0, false);
    const SignalHistory::Signals signals = history.of(8);
    EXPECT_EQ(signals[0].warp, 2u);
    EXPECT_TRUE(signals[0].bytes);
    EXPECT_EQ(signals[1].warp, 1u);
    EXPECT_EQ(signals[1].times, 2u);
    EXPECT_EQ(signals[1].lane, 4);
    EXPECT_EQ(signals[2].times, 0u);
    EXPECT_EQ(history.of(16)[0].inst, 300u);
    EXPECT_EQ(history.of(24)[0].times, 0u);
}

TEST(SignalHistory, ManySignallersKeepTheLastOnes) {
    SignalHistory history;
    for (uint32_t warp = 0; warp < 20; ++warp) history.note(8, warp, 1, 0, false);
    const SignalHistory::Signals signals = history.of(8);
    for (uint32_t i = 0; i < SignalHistory::kSignallers; ++i) EXPECT_EQ(signals[i].warp, 19 - i);
}

TEST(SignalHistory, ASharedSlotForgetsAndNeverConfuses) {
    SignalHistory history;
    history.note(0, 1, 1, 0, false);
    for (uint32_t object = 8; object < 8 * 4096; object += 8) history.note(object, 2, 2, 0, false);
    EXPECT_EQ(history.of(0)[0].times, 0u);
    EXPECT_EQ(history.of(8 * 4095)[0].warp, 2u);
}

}  // namespace
}  // namespace ww::machine
