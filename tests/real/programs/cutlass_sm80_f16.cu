// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2's f16 GEMM of Ampere, by tiles and by stream-K (8 multiprocessors share 6 tiles; partial
// tiles meet in a workspace, under flags). The order of stream-K's sums is fixed, but small integers
// make it exact besides. The long form is by tiles alone: with K in two slices, which meet in D under
// semaphores, and C; and without either.
#include "../units/cutlass_sm80_f16.cu"

#include "program.cuh"

namespace {

constexpr int kMultiprocessors = 8;

struct Problem {
    int m, n, k;
    bool integers = false;
    int slices = 1;  // of K
    float beta = 0;
};

void check(cutlass::Status status, const char* what) {
    if (status == cutlass::Status::kSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cutlassGetStatusString(status));
    std::exit(2);
}

template <class Swizzle>
void run(real::Outcome& outcome, const char* name, const Problem& problem) {
    const auto [m, n, k, integers, slices, beta] = problem;
    using Gemm = cutlass::gemm::device::GemmUniversal<
        half_t, Row, half_t, Column, half_t, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        cutlass::gemm::GemmShape<128, 128, 32>, cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
        cutlass::epilogue::thread::LinearCombination<half_t, 8, float, float>, Swizzle, 4, 8, 8>;
    const size_t a_size = size_t(m) * k, b_size = size_t(n) * k;
    const auto a = integers ? real::integers<half_t>(a_size, 1, 2) : real::uniform<half_t>(a_size, 1);
    const auto b = integers ? real::integers<half_t>(b_size, 2, 2) : real::uniform<half_t>(b_size, 2);
    const auto c = real::integers<half_t>(size_t(m) * n, 3, beta == 0 ? 0 : 8);
    real::Array<half_t> on_a(a), on_b(b), on_c(c), on_d(size_t(m) * n);
    typename Gemm::Arguments arguments(cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k}, slices, {1.0f, beta}, on_a.get(), on_b.get(),
                                       on_c.get(), on_d.get(), 0, 0, 0, 0, k, k, n, n);
    if constexpr (std::is_same_v<Swizzle, cutlass::gemm::threadblock::ThreadblockSwizzleStreamK>) arguments.avail_sms = kMultiprocessors;
    Gemm gemm;
    real::Array<uint8_t> workspace(Gemm::get_workspace_size(arguments) + 1);
    check(gemm.initialize(arguments, workspace.get()), "initialize");
    check(gemm.run(), "run");
    outcome.launched(name);
    outcome.compare(name, on_d.host(), [&, n = n, k = k, integers = integers, beta = beta](size_t i) {
        double value = beta * double(float(c[i])), magnitude = 0;
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
    using Tiles = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>;
    using StreamK = cutlass::gemm::threadblock::ThreadblockSwizzleStreamK;
    if (outcome.is_long()) {
        run<Tiles>(outcome, "by_tiles", {128, 136, 576, true, 2, 1.0f});
        run<Tiles>(outcome, "by_tiles_without_c", {128, 136, 288, true});
    } else {
        run<Tiles>(outcome, "by_tiles", {200, 136, 160});
        run<StreamK>(outcome, "by_stream_k", {256, 384, 512, true});
    }
    return outcome.finish();
}
