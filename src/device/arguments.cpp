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

Status check_arguments(const std::string& kernel, std::span<const Param> params,
                       std::span<const Argument> arguments) {
    size_t common = std::min(params.size(), arguments.size());
    for (size_t i = 0; i < common; ++i) {
        if (params[i].size == arguments[i].bytes.size()) continue;
        return fail(fmt::format("kernel {}: {} has {} bytes, its .param takes {}", kernel,
                                describe(params[i], i), arguments[i].bytes.size(),
                                params[i].size));
    }
    if (params.size() == arguments.size()) return ok();
    std::string detail;
    if (arguments.size() < params.size())
        detail = fmt::format("; {} is missing", describe(params[common], common));
    return fail(fmt::format("kernel {} takes {} arguments, {} given{}", kernel, params.size(),
                            arguments.size(), detail));
}

}  // namespace ww::device
