// SPDX-License-Identifier: Apache-2.0
// links: device
// SAGE3_EXACT_FP4 on an sm_90a emulator beside the FP4 kernels on an sm_120a one: what differs is the order of sums alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "numerics/formats.hpp"
#include "sage3/sage3.h"
#include "sage3/sage3_host.hpp"
#include "toolchain/found.hpp"

namespace ww::sage3 {
namespace {

using numerics::Format;
using Halves = std::vector<uint16_t>;

struct Shape {
    int64_t heads = 2, kv_heads = 1, queries = 150, keys = 300, depth = 64;
};

Halves normal(int64_t count, double deviation, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> draw(0, deviation);
    Halves out(static_cast<size_t>(count));
    for (uint16_t& each : out) each = static_cast<uint16_t>(numerics::encode(Format::f16, draw(random)));
    return out;
}

struct Inputs {
    Halves q, k, v;
};
struct Outputs {
    Halves o;
    std::vector<float> lse;
};

class Target {
  public:
    explicit Target(const char* name)
        : device_(device::open_emulated({.target = name})), handle_(wrap(*device_, WW_SOURCE_DIR "/kernels/sage3")) {}
    ~Target() { sage3_close(handle_); }

    Outputs run(const Shape& s, const Inputs& in, float scale, uint32_t flags) {
        const auto tensor = [&](const Halves& x, int64_t heads, int64_t length) {
            void* memory = nullptr;
            EXPECT_EQ(sage3_allocate(handle_, x.size() * 2, &memory), SAGE3_OK);
            EXPECT_EQ(sage3_copy_in(handle_, memory, x.data(), x.size() * 2), SAGE3_OK);
            return sage3_tensor{memory, heads * length * s.depth, length * s.depth, s.depth};
        };
        Outputs out{Halves(in.q.size()), std::vector<float>(static_cast<size_t>(s.heads * s.queries))};
        sage3_problem p{};
        p.struct_bytes = sizeof p;
        p.batches = 1, p.heads = s.heads, p.kv_heads = s.kv_heads, p.queries = s.queries, p.keys = s.keys, p.head_dim = s.depth;
        p.causal = SAGE3_BOTTOM_RIGHT, p.scale = scale, p.flags = flags;
        p.q = tensor(in.q, s.heads, s.queries), p.o = tensor(out.o, s.heads, s.queries);
        p.k = tensor(in.k, s.kv_heads, s.keys), p.v = tensor(in.v, s.kv_heads, s.keys);
        EXPECT_EQ(sage3_allocate(handle_, out.lse.size() * 4, &p.lse), SAGE3_OK);
        uint64_t bytes = 0;
        EXPECT_EQ(sage3_workspace_bytes(handle_, &p, &bytes), SAGE3_OK) << sage3_message();
        void* workspace = nullptr;
        EXPECT_EQ(sage3_allocate(handle_, bytes, &workspace), SAGE3_OK);
        EXPECT_EQ(sage3_attention(handle_, &p, workspace, bytes, nullptr), SAGE3_OK) << sage3_message();
        EXPECT_EQ(sage3_copy_out(handle_, out.o.data(), p.o.data, out.o.size() * 2), SAGE3_OK);
        EXPECT_EQ(sage3_copy_out(handle_, out.lse.data(), p.lse, out.lse.size() * 4), SAGE3_OK);
        return out;
    }

  private:
    std::unique_ptr<device::Device> device_;
    ::sage3* handle_;
};

Inputs inputs(const Shape& s, double deviation) {
    return {normal(s.heads * s.queries * s.depth, deviation, 1), normal(s.kv_heads * s.keys * s.depth, deviation, 2),
            normal(s.kv_heads * s.keys * s.depth, 1, 3)};
}

// Of so many elements, how many have other bits.
template <class T>
size_t differing(const std::vector<T>& a, const std::vector<T>& b) {
    size_t out = 0;
    for (size_t i = 0; i < a.size(); ++i) out += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
    return out;
}

class Sage3Exact : public testing::Test {
  protected:
    void SetUp() override {
        if (toolchain::find_part("nvrtc").origin == toolchain::Origin::missing) GTEST_SKIP() << "nvrtc is not on this machine";
    }
    Target blackwell_{"sm_120a"}, hopper_{"sm_90a"};
};

TEST_F(Sage3Exact, differs_from_fp4_by_the_order_of_sums_alone) {
    const Shape s;
    for (const auto& [deviation, scale] : {std::pair{1.0, 0.125f}, std::pair{30.0, 0.125f}, std::pair{1000.0, 2.0f}}) {
        const Inputs in = inputs(s, deviation);
        const Outputs fp4 = blackwell_.run(s, in, scale, 0), exact = hopper_.run(s, in, scale, SAGE3_EXACT_FP4);
        EXPECT_LE(differing(fp4.o, exact.o), fp4.o.size() / 200) << deviation;  // a code of P next to a tie
        EXPECT_LE(differing(fp4.lse, exact.lse), fp4.lse.size() / 20) << deviation;
        EXPECT_GT(differing(hopper_.run(s, in, scale, 0).o, exact.o), fp4.o.size() / 2) << "without the flag: INT8";
    }
}

// Means of 0, and codes that are integers under scales that are powers of two: S is exact in any order. Logits of 10^7
// leave P far above its largest code, which the conversion cuts, and nothing of the other groups.
TEST_F(Sage3Exact, has_the_bits_of_fp4_where_sums_are_exact) {
    const Shape s{.queries = 128, .keys = 256, .depth = 64};
    std::mt19937 random(7);
    const auto paired = [&](int64_t tokens) {
        Halves out;
        for (int64_t i = 0; i < tokens * s.depth; ++i) {
            constexpr double kCodes[] = {1, 2, 3, 4, 6};
            out.push_back(static_cast<uint16_t>(numerics::encode(Format::f16, kCodes[random() % 5] * (i % s.depth == 0 ? 6 : 1))));
        }
        for (int64_t i = 0; i < tokens * s.depth / 2; ++i)  // the second half of the tokens is the first, negated
            out[static_cast<size_t>(tokens * s.depth / 2 + i)] = static_cast<uint16_t>(out[static_cast<size_t>(i)] ^ 0x8000);
        return out;
    };
    Inputs in = inputs(s, 1);
    in.q.clear();
    for (int64_t head = 0; head < s.heads; ++head) {
        const Halves q = paired(s.queries);
        in.q.insert(in.q.end(), q.begin(), q.end());
    }
    in.k = paired(s.keys);
    for (const float scale : {0.125f, 20000.0f}) {
        const Outputs fp4 = blackwell_.run(s, in, scale, 0), exact = hopper_.run(s, in, scale, SAGE3_EXACT_FP4);
        EXPECT_EQ(differing(fp4.lse, exact.lse), 0u) << scale;
        EXPECT_LE(differing(fp4.o, exact.o), scale < 1 ? fp4.o.size() / 200 : 0u) << scale;
    }
}

TEST_F(Sage3Exact, is_the_usual_path_on_sm_120) {
    const Shape s;
    const Inputs in = inputs(s, 1);
    EXPECT_EQ(blackwell_.run(s, in, 0.125f, 0).o, blackwell_.run(s, in, 0.125f, SAGE3_EXACT_FP4).o);
}

}  // namespace
}  // namespace ww::sage3
