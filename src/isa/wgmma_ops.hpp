// SPDX-License-Identifier: Apache-2.0
// Binds of the warpgroup matrix products, whose rows stand in wgmma.cpp.
#pragma once
#include "isa/row.hpp"

namespace ww::isa {

void bind_wgmma(const Match& match, Binding& binding);
void bind_wgmma_fence(const Match& match, Binding& binding);
void bind_wgmma_commit(const Match& match, Binding& binding);
void bind_wgmma_wait(const Match& match, Binding& binding);

}  // namespace ww::isa
