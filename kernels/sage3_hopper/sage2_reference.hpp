// SPDX-License-Identifier: Apache-2.0
// The formula of SageAttention2's kernel for Hopper, naively and in double: what our error is measured against. INT8 for Q with
// a scale for 16 rows and for K, less its mean, with one for 128 keys; V as e4m3 with a scale for each channel; P as e4m3,
// 448 times under the row's running maximum; sums of P before it is rounded. Nothing here is shared with our path.
#pragma once
#include "sage3/sage3_reference.hpp"

namespace ww::sage3 {

// q [B, H, Lq, D], k and v [B, Hkv, Lk, D]. V keeps its mean, whatever the problem says.
Output sage2_attention(const Problem& problem, const Sequences& sequences, const Values& q, const Values& k, const Values& v,
                       const MaskFunction& mask = {});

}  // namespace ww::sage3
