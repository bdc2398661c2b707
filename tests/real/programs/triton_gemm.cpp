// SPDX-License-Identifier: Apache-2.0
// Triton's GEMM: c = alpha * (a b) + beta * c in f16, sizes that are no multiples of the tile.
#include <cuda_fp16.h>

#include "triton.hpp"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const int m = 208, n = 144, k = 224;
    const float alpha = 0.5f, beta = 2;
    const auto a = real::uniform<half>(m * k, 1), b = real::uniform<half>(k * n, 2), c = real::uniform<half>(m * n, 3);
    real::Array<half> on_a(a), on_b(b), on_c(c);
    real::Triton kernel;
    const int tiles = (m + 127) / 128 * ((n + 127) / 128);
    kernel.launch(tiles, on_a.get(), on_b.get(), on_c.get(), m, n, k, k, n, n, alpha, beta);
    outcome.launched("gemm_kernel");
    outcome.compare("c", on_c.host(), [&](size_t i) {
        double sum = 0, magnitude = 0;
        for (int j = 0; j < k; ++j) {
            const double product = double(float(a[i / n * k + j])) * double(float(b[j * n + i % n]));
            sum += product, magnitude += std::fabs(product);
        }
        // The sum is rounded to f16 before the epilogue and after it.
        const double value = alpha * sum + beta * float(c[i]);
        return real::Wanted{value, real::half_ulp_f16(value) + alpha * real::half_ulp_f16(sum) + k * std::ldexp(1.0, -23) * magnitude};
    });
    return outcome.finish();
}
