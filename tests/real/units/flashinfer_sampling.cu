// SPDX-License-Identifier: Apache-2.0
// flashinfer's sampling: softmax of logits, top-p by rejection, and its renormalisation (cub's
// block scans and reductions, curand's Philox).
// Launch: grid (rows), block (1024), dynamic shared memory sizeof the kernel's TempStorage.
#include <flashinfer/sampling.cuh>

using namespace flashinfer::sampling;

auto* softmax = &OnlineSoftmaxFusedKernel<1024, 4, float, false>;
auto* top_p = &TopPSamplingFromProbKernel<1024, cub::BLOCK_SCAN_WARP_SCANS,
                                          cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4, true, float,
                                          int32_t>;
auto* renormalise = &TopPRenormProbKernel<1024, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4, float>;
