// SPDX-License-Identifier: Apache-2.0
// Where a compiled kernel stores each of its tensors: the instructions that do, those that define
// their operands, and the source lines of both.
#pragma once
#include <map>
#include <string>

#include "laboratory.hpp"
#include "port/port.hpp"
#include "ptx/module.hpp"

namespace ww::mutation {

// By the name of the tensor.
std::map<std::string, Stores> stores_of(const ptx::Module& module, std::string_view entry,
                                        const port::KernelImpl& kernel);

}  // namespace ww::mutation
