// SPDX-License-Identifier: Apache-2.0
// The check of a launch's arguments against the kernel's .param list, shared by both devices.
#include <fmt/format.h>

#include "device/device.hpp"

namespace ww::device {
namespace {

std::string describe(const Param& param, size_t index) {
    std::string text = fmt::format("argument {}", index);
    if (!param.name.empty()) text += fmt::format(" ({})", param.name);
    return text;
}

}  // namespace

Status check_argument(const std::string& kernel, const Param& param, size_t index,
                      const Argument& argument) {
    if (param.size != argument.bytes.size())
        return fail(fmt::format("kernel {}: {} has {} bytes, its .param takes {}", kernel,
                                describe(param, index), argument.bytes.size(), param.size));
    // A .param aligned to less holds something smaller: two floats where a double is given, say.
    const bool fits =
        param.align ? param.align >= argument.align : param.offset % argument.align == 0;
    if (fits) return ok();
    return fail(fmt::format("kernel {}: {} is aligned to {} bytes, its .param {}", kernel,
                            describe(param, index), argument.align,
                            param.align ? fmt::format("to {}", param.align)
                                        : fmt::format("lies at byte {}", param.offset)));
}

Status check_arguments(const std::string& kernel, std::span<const Param> params,
                       std::span<const Argument> arguments) {
    const size_t common = std::min(params.size(), arguments.size());
    for (size_t i = 0; i < common; ++i) {
        WW_TRY(fits, check_argument(kernel, params[i], i, arguments[i]));
        (void)fits;
    }
    if (params.size() == arguments.size()) return ok();
    std::string detail;
    if (arguments.size() < params.size())
        detail = fmt::format("; {} is missing", describe(params[common], common));
    return fail(fmt::format("kernel {} takes {} arguments, {} given{}", kernel, params.size(),
                            arguments.size(), detail));
}

}  // namespace ww::device
