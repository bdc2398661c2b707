// SPDX-License-Identifier: Apache-2.0
// The Hopper bf16 ping-pong GEMM, cluster 2 x 1 with multicast of B; a size that is no multiple of
// the tile. Products are exact, sums are those of float32.
#include "cutlass_gemm.cuh"

#include "../units/cutlass_sm90_bf16_pingpong.cu"

int main(int argc, char** argv) {
    using namespace real;
    Outcome outcome(argc, argv);
    for (const Problem& size : problems(outcome, {200, 392, 320}, {{264, 264, 320, 2, 0.5f}, {136, 264, 320, 2}}))
        run_gemm<Bf16>(outcome, size, uniform<Bf16::A>(size_t(size.m) * size.k, 3),
                       uniform<Bf16::B>(size_t(size.n) * size.k, 4), half_ulp_bf16, size.k * std::ldexp(1.0, -23));
    return outcome.finish();
}
