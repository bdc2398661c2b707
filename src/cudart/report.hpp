// SPDX-License-Identifier: Apache-2.0
// What happened in a program's process: one JSON object a line, in a file that `warpwright run`
// reads; and as text on stderr what is wrong.
#pragma once
#include <string>

#include "base/diagnostic.hpp"
#include "device/device.hpp"

namespace ww::cudart {

class Report {
  public:
    // path: empty for none.
    explicit Report(const std::string& path) : path_(path) {}

    void started(const device::Info& device, uint32_t multiprocessors);
    // A module's PTX: how much of it the rows cover.
    void module(const std::string& name, const std::string& ptx);
    // That --ptx took the place of a module.
    void replaced(const std::string& module, const std::string& file);
    void launch(const std::string& kernel, const device::Launch& launch, const device::LaunchReport& report);
    void race(const device::RaceRecord& race);
    void fault(const std::string& kernel, const Diagnostics& why);
    // A call that this library does not do, or that was wrong.
    void refused(const std::string& function, const std::string& why);

  private:
    void line(const std::string& text);
    std::string path_;
};

}  // namespace ww::cudart
