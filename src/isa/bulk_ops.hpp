// SPDX-License-Identifier: Apache-2.0
// Binds of the bulk and tensor copies, whose rows stand in async_bulk.cpp: bulk_copy.cpp,
// bulk_reduce.cpp, tensor_copy.cpp, tensormap.cpp, store_async.cpp and launch_control.cpp.
#pragma once
#include <array>

#include "isa/mbarrier_ops.hpp"
#include "isa/row.hpp"

namespace ww::isa {

// One lane's bulk operation: where it reads, writes and signals.
struct BulkPlace {
    MemoryRange from, to, mbarrier;
    bool signals = false;
};

// Lane by lane: address and size checks, then f(lane, size).
uint32_t bulk_size(uint32_t size, int lane);
// The lanes whose value is that of this lane. Stores of one instruction that are the same in every
// operand are one store: so does ptxas compile them (one UTMASTG or UBLKCP for all lanes, while
// reductions and what signals an mbarrier happen once a lane).
template <class T>
LaneMask lanes_with(const T* values, int lane) {
    LaneMask out = 0;
    for (int i = 0; i < machine::kLanes; ++i) out |= LaneMask{values[i] == values[lane]} << i;
    return out;
}
// An operation of this lane that is tracked by its bulk groups, or by the mbarrier it signals.
AsyncOperation bulk_operation(Warp& w, const Inst& in, int lane, const BulkPlace& place);
// The last step of an operation that signals: its bytes are there.
void signal_bytes(const AsyncAccess& by, const BulkPlace& place);

// An element-wise atomic update of an array by another one; null where the manual's table has no
// such combination. flush: f32 additions take and give subnormals as zero.
using Reduce = void (*)(uint8_t* to, const uint8_t* from, uint64_t bytes);
Reduce reduction(std::string_view op, std::string_view type, bool to_global, bool flush = false);

void bind_tensor_load(const Match& match, Binding& binding);
void bind_tensor_store(const Match& match, Binding& binding);
void bind_tensor_reduce(const Match& match, Binding& binding);
void bind_tensor_prefetch(const Match& match, Binding& binding);

void bind_tensormap_replace(const Match& match, Binding& binding);
void bind_tensormap_copy(const Match& match, Binding& binding);

void bind_clc_try_cancel(const Match& match, Binding& binding);
void bind_clc_is_canceled(const Match& match, Binding& binding);
void bind_clc_first(const Match& match, Binding& binding);

void bind_store_async(const Match& match, Binding& binding);
void bind_reduce_async(const Match& match, Binding& binding);
void bind_store_async_global(const Match& match, Binding& binding);
void bind_reduce_async_global(const Match& match, Binding& binding);
void bind_store_bulk(const Match& match, Binding& binding);

void bind_bulk_load(const Match& match, Binding& binding);
void bind_bulk_share(const Match& match, Binding& binding);  // to another block of the cluster
void bind_bulk_store(const Match& match, Binding& binding);
void bind_bulk_prefetch(const Match& match, Binding& binding);
void bind_bulk_commit(const Match& match, Binding& binding);
void bind_bulk_wait(const Match& match, Binding& binding);
void bind_reduce_shared(const Match& match, Binding& binding);
void bind_reduce_global(const Match& match, Binding& binding);

}  // namespace ww::isa
