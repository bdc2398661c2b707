// SPDX-License-Identifier: Apache-2.0
// The library stages and plans that come with this program: one line a reference. port.toml names them by
// symbol.
#pragma once
#include "ladder/library.hpp"

namespace ww::kernels {

Status softmax_reference(const ladder::LibraryCall& call);

ladder::LibraryTable references();
ladder::PlanTable plans();

}  // namespace ww::kernels
