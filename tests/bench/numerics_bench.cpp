// SPDX-License-Identifier: Apache-2.0
// Rates of the tensor-core models on one core, decoding of operands included: "MAC" is per second.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "numerics/half.hpp"
#include "numerics/tensor_core.hpp"

namespace {

using namespace ww::numerics;

struct Operands {
    std::vector<std::uint8_t> a, b, scale_a, scale_b;
    std::vector<float> c;
};

// Normal values, as activations and weights have.
std::vector<std::uint8_t> random_codes(const Model& model, Format format, int rows, int k,
                                       std::mt19937& random) {
    const int bytes = row_bytes(model, format, k) * rows;
    std::vector<std::uint8_t> codes(bytes);
    std::normal_distribution<double> normal;
    const int bits = info(format).bits;
    if (bytes < rows * k) {
        for (auto& code : codes) {
            code = static_cast<std::uint8_t>(encode(format, normal(random)) |
                                             encode(format, normal(random)) << 4);
        }
        return codes;
    }
    const double spread = info(format).exponent_bits == 0 ? 30.0 : 1.0;
    const int size = std::max(1, bits / 8);
    for (int i = 0; i < bytes; i += size) {
        const std::uint64_t code = encode(format, spread * normal(random));
        std::memcpy(&codes[i], &code, size);
    }
    return codes;
}

Operands make_operands(const Model& model, Shape shape) {
    std::mt19937 random(1);
    Operands out;
    out.a = random_codes(model, model.a, shape.m, shape.k, random);
    out.b = random_codes(model, model.b, shape.n, shape.k, random);
    const int scales = model.scale_block ? shape.k / model.scale_block : 0;
    for (int i = 0; i < shape.m * scales; ++i) {
        out.scale_a.push_back(
            static_cast<std::uint8_t>(encode(model.scale, 0.25 * (1 + random() % 9))));
    }
    for (int i = 0; i < shape.n * scales; ++i) {
        out.scale_b.push_back(
            static_cast<std::uint8_t>(encode(model.scale, 0.25 * (1 + random() % 9))));
    }
    out.c.resize(static_cast<std::size_t>(shape.m) * shape.n, 0.5f);
    return out;
}

void run(benchmark::State& state, const MmaKind& kind, Shape shape) {
    const Model model = find_model(kind).value();
    Operands operands = make_operands(model, shape);
    std::vector<float> d(operands.c.size());
    const MmaOperands matrices{operands.a.data(), operands.b.data(),       operands.c.data(),
                               d.data(),          operands.scale_a.data(), operands.scale_b.data()};
    for (auto _ : state) {
        mma(model, shape, matrices);
        benchmark::ClobberMemory();
    }
    const double macs = static_cast<double>(shape.m) * shape.n * shape.k;
    state.counters["MAC"] = benchmark::Counter(macs * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

MmaKind plain(Format format, Format accumulator = Format::f32, Unit unit = Unit::mma_sync) {
    MmaKind kind;
    kind.unit = unit;
    kind.a = kind.b = format;
    kind.accumulator = accumulator;
    return kind;
}

MmaKind scaled(Format format, Format scale, int block, bool packed) {
    MmaKind kind = plain(format);
    kind.sm = 120;
    kind.scale = scale;
    kind.scale_block = block;
    kind.packed_fp4 = packed;
    return kind;
}

constexpr Shape k16x8x16{16, 8, 16}, k16x8x32{16, 8, 32}, k16x8x64{16, 8, 64},
    k64x256x16{64, 256, 16};
constexpr Unit kWgmma = Unit::wgmma;

BENCHMARK_CAPTURE(run, mma_m16n8k16_bf16, plain(Format::bf16), k16x8x16);
BENCHMARK_CAPTURE(run, mma_m16n8k16_f16, plain(Format::f16), k16x8x16);
BENCHMARK_CAPTURE(run, mma_m16n8k16_f16_to_f16, plain(Format::f16, Format::f16), k16x8x16);
BENCHMARK_CAPTURE(run, mma_m16n8k8_tf32, plain(Format::tf32), Shape{16, 8, 8});
BENCHMARK_CAPTURE(run, mma_m16n8k32_e4m3, plain(Format::e4m3), k16x8x32);
BENCHMARK_CAPTURE(run, mma_m16n8k32_s8, plain(Format::s8, Format::s32), k16x8x32);
BENCHMARK_CAPTURE(run, mma_m16n8k32_mxf8f6f4_e4m3, scaled(Format::e4m3, Format::ue8m0, 32, false),
                  k16x8x32);
BENCHMARK_CAPTURE(run, mma_m16n8k64_mxf4nvf4, scaled(Format::e2m1, Format::ue4m3, 16, true),
                  k16x8x64);
BENCHMARK_CAPTURE(run, wgmma_m64n256k16_bf16, plain(Format::bf16, Format::f32, kWgmma), k64x256x16);
BENCHMARK_CAPTURE(run, wgmma_m64n256k32_e4m3, plain(Format::e4m3, Format::f32, kWgmma),
                  Shape{64, 256, 32});

void directed_add(benchmark::State& state) {
    std::vector<float> a(32), b(32), d(32);
    std::mt19937 random(2);
    for (int i = 0; i < 32; ++i) {
        a[i] = static_cast<float>(random()) * 0x1p-20f;
        b[i] = static_cast<float>(random()) * 0x1p-10f;
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(a.data());
        for (int i = 0; i < 32; ++i) d[i] = add<Rounding::rm>(a[i], b[i]);
        benchmark::DoNotOptimize(d.data());
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 32);
}
BENCHMARK(directed_add);

}  // namespace
