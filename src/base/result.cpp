// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

namespace ww {

Failure fail(std::string message) {
    return Failure{{Diagnostic{.severity = Severity::error, .message = std::move(message)}}};
}
Failure fail(Diagnostic diagnostic) { return Failure{{std::move(diagnostic)}}; }
Failure fail(Diagnostics diagnostics) { return Failure{std::move(diagnostics)}; }

}  // namespace ww
