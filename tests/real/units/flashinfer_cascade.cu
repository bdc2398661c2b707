// SPDX-License-Identifier: Apache-2.0
// flashinfer's merging of partial attention results (split-K reduction over log-sum-exp pairs): in
// place, and the persistent one over lists of any length with a cp.async pipeline.
// Launch: in_place: grid (rows), block (head_dim / 8, heads); lists: grid (any), block (16, 8),
// dynamic shared memory 4 * 8 * 128 * 2 + 128 * 4 bytes.
#include <flashinfer/attention/cascade.cuh>

using namespace flashinfer;

auto* in_place = &MergeStateInPlaceKernel<8, half>;
auto* lists = &PersistentVariableLengthMergeStatesKernel<8, 16, 8, 4, nv_bfloat16, nv_bfloat16,
                                                         int32_t>;
