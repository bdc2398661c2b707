// SPDX-License-Identifier: Apache-2.0
// An mbarrier object: 8 bytes of shared memory, and what its operations do to them. NVIDIA's
// encoding is opaque; ours, which nothing else may know, is
//     bits 0-19   expected arrivals of a phase
//     bits 20-39  pending arrivals of the current phase
//     bits 40-60  tx-count, in two's complement
//     bit  61     parity of the current phase
//     bits 62-63  1: an mbarrier; 2: a state, as mbarrier.arrive returns it
// A state is the object's word before the arrival.
#pragma once
#include <cstdint>
#include <string>

namespace ww::machine {

class Mbarrier {
  public:
    static constexpr uint32_t kBytes = 8;
    static constexpr uint32_t kMaxCount = (1u << 20) - 1;  // of arrivals and of bytes

    // mbarrier.init. Throws GuestTrap when the count is out of range, as all of these do on misuse.
    static Mbarrier initial(uint32_t count);
    static Mbarrier load(const uint8_t* at);
    // What bytes that were an mbarrier say after inval.
    static void invalidate(uint8_t* at);
    void store(uint8_t* at) const;

    // True: the phase completed, and the next one has begun.
    bool arrive(uint32_t count);
    bool arrive_drop(uint32_t count);
    // Bytes that came before they were expected may complete the phase here.
    bool expect_transactions(uint32_t count);
    bool complete_transactions(uint32_t count);
    // cp.async.mbarrier.arrive without .noinc announces its arrival with this.
    void add_pending();

    uint64_t state() const;  // for test_wait by state
    // The parity of the phase of a state.
    static bool state_parity(uint64_t state);
    static uint32_t state_pending(uint64_t state);

    bool parity() const { return parity_; }
    uint32_t pending() const { return pending_; }
    uint32_t expected() const { return expected_; }
    int32_t transactions() const { return transactions_; }
    // "phase parity 1, 2 of 4 arrivals and 512 bytes pending": for reports.
    std::string describe() const;

  private:
    bool complete_if_due();
    uint32_t expected_ = 0, pending_ = 0;
    int32_t transactions_ = 0;
    bool parity_ = false;
};

// Whether the mbarrier at these bytes has left the phase of this parity; never throws, bytes that
// are no mbarrier any more have.
bool phase_completed(const uint8_t* at, bool parity);

}  // namespace ww::machine
