// SPDX-License-Identifier: Apache-2.0
// The warp-specialised Hopper FP8 GEMM, cluster 1 x 2 with multicast of A. Its sums keep 13 bits
// below the largest term of a step, so the bound allows 2^-10 of the magnitudes.
#include "cutlass_gemm.cuh"

#include "../units/cutlass_sm90_fp8.cu"

int main(int argc, char** argv) {
    using namespace real;
    Outcome outcome(argc, argv);
    for (const Problem& size : problems(outcome, {256, 512, 384}, {{256, 512, 768, 2, 0.5f}, {128, 512, 512, 2}}))
        run_gemm<Fp8>(outcome, size, uniform<Fp8::A>(size_t(size.m) * size.k, 1, 2),
                      uniform<Fp8::B>(size_t(size.n) * size.k, 2, 2), half_ulp_bf16, 1.0 / 1024);
    return outcome.finish();
}
