// SPDX-License-Identifier: Apache-2.0
// One instruction test on a device: operands in, launch, outputs out. Judges nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "exectest/expand.hpp"
#include "exectest/operands.hpp"

namespace ww::exectest {

// A test with all that is made from its text.
struct Prepared {
    const TestFile& test;
    Expanded expanded;
    Operands operands;
    uint64_t hash = 0;  // XXH64 of the expanded PTX and the operands
};
// round: of the operands. The test must outlive what is made of it.
Prepared prepare(const TestFile& test, uint64_t round = 0);

class Launcher {
  public:
    // gpu: null for emulators, one a target. emulate: what tests run on there that it can
    // run; the records are a Hopper's.
    explicit Launcher(device::Device* gpu, std::string emulate = "sm_90a");

    // Whether the device has what the test's target asks for.
    bool can_run(const TestFile& test) const;
    // Whether PTX goes through ptxas, which can be kept from fusing mul and add.
    bool assembles() const { return assemble_; }
    // The outputs without gaps. twice: launched again, and the answers must be the same.
    Result<std::vector<std::byte>> outputs_of(const Prepared& ready, bool twice);

  private:
    device::Device& device_for(const TestFile& test);
    Result<device::Image> image(const Prepared& ready) const;
    Result<std::vector<std::byte>> launch(device::Device& device, device::ModuleId module, const Prepared& ready);

    device::Device* gpu_;
    std::string emulate_;
    bool assemble_ = false;
    std::map<std::string, std::unique_ptr<device::Device>> emulators_;
};

}  // namespace ww::exectest
