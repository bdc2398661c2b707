// SPDX-License-Identifier: Apache-2.0
// Tests of pure instructions: fill the sources with edge and random values, run the row, compare
// each lane with a scalar reference, bit for bit.
#pragma once
#include <cstring>
#include <random>

#include "warp_bench.hpp"

namespace ww::isa::arith_test {

template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

inline uint64_t edge_bits(int width, uint32_t i) {
    static const uint64_t k32[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                   0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f7fffff,
                                   0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                   0xffc12345, 0x7f800001, 0x33000000, 0xffffffff, 0x7fffffff,
                                   2,          31,         32,         33,         0x477fefff,
                                   0x477ff000, 0x43e00000, 0x3f000000, 0x40200000, 0xc0600000};
    static const uint64_t k64[] = {0,
                                   uint64_t{1} << 63,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000123,
                                   ~uint64_t{0},
                                   ~uint64_t{0} >> 1,
                                   0x3fe0000000000000,
                                   0x4004000000000000,
                                   0x43e0000000000000,
                                   63,
                                   64,
                                   0x41dfffffffc00000};
    static const uint64_t k16[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00,
                                   0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                                   0x3f80, 0x7f7f, 0x7f80, 0x7fc0, 0x0080, 0x007f, 0xffff,
                                   0x7fff, 15,     16,     17};
    static const uint64_t k8[] = {0, 0x80, 1, 0x7f, 0xff, 0x7e, 0x08, 0x38};
    if (width == 8) return k64[i % std::size(k64)];
    if (width == 4) return k32[i % std::size(k32)];
    return width == 2 ? k16[i % std::size(k16)] : k8[i % std::size(k8)];
}

class Rows {
  public:
    // Each call draws new values: edges in the first rounds, then random bits near and far.
    template <class T>
    void fill(const TestOperand& operand) {
        T* values = bench.values<T>(operand);
        for (int lane = 0; lane < kLanes; ++lane) {
            uint64_t bits = random_();
            if (round_ < 4 || bits % 4 == 0)
                bits = edge_bits(sizeof(T), static_cast<uint32_t>(random_() >> 20));
            const auto narrow = static_cast<BitsOf<T>>(bits);
            std::memcpy(&values[lane], &narrow, sizeof narrow);
        }
    }
    // d = f(a, b, ...), for 24 rounds of 32 lanes; destination and sources of their own width.
    template <class D, class... S, class F>
    void check(const std::string& opcode, F&& reference) {
        const TestOperand d = of_width(0, sizeof(D));
        size_t count = 0;
        const std::vector<TestOperand> sources = {of_width(++count, sizeof(S))...};
        std::vector<TestOperand> operands = {d};
        operands.insert(operands.end(), sources.begin(), sources.end());
        ASSERT_EQ(bench.bind(opcode, operands), "") << opcode;
        for (round_ = 0; round_ < 24; ++round_) {
            size_t next = 0;
            (fill<S>(sources[next++]), ...);
            bench.step();
            check_lanes<D, S...>(opcode, d, sources, reference, std::index_sequence_for<S...>{});
            if (::testing::Test::HasFailure()) return;
        }
    }
    Bench bench;

  private:
    template <class D, class... S, class F, size_t... I>
    void check_lanes(const std::string& opcode, const TestOperand& d,
                     const std::vector<TestOperand>& sources, F&& reference,
                     std::index_sequence<I...>) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const D expected = reference(bench.values<S>(sources[I])[lane]...);
            BitsOf<D> want, got;
            std::memcpy(&want, &expected, sizeof want);
            std::memcpy(&got, &bench.values<D>(d)[lane], sizeof got);
            std::string inputs;
            ((inputs.append(" ").append(hex(bench.values<S>(sources[I])[lane]))), ...);
            ASSERT_EQ(want, got) << opcode << inputs << " gives " << hex(got) << ", should be "
                                 << hex(want);
        }
    }
    template <class T>
    static std::string hex(T value) {
        BitsOf<T> bits;
        std::memcpy(&bits, &value, sizeof bits);
        char text[32];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
        return text;
    }
    TestOperand of_width(size_t index, size_t bytes) {
        TestOperand operand = registers_[index];
        operand.elements[0].width = static_cast<uint8_t>(bytes);
        return operand;
    }
    std::vector<TestOperand> registers_{bench.reg(8), bench.reg(8), bench.reg(8), bench.reg(8),
                                        bench.reg(8)};
    std::mt19937_64 random_{20261129};
    int round_ = 0;
};

}  // namespace ww::isa::arith_test
