// SPDX-License-Identifier: Apache-2.0
// The library stages and plans that come with this program: one line a reference. port.toml names them by
// symbol.
#pragma once
#include "ladder/library.hpp"

namespace ww::kernels {

Status softmax_reference(const ladder::LibraryCall& call);

// Sage Attention 3, stage by stage. Its output in double is that of attention without quantisation.
Status sage3_mean_q(const ladder::LibraryCall& call);
Status sage3_mean_k(const ladder::LibraryCall& call);
Status sage3_mean_v(const ladder::LibraryCall& call);
Status sage3_smooth_q(const ladder::LibraryCall& call);
Status sage3_smooth_k(const ladder::LibraryCall& call);
Status sage3_key_bias(const ladder::LibraryCall& call);
Status sage3_row_shift(const ladder::LibraryCall& call);
Status sage3_quantize_q(const ladder::LibraryCall& call);
Status sage3_quantize_k(const ladder::LibraryCall& call);
Status sage3_quantize_v(const ladder::LibraryCall& call);
Status sage3_attention(const ladder::LibraryCall& call);
Status sage3_attention_unquantised(const ladder::LibraryCall& call);
// Some rows of its o in double: from q, k, v and `rows`, [n, 3] of batch, head and query.
Status sage3_rows(const ladder::LibraryCall& call);

// Its Hopper path, the stages that differ.
Status hopper_means(const ladder::LibraryCall& call);
Status hopper_quantize(const ladder::LibraryCall& call);
Status hopper_attention(const ladder::LibraryCall& call);
Status hopper_attention_unquantised(const ladder::LibraryCall& call);
Status hopper_api(const ladder::LibraryCall& call);
Status hopper_sage2(const ladder::LibraryCall& call);
Result<port::KernelImpl> hopper_plan(const port::Scope& scope, std::string_view stage);

// Its numbers on Hopper: the stages that it adds.
Status exact_expand_q(const ladder::LibraryCall& call);
Status exact_expand_k(const ladder::LibraryCall& call);
Status exact_expand_v(const ladder::LibraryCall& call);
Status exact_api(const ladder::LibraryCall& call);
Result<port::KernelImpl> exact_plan(const port::Scope& scope, std::string_view stage);

// Its public API (sage3/sage3.h) from q, k, v to o and lse, and its plan for one stage.
Status sage3_api(const ladder::LibraryCall& call);
Result<port::KernelImpl> sage3_plan(const port::Scope& scope, std::string_view stage);

ladder::LibraryTable references();
ladder::PlanTable plans();

}  // namespace ww::kernels
