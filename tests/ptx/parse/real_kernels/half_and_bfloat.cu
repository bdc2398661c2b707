// SPDX-License-Identifier: Apache-2.0
// The 16-bit and 8-bit number types of the toolkit: their headers are mostly inline PTX.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_math(const __half2* a, const __half* b, __half2* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 x = a[i];
    const __half s = __ldg(&b[i]);
    __half2 r = __hfma2(x, __half2half2(s), __hadd2_sat(x, x));
    r = __hmax2(r, h2exp(x));
    r = __h2div(__hmul2(r, h2rsqrt(__habs2(x))), __hneg2(x));
    if (__hblt2(x, r)) r = __hmin2_nan(h2tanh(r), h2sin(x));
    out[i] = __halves2half2(hlog2(__low2half(r)), hrint(__high2half(r)));
    atomicAdd(&out[0], r);
}

extern "C" __global__ void bfloat_math(const __nv_bfloat162* a, __nv_bfloat162* out, float* sum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __nv_bfloat162 x = a[i];
    __nv_bfloat162 r = __hfma2_relu(x, x, __floats2bfloat162_rn(1.5f, -2.5f));
    r = __hmul2(r, __hmin2(h2sqrt(__habs2(x)), h2rcp(x)));
    out[i] = __hsub2(r, __shfl_xor_sync(0xffffffffu, r, 1));
    atomicAdd(sum, __low2float(r) + __bfloat162float(__high2bfloat16(r)));
}

extern "C" __global__ void narrow(const float4* a, __nv_fp8x4_e4m3* e4m3, __nv_fp8x4_e5m2* e5m2, float4* back, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    e4m3[i] = __nv_fp8x4_e4m3(a[i]);
    e5m2[i] = __nv_fp8x4_e5m2(a[i]);
    back[i] = static_cast<float4>(e4m3[i]);
}
