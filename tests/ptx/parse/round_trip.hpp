// SPDX-License-Identifier: Apache-2.0
// What every real PTX file must stand: it is read, every instruction has a row, and the printed
// text reads back as the same.
#pragma once
#include <string>

#include "ptx/module.hpp"

namespace ww::ptx {

struct RoundTrip {
    Module module;
    std::string printed;
    size_t instructions = 0;
};

Result<RoundTrip> round_trip(const std::string& text, const std::string& name);

}  // namespace ww::ptx
