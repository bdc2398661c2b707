// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2's f16 GEMM of Ampere, by tiles and by stream-K (8 multiprocessors share 6 tiles; partial
// tiles meet in a workspace, under flags). The order of stream-K's sums is fixed, but small integers
// make it exact besides.
#include "../units/cutlass_sm80_f16.cu"

#include "program.cuh"

namespace {

constexpr int kMultiprocessors = 8;

void check(cutlass::Status status, const char* what) {
    if (status == cutlass::Status::kSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cutlassGetStatusString(status));
    std::exit(2);
}

template <class Swizzle>
void run(real::Outcome& outcome, const char* name, int m, int n, int k, bool integers) {
    using Gemm = cutlass::gemm::device::GemmUniversal<
        half_t, Row, half_t, Column, half_t, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        cutlass::gemm::GemmShape<128, 128, 32>, cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
        cutlass::epilogue::thread::LinearCombination<half_t, 8, float, float>, Swizzle, 4, 8, 8>;
    const size_t a_size = size_t(m) * k, b_size = size_t(n) * k;
    const auto a = integers ? real::integers<half_t>(a_size, 1, 2) : real::uniform<half_t>(a_size, 1);
    const auto b = integers ? real::integers<half_t>(b_size, 2, 2) : real::uniform<half_t>(b_size, 2);
    real::Array<half_t> on_a(a), on_b(b), on_d(size_t(m) * n);
    typename Gemm::Arguments arguments(cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k}, 1, {1.0f, 0.0f}, on_a.get(), on_b.get(),
                                       on_d.get(), on_d.get(), 0, 0, 0, 0, k, k, n, n);
    if constexpr (std::is_same_v<Swizzle, cutlass::gemm::threadblock::ThreadblockSwizzleStreamK>) arguments.avail_sms = kMultiprocessors;
    Gemm gemm;
    real::Array<uint8_t> workspace(Gemm::get_workspace_size(arguments) + 1);
    check(gemm.initialize(arguments, workspace.get()), "initialize");
    check(gemm.run(), "run");
    outcome.launched(name);
    outcome.compare(name, on_d.host(), [&](size_t i) {
        double value = 0, magnitude = 0;
        for (int j = 0; j < k; ++j) {
            const double product = double(float(a[i / n * k + j])) * double(float(b[i % n * k + j]));
            value += product, magnitude += std::fabs(product);
        }
        return real::Wanted{value, real::half_ulp_f16(value) + (integers ? 0 : k * std::ldexp(1.0, -23) * magnitude)};
    });
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    run<cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>>(outcome, "by_tiles", 200, 136, 160, false);
    run<cutlass::gemm::threadblock::ThreadblockSwizzleStreamK>(outcome, "by_stream_k", 256, 384, 512, true);
    return outcome.finish();
}
