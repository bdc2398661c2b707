// SPDX-License-Identifier: Apache-2.0
// Whole kernels on the emulator, one core: milliseconds for a tile of the FP4 attention of
// kernels/sage3, and what a launch of a Hopper GEMM needs of memory. docs/performance.md quotes them.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/files.hpp"
#include "device/device.hpp"
#include "hopper_gemm.hpp"
#include "sage3/sage3_plan.hpp"
#include "toolchain/toolchain.hpp"

namespace {

using namespace ww::device;
namespace sage3 = ww::sage3;

template <class T>
T must(ww::Result<T> result) {
    if (!result) {
        std::fputs(ww::format(result.error()).c_str(), stderr);
        std::exit(1);
    }
    return std::move(*result);
}

template <class T>
Address upload(Device& device, const std::vector<T>& values) {
    const Address at = must(device.allocate(values.size() * sizeof(T)));
    (void)must(device.copy_in(at, std::as_bytes(std::span(values))));
    return at;
}

double peak_bytes() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return 1024.0 * static_cast<double>(used.ru_maxrss);
}

// ---- attention ----

struct Attention {
    std::string target;
    std::unique_ptr<Device> device = open_emulated({.target = target, .threads = 1});
    std::map<std::string, Address, std::less<>> buffers;

    Launch launch_of(const sage3::Step& step) const {
        Launch launch{.grid = {step.grid}, .block = {step.block}, .dynamic_shared_bytes = step.dynamic_shared_bytes};
        for (const sage3::Argument& each : step.arguments)
            std::visit(
                [&](const auto& value) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, sage3::Buffer>)
                        launch.arguments.push_back(Argument::of(buffers.find(value.name)->second));
                    else
                        launch.arguments.push_back(Argument::of(value));
                },
                each);
        return launch;
    }
    KernelId kernel_of(const sage3::Step& step) const {
        const std::string path = std::string(WW_SAGE3_FOLDER) + "/" + std::string(step.source);
        const ww::toolchain::Compiled compiled = must(ww::toolchain::compile_ptx(
            {.source = must(ww::read_file(path)), .name = path, .target = target, .defines = step.defines, .options = {"--fmad=false"}}));
        return must(device->kernel(must(device->load({Image::Kind::ptx, path, compiled.ptx})), std::string(step.entry)));
    }
};

// f16 values of both signs between 1/4 and 2.
std::vector<uint16_t> some_halves(size_t count, uint32_t seed) {
    std::vector<uint16_t> out(count);
    for (uint16_t& each : out) {
        seed = seed * 1664525 + 1013904223;
        each = static_cast<uint16_t>((seed >> 16 & 0x8fff) | 0x3400);
    }
    return out;
}

void attention_tile(benchmark::State& state, sage3::Path path) {
    constexpr int64_t kLength = 512, kDepth = 128;
    const sage3::Strides dense = sage3::Strides::dense(1, kLength, kDepth);
    const sage3::Plan plan = must(sage3::plan({.path = path,
                                               .problem = {.lq = kLength, .lk = kLength, .d = kDepth, .scale = 1 / std::sqrt(128.0)},
                                               .q = dense, .k = dense, .v = dense, .o = dense}));
    Attention attention{path == sage3::Path::fp4 ? "sm_120a" : "sm_90a"};
    for (uint32_t i = 0; i < 3; ++i)
        attention.buffers[std::string(1, "qkv"[i])] = upload(*attention.device, some_halves(kLength * kDepth, i));
    attention.buffers["o"] = upload(*attention.device, std::vector<uint16_t>(kLength * kDepth));
    attention.buffers["lse"] = upload(*attention.device, std::vector<float>(kLength));
    for (const sage3::Workspace& each : plan.workspace) attention.buffers[std::string(each.name)] = must(attention.device->allocate(each.bytes));
    for (size_t i = 0; i + 1 < plan.steps.size(); ++i)
        (void)must(attention.device->launch(attention.kernel_of(plan.steps[i]), attention.launch_of(plan.steps[i])));
    const sage3::Step& step = plan.steps.back();
    const KernelId kernel = attention.kernel_of(step);
    const Launch launch = attention.launch_of(step);
    for (auto _ : state) (void)must(attention.device->launch(kernel, launch));
    const double tiles = static_cast<double>(state.iterations()) * (kLength / 128) * (kLength / 128);
    state.counters["seconds_per_tile"] = benchmark::Counter(tiles, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void sage3_attention_tile(benchmark::State& state) { attention_tile(state, sage3::Path::fp4); }
void sage3_hopper_attention_tile(benchmark::State& state) { attention_tile(state, sage3::Path::int8); }

// ---- a Hopper GEMM ----

struct alignas(64) MapArgument {
    TensorMap bytes;
};

uint16_t bf16_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<uint16_t>(bits >> 16);
}

// 64 blocks, completions as late as they may be: what is in flight is kept. Small integers, so that
// every sum is exact, and some of them are checked.
void hopper_gemm(benchmark::State& state) {
    constexpr uint32_t kRows = 1024, kColumns = 1024, kDepth = 1024;
    const auto device = open_emulated({.target = "sm_90a", .threads = 1, .async = {ww::AsyncPolicy::Kind::lazy}});
    const auto value = [](uint32_t row, uint32_t k, uint32_t seed) { return static_cast<float>((row * 7 + k * 13 + seed) % 9) - 4; };
    const auto matrix = [&](uint32_t rows, uint32_t seed) {
        std::vector<uint16_t> out;
        for (uint32_t row = 0; row < rows; ++row)
            for (uint32_t k = 0; k < kDepth; ++k) out.push_back(bf16_of(value(row, k, seed)));
        return out;
    };
    const auto map_of = [&](Address at, uint32_t rows) {
        constexpr uint32_t kBf16 = 9, kSwizzle128 = 3;
        return MapArgument{must(device->encode_tensor_map({.data_type = kBf16, .address = at, .sizes = {kDepth, rows}, .strides = {2 * kDepth},
                                                           .box = {ww::bench::kGemmDepth, ww::bench::kGemmTile}, .element_strides = {1, 1},
                                                           .swizzle = kSwizzle128}))};
    };
    const Address d = upload(*device, std::vector<float>(kRows * kColumns));
    const KernelId kernel = must(device->kernel(must(device->load({Image::Kind::ptx, "hopper_gemm.ptx", ww::bench::hopper_gemm()})), "gemm"));
    const Launch launch{.grid = {kColumns / 128, kRows / 128}, .block = {ww::bench::kGemmThreads}, .dynamic_shared_bytes = ww::bench::kGemmSharedBytes,
                        .arguments = {Argument::of(map_of(upload(*device, matrix(kRows, 1)), kRows)), Argument::of(map_of(upload(*device, matrix(kColumns, 2)), kColumns)),
                                      Argument::of(d), Argument::of(kColumns), Argument::of(kDepth)}};
    for (auto _ : state) (void)must(device->launch(kernel, launch));
    std::vector<float> got(kRows * kColumns);
    (void)must(device->copy_out(std::as_writable_bytes(std::span(got)), d));
    for (uint32_t i = 0; i < got.size(); i += 7919) {
        float sum = 0;
        for (uint32_t k = 0; k < kDepth; ++k) sum += value(i / kColumns, k, 1) * value(i % kColumns, k, 2);
        if (got[i] != sum) return state.SkipWithError("a wrong sum");
    }
    state.counters["MAC"] = benchmark::Counter(double{kRows} * kColumns * kDepth * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    // Of the whole process: run this one alone.
    state.counters["peak_bytes"] = peak_bytes();
}

BENCHMARK(sage3_attention_tile)->Unit(benchmark::kMillisecond);
BENCHMARK(sage3_hopper_attention_tile)->Unit(benchmark::kMillisecond);
BENCHMARK(hopper_gemm)->Unit(benchmark::kMillisecond);

}  // namespace
