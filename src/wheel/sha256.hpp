// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for the records of wheels. Not for secrets: it takes no care of time.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ww::wheel {

std::array<uint8_t, 32> sha256(std::string_view bytes);
// As a RECORD has it: URL-safe base64 without padding.
std::string sha256_base64(std::string_view bytes);

}  // namespace ww::wheel
