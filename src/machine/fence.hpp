// SPDX-License-Identifier: Apache-2.0
// What a fence's instruction carries in its aux: which fence it is, and whether it is fence.sc.
#pragma once
#include "machine/events.hpp"
#include "machine/inst.hpp"

namespace ww::machine {

constexpr uint64_t fence_aux(Fence kind, bool is_sc) { return static_cast<uint64_t>(kind) | uint64_t{is_sc} << 8; }
inline Fence fence_kind(const Inst& inst) { return static_cast<Fence>(inst.aux & 0xff); }
inline bool is_sc_fence(const Inst& inst) { return (inst.aux >> 8 & 1) != 0; }

}  // namespace ww::machine
