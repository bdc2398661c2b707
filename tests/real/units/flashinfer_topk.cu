// SPDX-License-Identifier: Apache-2.0
// flashinfer's top-k: mask of logits by radix select over one block, and the final sort of the
// selected indices (static shared memory of cub::BlockRadixSort).
// Launch: mask: grid (groups), block (1024), dynamic shared memory as the package's launcher
// computes; sort: grid (rows), block (256).
#include <flashinfer/topk.cuh>

using namespace flashinfer::sampling;

auto* mask = &RadixTopKMaskLogitsKernel_MultiCTA<1024, 4, true, float, int32_t>;
auto* sort = &StableSortTopKByValueKernel<256, 8, int32_t, half>;
