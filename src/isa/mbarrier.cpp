// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Parallel Synchronization and Communication Instructions: mbarrier". These rows parse and
// have no semantics yet.
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

#define WW_MB "parallel-synchronization-and-communication-instructions-mbarrier-"
#define WW_SPACE ".space = .shared .shared::cta; .any_space = .shared .shared::cta .shared::cluster; .scope = .cta .cluster; "
#define WW_RELEASE ".sem = .release .relaxed; " WW_SPACE
#define WW_ACQUIRE ".sem = .acquire .relaxed; " WW_SPACE
// clang-format off
constexpr Row kRows[] = {
    {"mbarrier.init{.space}.b64 [addr], count", WW_SPACE, {70, 80}, WW_MB "init"},
    {"mbarrier.inval{.space}.b64 [addr]", WW_SPACE, {70, 80}, WW_MB "inval"},
    {"mbarrier.expect_tx{.relaxed}{.scope}{.any_space}.b64 [addr], tx-count", WW_SPACE, {80, 90}, WW_MB "expect-tx"},
    {"mbarrier.complete_tx{.relaxed}{.scope}{.any_space}.b64 [addr], tx-count", WW_SPACE, {80, 90}, WW_MB "complete-tx"},
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 state, [addr]{, count}", WW_RELEASE, {70, 80}, WW_MB "arrive"},
    // Without the state operand, as the compilers write it for .shared::cluster.
    {"mbarrier.arrive{.sem}{.scope}{.any_space}.b64 [addr]{, count}", WW_RELEASE, {78, 90}, WW_MB "arrive"},
    {"mbarrier.arrive.expect_tx{.sem}{.scope}{.any_space}.b64 state, [addr], tx-count", WW_RELEASE, {80, 90}, WW_MB "arrive"},
    {"mbarrier.arrive.noComplete{.release}{.cta}{.space}.b64 state, [addr], count", WW_SPACE, {70, 80}, WW_MB "arrive"},
    {"mbarrier.arrive_drop{.sem}{.scope}{.any_space}.b64 state, [addr]{, count}", WW_RELEASE, {70, 80}, WW_MB "arrive-drop"},
    {"mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.any_space}.b64 state, [addr], tx-count", WW_RELEASE, {80, 90}, WW_MB "arrive-drop"},
    {"mbarrier.arrive_drop.noComplete{.release}{.cta}{.space}.b64 state, [addr], count", WW_SPACE, {70, 80}, WW_MB "arrive-drop"},
    {"mbarrier.test_wait{.sem}{.scope}{.space}.b64 p, [addr], state", WW_ACQUIRE, {70, 80}, WW_MB "test-wait-try-wait"},
    {"mbarrier.test_wait.parity{.sem}{.scope}{.space}.b64 p, [addr], phase-parity", WW_ACQUIRE, {71, 80}, WW_MB "test-wait-try-wait"},
    {"mbarrier.try_wait{.sem}{.scope}{.space}.b64 p, [addr], state{, suspend-time-hint}", WW_ACQUIRE, {78, 90}, WW_MB "test-wait-try-wait"},
    {"mbarrier.try_wait.parity{.sem}{.scope}{.space}.b64 p, [addr], phase-parity{, suspend-time-hint}", WW_ACQUIRE, {78, 90},
     WW_MB "test-wait-try-wait"},
    {"mbarrier.pending_count.b64 count, state", "", {70, 80}, WW_MB "pending-count"},
};
// clang-format on

}  // namespace

std::span<const Row> mbarrier_rows() { return kRows; }

}  // namespace ww::isa
