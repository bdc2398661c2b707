// SPDX-License-Identifier: Apache-2.0
// The host side of the Hopper GEMMs in this folder: an exact problem, and a launch. Small integers, so
// that every sum is exact in any order.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "base/policy.hpp"
#include "device/device.hpp"

namespace ww::hopper {

constexpr uint32_t kM = 128, kN = 512, kK = 832;
constexpr uint32_t kBf16 = 9, kF32 = 7, kSwizzle128 = 3;

struct Kernel {
    const char* file;   // in this folder
    const char* entry;
    uint32_t columns, cluster, threads;  // columns: of blocks
    uint32_t map_rows_b;   // rows of B that one tensor copy brings
    uint32_t shared_bytes;
    bool stores_by_map;    // C is the third tensor map; else a pointer
};
constexpr Kernel kRing = {"hopper_gemm.cu", "hopper_gemm", 4, 1, 160, 128, 3 * (64 + 128) * 64 * 2, false};
constexpr Kernel kCluster = {"hopper_cluster_gemm.cu", "hopper_cluster_gemm", 1, 2, 160, 64, 3 * (64 + 128) * 64 * 2 + 64 * 128 * 4, true};

struct Problem {
    std::vector<uint16_t> a, b;
    std::vector<float> expected;
};

inline uint16_t bf16_of(int value) {
    const float f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
}

inline Problem problem() {
    Random random(3);
    std::vector<int> a(kM * kK), b(kN * kK);
    for (int& value : a) value = static_cast<int>(random.below(9)) - 4;
    for (int& value : b) value = static_cast<int>(random.below(9)) - 4;
    Problem out;
    for (const int value : a) out.a.push_back(bf16_of(value));
    for (const int value : b) out.b.push_back(bf16_of(value));
    for (size_t row = 0; row < kM; ++row)
        for (size_t column = 0; column < kN; ++column) {
            int sum = 0;
            for (size_t i = 0; i < kK; ++i) sum += a[row * kK + i] * b[column * kK + i];
            out.expected.push_back(static_cast<float>(sum));
        }
    return out;
}

inline Result<device::Argument> argument_of(device::Device& device, const device::TensorMapTiled& tiled) {
    WW_TRY(map, device.encode_tensor_map(tiled));
    return device::Argument{.bytes = std::vector<std::byte>(map.begin(), map.end()), .align = 64};
}

inline Result<device::Argument> map_of(device::Device& device, device::Address address, uint32_t rows, uint32_t box_rows) {
    return argument_of(device, {.data_type = kBf16, .address = address, .sizes = {kK, rows}, .strides = {kK * 2},
                                .box = {64, box_rows}, .element_strides = {1, 1}, .swizzle = kSwizzle128});
}

inline Result<device::Argument> map_of_c(device::Device& device, device::Address address) {
    return argument_of(device, {.data_type = kF32, .address = address, .sizes = {kN, kM}, .strides = {kN * 4},
                                .box = {128, 64}, .element_strides = {1, 1}});
}

// C, as the kernel left it.
inline Result<std::vector<float>> run(device::Device& device, const Kernel& kernel, const std::string& ptx, const Problem& p) {
    WW_TRY(a, device.allocate(p.a.size() * 2));
    WW_TRY(b, device.allocate(p.b.size() * 2));
    WW_TRY(c, device.allocate(p.expected.size() * 4));
    WW_TRY(copied_a, device.copy_in(a, std::as_bytes(std::span(p.a))));
    WW_TRY(copied_b, device.copy_in(b, std::as_bytes(std::span(p.b))));
    WW_TRY(a_map, map_of(device, a, kM, 64));
    WW_TRY(b_map, map_of(device, b, kN, kernel.map_rows_b));
    WW_TRY(c_map, map_of_c(device, c));
    WW_TRY(module, device.load({device::Image::Kind::ptx, kernel.entry, ptx}));
    WW_TRY(id, device.kernel(module, kernel.entry));
    const device::Launch launch{.grid = {kernel.columns, kM / 64},
                                .block = {kernel.threads},
                                .cluster = {1, kernel.cluster},
                                .dynamic_shared_bytes = kernel.shared_bytes,
                                .arguments = {a_map, b_map, kernel.stores_by_map ? c_map : device::Argument::of(c),
                                              device::Argument::of(int{kN}), device::Argument::of(int{kK})}};
    WW_TRY(report, device.launch(id, launch));
    std::vector<float> out(p.expected.size());
    WW_TRY(copied, device.copy_out(std::as_writable_bytes(std::span(out)), c));
    (void)copied_a, (void)copied_b, (void)report, (void)copied;
    return out;
}

}  // namespace ww::hopper
