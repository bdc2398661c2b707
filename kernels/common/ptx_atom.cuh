// SPDX-License-Identifier: Apache-2.0
// One wrapper = one PTX instruction for atomics, named like it. They return what was there before.
#pragma once

namespace ptx {

// *a = *a >= last ? 0 : *a + 1.
__device__ __forceinline__ unsigned atom_relaxed_gpu_global_inc_u32(unsigned* a, unsigned last) {
    unsigned d;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(d) : "l"(a), "r"(last) : "memory");
    return d;
}

}  // namespace ptx
