// SPDX-License-Identifier: Apache-2.0
// What NVRTC and ptxas print, as Diagnostics with their place. Lines that fit no known form are
// kept: a message is never lost.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnostic.hpp"

namespace ww::toolchain {

// "k.cu(12): error: ...", then the source line and a caret.
Diagnostics parse_nvrtc_log(std::string_view log);

// "ptxas FILE, line 12; error   : ..." and "ptxas fatal   : ...". shown_name replaces the name of
// the temporary file; source gives the text of the line.
Diagnostics parse_ptxas_log(std::string_view log, std::string_view shown_name,
                            std::string_view source);

}  // namespace ww::toolchain
