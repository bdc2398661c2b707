// SPDX-License-Identifier: Apache-2.0
// The one interface to what takes part in a round: ours in this process, a peer in one of its own.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "port/tensor.hpp"

namespace ww::bench {

// Launches before the first of so many timed ones: they fill the queue, so that the host's time is not the GPU's. Of long
// launches one does.
constexpr uint32_t untimed_before(uint32_t launches) { return launches > 8 ? 3 : 1; }

class Timed {
  public:
    virtual ~Timed() = default;
    // Seconds of each of so many launches by the device's clock, which follow untimed_before() others without a pause.
    // Empty: the device has none.
    virtual Result<std::vector<double>> time(uint32_t launches) = 0;
    // What the last launch made, all of it.
    virtual Result<port::Tensor> output() = 0;
};

}  // namespace ww::bench
