// SPDX-License-Identifier: Apache-2.0
// How many lanes a multiprocessor executes of an instruction in a clock, measured on the GPU at
// hand: where src/sass/rates.cpp has its "measured" rows from. A program of its own:
//   nvcc -arch=sm_90a -o sass_rates tests/bench/sass_rates.cu && ./sass_rates
// One block of 16 warps on one multiprocessor; 8 independent chains a thread; the best of 20 runs.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 512, kChains = 8, kRounds = 256;

#define WW_CHAINS(ASM, C)                                                                       \
    _Pragma("unroll") for (int c = 0; c < kChains; ++c) asm volatile(ASM : "+" C(x[c]) : C(y), C(z))

struct Clocks { long long first, last; };
__device__ long long g_start[64], g_end[64];
__device__ unsigned g_sink;

template <class Body> __device__ void timed(Body body) {
    __syncthreads();
    const long long start = clock64();
    for (int r = 0; r < kRounds; ++r) body();
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) g_start[threadIdx.x / 32] = start, g_end[threadIdx.x / 32] = end;
}

#define WW_KERNEL(NAME, T, C, ASM)                                                    \
    __global__ void NAME(T seed) {                                                    \
        T x[kChains], y = seed, z = seed;                                             \
        for (int c = 0; c < kChains; ++c) x[c] = seed + static_cast<T>(c + threadIdx.x); \
        timed([&] { WW_CHAINS(ASM, C); WW_CHAINS(ASM, C); });                         \
        for (int c = 0; c < kChains; ++c)                                             \
            if (x[c] == static_cast<T>(12345)) g_sink = c;                            \
    }

WW_KERNEL(ffma, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
WW_KERNEL(fadd, float, "f", "add.rn.f32 %0, %0, %1;")
WW_KERNEL(fmul, float, "f", "mul.rn.f32 %0, %0, %1;")
WW_KERNEL(fmnmx, float, "f", "max.f32 %0, %0, %1; add.rn.f32 %0, %0, %2;")
WW_KERNEL(mufu, float, "f", "ex2.approx.ftz.f32 %0, %0;")
WW_KERNEL(i2f_f2i, float, "f", "{ .reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t; }")
WW_KERNEL(i2f, float, "f", "{ .reg .b32 t; mov.b32 t, %0; cvt.rn.f32.u32 %0, t; }")
WW_KERNEL(f2fp, float, "f", "{ .reg .b32 t; cvt.rn.f16x2.f32 t, %0, %1; mov.b32 %0, t; }")
WW_KERNEL(f2fp_e4m3, float, "f", "{ .reg .b16 t; .reg .b32 u; cvt.rn.satfinite.e4m3x2.f32 t, %0, %1; mov.b32 u, {t, t}; mov.b32 %0, u; }")
WW_KERNEL(dfma, double, "d", "fma.rn.f64 %0, %0, %1, %2;")
WW_KERNEL(imad, unsigned, "r", "mad.lo.u32 %0, %0, %1, %2;")
WW_KERNEL(iadd, unsigned, "r", "add.u32 %0, %0, %1; xor.b32 %0, %0, %2;")
WW_KERNEL(lop3, unsigned, "r", "lop3.b32 %0, %0, %1, %2, 0x6a;")
WW_KERNEL(shf, unsigned, "r", "shf.l.wrap.b32 %0, %0, %1, %2;")
WW_KERNEL(prmt, unsigned, "r", "prmt.b32 %0, %0, %1, %2;")
WW_KERNEL(sel, unsigned, "r", "{ .reg .pred p; setp.gt.u32 p, %0, %1; selp.b32 %0, %0, %2, p; }")
WW_KERNEL(popc, unsigned, "r", "popc.b32 %0, %0;")
WW_KERNEL(hfma2, unsigned, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
WW_KERNEL(hmnmx2, unsigned, "r", "max.f16x2 %0, %0, %1;")
WW_KERNEL(shfl, unsigned, "r", "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")

// zero is 0, which the compiler does not know: every load depends on its chain's last one.
#define WW_SHARED(NAME, ASM)                                                              \
    __global__ void NAME(unsigned zero) {                                                 \
        __shared__ __align__(128) unsigned words[4096];                                   \
        for (unsigned i = threadIdx.x; i < 4096; i += kThreads) words[i] = 0;             \
        __syncthreads();                                                                  \
        unsigned at[kChains];                                                             \
        for (int c = 0; c < kChains; ++c)                                                 \
            at[c] = static_cast<unsigned>(__cvta_generic_to_shared(words)) +              \
                    threadIdx.x % 32 * WW_STRIDE + c * 1024;                              \
        timed([&] {                                                                       \
            _Pragma("unroll") for (int c = 0; c < kChains; ++c)                           \
                asm volatile(ASM : "+r"(at[c]) : "r"(zero));                              \
        });                                                                               \
        for (int c = 0; c < kChains; ++c) if (at[c] == 12345) g_sink = c;                 \
    }
#define WW_STRIDE 4
WW_SHARED(lds_32, "{ .reg .b32 a; ld.shared.b32 a, [%0]; add.u32 %0, %0, a; }")
#undef WW_STRIDE
#define WW_STRIDE 8
WW_SHARED(lds_64, "{ .reg .b32 a, b; ld.shared.v2.b32 {a, b}, [%0]; lop3.b32 a, a, b, %1, 0x80; add.u32 %0, %0, a; }")
#undef WW_STRIDE
#define WW_STRIDE 16
WW_SHARED(lds_128, "{ .reg .b32 a, b, c, d; ld.shared.v4.b32 {a, b, c, d}, [%0]; lop3.b32 a, a, d, %1, 0x80; add.u32 %0, %0, a; }")
WW_SHARED(ldsm_4, "{ .reg .b32 a, b, c, d; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b, c, d}, [%0]; lop3.b32 a, a, d, %1, 0x80; add.u32 %0, %0, a; }")
WW_SHARED(sts_128, "{ st.shared.v4.b32 [%0], {%1, %1, %1, %1}; }")

#define WW_MMA(NAME, SHAPE, NA, NB, NC, ARGS)                                                 \
    __global__ void NAME(unsigned seed) {                                                     \
        unsigned d[kChains][4];                                                               \
        const unsigned a = seed, b = seed;                                                    \
        for (int c = 0; c < kChains; ++c) for (int i = 0; i < 4; ++i) d[c][i] = seed;         \
        timed([&] { _Pragma("unroll") for (int c = 0; c < kChains; ++c)                       \
            asm volatile("mma.sync.aligned." SHAPE " " ARGS ";" : "+r"(d[c][0]), "+r"(d[c][1]), \
                         "+r"(d[c][2]), "+r"(d[c][3]) : "r"(a), "r"(b)); });                  \
        for (int c = 0; c < kChains; ++c) if (d[c][0] == 12345) g_sink = c;                   \
    }
WW_MMA(hmma_f32, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "{%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3}")
WW_MMA(hmma_f16, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "{%0,%1},{%4,%4,%4,%4},{%5,%5},{%0,%1}")
WW_MMA(hmma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "{%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3}")
WW_MMA(imma_s8, "m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, "{%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3}")

#if __CUDA_ARCH_FEAT_SM90_ALL || !defined(__CUDA_ARCH__)
#define D8(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define WW_WGMMA(NAME, SHAPE, TAIL)                                                            \
    __global__ void NAME(unsigned seed) {                                                      \
        extern __shared__ __align__(1024) unsigned char memory[];                              \
        for (unsigned i = threadIdx.x; i < 8192; i += kThreads) reinterpret_cast<unsigned*>(memory)[i] = 0; \
        unsigned d[64];                                                                        \
        for (int i = 0; i < 64; ++i) d[i] = seed;                                              \
        uint64_t desc = (__cvta_generic_to_shared(memory) & 0x3ffff) >> 4;                     \
        desc |= (uint64_t{1} << 16) | (uint64_t{64} << 32) | (uint64_t{1} << 62);              \
        timed([&] {                                                                            \
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                            \
            _Pragma("unroll") for (int c = 0; c < kChains; ++c)                                \
                asm volatile("wgmma.mma_async.sync.aligned." SHAPE                             \
                    " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %64, 1" TAIL ";" \
                    : D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56) : "l"(desc)); \
            asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
        });                                                                                    \
        if (d[0] == 12345) g_sink = d[1];                                                      \
    }
#else
#define WW_WGMMA(NAME, SHAPE, TAIL) __global__ void NAME(unsigned) {}
#endif
WW_WGMMA(hgmma_f32, "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0")
WW_WGMMA(hgmma_tf32, "m64n128k8.f32.tf32.tf32", ", 1, 1")
WW_WGMMA(qgmma_f32, "m64n128k32.f32.e4m3.e4m3", ", 1, 1")
WW_WGMMA(igmma, "m64n128k32.s32.s8.s8", "")

// work: lanes (or bytes, or multiply-adds) a warp does in one round.
template <class T> void measure(const char* name, const char* unit, void (*kernel)(T), double work, int shared = 0,
             T argument = static_cast<T>(1)) {
    if (shared) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    double best = 0;
    for (int run = 0; run < 20; ++run) {
        kernel<<<1, kThreads, shared>>>(argument);
        if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
            printf("%-12s %s\n", name, cudaGetErrorString(error));
            return;
        }
        long long start[64], end[64], first, last;
        cudaMemcpyFromSymbol(start, g_start, sizeof start);
        cudaMemcpyFromSymbol(end, g_end, sizeof end);
        first = start[0], last = end[0];
        for (int w = 1; w < kThreads / 32; ++w) {
            if (start[w] < first) first = start[w];
            if (end[w] > last) last = end[w];
        }
        const double rate = work * kRounds * (kThreads / 32) / static_cast<double>(last - first);
        if (rate > best) best = rate;
    }
    printf("%-12s %9.1f %s\n", name, best, unit);
}

int main() {
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    printf("%s, compute capability %d.%d; per multiprocessor and clock:\n", device.name, device.major, device.minor);
    const double lanes = 32.0 * kChains * 2;
#define WW_RUN(NAME, TIMES) measure(#NAME, "lanes", NAME, lanes * TIMES)
    WW_RUN(ffma, 1); WW_RUN(fadd, 1); WW_RUN(fmul, 1); WW_RUN(fmnmx, 1); WW_RUN(mufu, 1);
    WW_RUN(i2f_f2i, 2); WW_RUN(i2f, 1); WW_RUN(f2fp, 1); WW_RUN(f2fp_e4m3, 1); WW_RUN(dfma, 1); WW_RUN(imad, 1); WW_RUN(iadd, 2); WW_RUN(lop3, 1);
    WW_RUN(shf, 1); WW_RUN(prmt, 1); WW_RUN(sel, 1); WW_RUN(popc, 1); WW_RUN(hfma2, 1); WW_RUN(hmnmx2, 1); WW_RUN(shfl, 1);
    measure("lds_32", "bytes", lds_32, 32.0 * 4 * kChains, 0, 0u);
    measure("lds_64", "bytes", lds_64, 32.0 * 8 * kChains, 0, 0u);
    measure("lds_128", "bytes", lds_128, 32.0 * 16 * kChains, 0, 0u);
    measure("ldsm_4", "bytes", ldsm_4, 512.0 * kChains, 0, 0u);
    measure("sts_128", "bytes", sts_128, 32.0 * 16 * kChains, 0, 0u);
    measure("hmma_f32", "multiply-adds", hmma_f32, 16.0 * 8 * 16 * kChains);
    measure("hmma_f16", "multiply-adds", hmma_f16, 16.0 * 8 * 16 * kChains);
    measure("hmma_tf32", "multiply-adds", hmma_tf32, 16.0 * 8 * 8 * kChains);
    measure("imma_s8", "multiply-adds", imma_s8, 16.0 * 8 * 32 * kChains);
    if (device.major == 9) {
        measure("hgmma_f32", "multiply-adds", hgmma_f32, 64.0 * 128 * 16 * kChains / 4, 32768);
        measure("hgmma_tf32", "multiply-adds", hgmma_tf32, 64.0 * 128 * 8 * kChains / 4, 32768);
        measure("qgmma_f32", "multiply-adds", qgmma_f32, 64.0 * 128 * 32 * kChains / 4, 32768);
        measure("igmma", "multiply-adds", igmma, 64.0 * 128 * 32 * kChains / 4, 32768);
    }
    return 0;
}
