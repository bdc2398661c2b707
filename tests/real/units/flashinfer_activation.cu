// SPDX-License-Identifier: Apache-2.0
// flashinfer's gated activations: out[i] = silu(x[i]) * x[d + i], whole rows and split rows.
// Launch: grid (rows), block (min(d / 8, 256)); split: grid (rows * split), block (256).
// The function is ours, as the package's own callers write theirs.
#include <flashinfer/activation.cuh>

__device__ __forceinline__ float silu(const float& x) { return x / (1.0f + __expf(-x)); }

using namespace flashinfer::activation;

auto* whole_rows = &act_and_mul_kernel<nv_bfloat16, silu, 8>;
auto* split_rows = &act_and_mul_split_kernel<half, silu, 8, 4>;
