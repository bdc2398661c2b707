// SPDX-License-Identifier: Apache-2.0
// The C API on the emulator: strides, and what it does with wrong arguments. Its numbers are judged by
// the chain rungs of kernels/sage3.
#include "sage3/sage3.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using Halves = std::vector<uint16_t>;

class Sage3Api : public testing::Test {
  protected:
    static constexpr int64_t kB = 2, kH = 2, kHkv = 1, kLq = 19, kLk = 33, kD = 24;

    void SetUp() override { ASSERT_EQ(ww_sage3_open("emulator", &handle_), WW_SAGE3_OK); }
    void TearDown() override { ww_sage3_close(handle_); }

    void* memory(const void* from, size_t bytes) {
        void* out = nullptr;
        EXPECT_EQ(ww_sage3_allocate(handle_, bytes, &out), WW_SAGE3_OK);
        EXPECT_EQ(ww_sage3_copy_in(handle_, out, from, bytes), WW_SAGE3_OK);
        return out;
    }

    // f16 of [B, heads, length, D] in small steps, with the tokens before the heads if asked.
    static Halves values(int64_t heads, int64_t length, bool tokens_first) {
        Halves out(static_cast<size_t>(kB * heads * length * kD));
        for (int64_t b = 0; b < kB; ++b)
            for (int64_t h = 0; h < heads; ++h)
                for (int64_t l = 0; l < length; ++l)
                    for (int64_t d = 0; d < kD; ++d) {
                        const int64_t row = tokens_first ? (b * length + l) * heads + h : (b * heads + h) * length + l;
                        const auto hash = static_cast<uint32_t>(((b * 7 + h) * 131 + l) * 29 + d) * 2654435761u;
                        out[static_cast<size_t>(row * kD + d)] = static_cast<uint16_t>(0x3000 + (hash >> 20) + ((hash & 1) << 15));
                    }
        return out;
    }

    ww_sage3_tensor tensor(int64_t heads, int64_t length, bool tokens_first) {
        const Halves x = values(heads, length, tokens_first);
        return tokens_first ? ww_sage3_tensor{memory(x.data(), x.size() * 2), length * heads * kD, kD, heads * kD}
                            : ww_sage3_tensor{memory(x.data(), x.size() * 2), heads * length * kD, length * kD, kD};
    }

    ww_sage3_problem problem(bool tokens_first = false) {
        ww_sage3_problem p{};
        p.batches = kB, p.heads = kH, p.kv_heads = kHkv, p.queries = kLq, p.keys = kLk, p.head_dim = kD;
        p.causal = WW_SAGE3_BOTTOM_RIGHT;
        p.scale = 0.2f;
        p.q = tensor(kH, kLq, tokens_first);
        p.k = tensor(kHkv, kLk, tokens_first);
        p.v = tensor(kHkv, kLk, tokens_first);
        p.o = tensor(kH, kLq, tokens_first);  // something to be overwritten, or to stay
        return p;
    }

    Halves o(const ww_sage3_problem& p) {
        Halves out(static_cast<size_t>(kB * kH * kLq * kD));
        EXPECT_EQ(ww_sage3_copy_out(handle_, out.data(), p.o.data, out.size() * 2), WW_SAGE3_OK);
        return out;
    }

    ww_sage3* handle_ = nullptr;
};

TEST_F(Sage3Api, layouts_give_the_same_bits) {
    const ww_sage3_problem heads_first = problem(), tokens_first = problem(true);
    ASSERT_EQ(ww_sage3_attention(handle_, &heads_first), WW_SAGE3_OK) << ww_sage3_message(handle_);
    ASSERT_EQ(ww_sage3_attention(handle_, &tokens_first), WW_SAGE3_OK) << ww_sage3_message(handle_);
    const Halves a = o(heads_first), b = o(tokens_first);
    for (int64_t bb = 0; bb < kB; ++bb)
        for (int64_t h = 0; h < kH; ++h)
            for (int64_t l = 0; l < kLq; ++l)
                EXPECT_EQ(0, std::memcmp(&a[static_cast<size_t>(((bb * kH + h) * kLq + l) * kD)],
                                         &b[static_cast<size_t>(((bb * kLq + l) * kH + h) * kD)], kD * 2));
    EXPECT_NE(a, values(kH, kLq, false));
}

TEST_F(Sage3Api, writes_the_log_sum_exp_where_it_is_wanted) {
    ww_sage3_problem p = problem();
    std::vector<float> lse(static_cast<size_t>(kB * kH * kLq), -77.0f);
    p.lse = memory(lse.data(), lse.size() * 4);
    ASSERT_EQ(ww_sage3_attention(handle_, &p), WW_SAGE3_OK) << ww_sage3_message(handle_);
    ASSERT_EQ(ww_sage3_copy_out(handle_, lse.data(), p.lse, lse.size() * 4), WW_SAGE3_OK);
    for (const float each : lse) EXPECT_GT(each, -50.0f);
}

TEST_F(Sage3Api, wrong_arguments_launch_nothing) {
    struct Wrong {
        std::function<void(ww_sage3_problem&)> change;
        std::string message;
    };
    const Wrong wrongs[] = {
        {[](ww_sage3_problem& p) { p.k.data = nullptr; }, "k is null"},
        {[](ww_sage3_problem& p) { p.v.data = static_cast<char*>(p.v.data) + 1; }, "not aligned to 2 bytes"},
        {[](ww_sage3_problem& p) { p.head_dim = 256; }, "head_dim is 256: 1 to 128 is supported"},
        {[](ww_sage3_problem& p) { p.kv_heads = 3; }, "heads is 2: a multiple of kv_heads (3) is due"},
        {[](ww_sage3_problem& p) { p.type = static_cast<ww_sage3_type>(2); }, "type is 2"},
        {[](ww_sage3_problem& p) { p.causal = static_cast<ww_sage3_causal>(9); }, "causal is 9"},
        {[](ww_sage3_problem& p) { p.scale = -1; }, "scale is -1"},
        {[](ww_sage3_problem& p) { p.q.head = -1; }, "q's head stride is -1"},
        {[](ww_sage3_problem& p) { p.o.token = 1; }, "its rows overlap"},
    };
    for (const Wrong& each : wrongs) {
        ww_sage3_problem p = problem();
        const Halves before = o(p);
        each.change(p);
        EXPECT_EQ(ww_sage3_attention(handle_, &p), WW_SAGE3_INVALID) << each.message;
        EXPECT_NE(std::string(ww_sage3_message(handle_)).find(each.message), std::string::npos)
            << ww_sage3_message(handle_);
        EXPECT_EQ(o(p), before);
    }
}

// f16 NaN at one element of a tensor; every element of o by whether it is NaN.
TEST_F(Sage3Api, a_nan_reaches_what_depends_on_it) {
    const uint16_t nan = 0x7e00;
    const auto nans = [&](auto change) {
        ww_sage3_problem p = problem();
        p.causal = WW_SAGE3_FULL;
        change(p);
        EXPECT_EQ(ww_sage3_attention(handle_, &p), WW_SAGE3_OK) << ww_sage3_message(handle_);
        std::vector<bool> out;
        for (const uint16_t each : o(p)) out.push_back((each & 0x7fff) > 0x7c00);
        return out;
    };
    const auto put = [&](const ww_sage3_tensor& x, int64_t element) {
        EXPECT_EQ(ww_sage3_copy_in(handle_, static_cast<char*>(x.data) + element * 2, &nan, 2), WW_SAGE3_OK);
    };
    const size_t head = kLq * kD;
    const std::vector<bool> clean = nans([](ww_sage3_problem&) {});
    EXPECT_EQ(std::count(clean.begin(), clean.end(), true), 0);
    // q: its 128 queries share a mean. k: the keys of both heads of batch 1 do.
    const std::vector<bool> of_q = nans([&](ww_sage3_problem& p) { put(p.q, p.q.head + 3 * kD + 5); });
    const std::vector<bool> of_k = nans([&](ww_sage3_problem& p) { put(p.k, p.k.batch + 7 * kD + 2); });
    for (size_t i = 0; i < clean.size(); ++i) {
        EXPECT_EQ(of_q[i], i / head == 1) << i;
        EXPECT_EQ(of_k[i], i / head >= 2) << i;
    }
    // v: one channel of the heads that read it.
    const std::vector<bool> of_v = nans([&](ww_sage3_problem& p) { put(p.v, 9 * kD + 11); });
    for (size_t i = 0; i < clean.size(); ++i) EXPECT_EQ(of_v[i], i / head < 2 && i % kD == 11) << i;
}

TEST_F(Sage3Api, a_fault_on_the_device_is_a_message) {
    ww_sage3_problem p = problem();
    p.q.batch = int64_t{1} << 30;  // beyond what was allocated
    EXPECT_EQ(ww_sage3_attention(handle_, &p), WW_SAGE3_FAILED);
    EXPECT_NE(std::string(ww_sage3_message(handle_)).find("sage3_mean"), std::string::npos)
        << ww_sage3_message(handle_);
    p.q.batch = 0;  // and the handle lives on
    EXPECT_EQ(ww_sage3_attention(handle_, &p), WW_SAGE3_OK) << ww_sage3_message(handle_);
    EXPECT_STREQ(ww_sage3_message(handle_), "");
}

TEST(Sage3Open, says_what_it_knows) {
    ww_sage3* handle = nullptr;
    EXPECT_EQ(ww_sage3_open("emulater", &handle), WW_SAGE3_INVALID);
    EXPECT_STREQ(ww_sage3_message(handle), "device is 'emulater': \"emulator\" or \"cuda\" is due");
    ww_sage3_problem p{};
    EXPECT_EQ(ww_sage3_attention(handle, &p), WW_SAGE3_NO_DEVICE);
    ww_sage3_close(handle);
    EXPECT_EQ(ww_sage3_open("emulator", nullptr), WW_SAGE3_INVALID);
    EXPECT_EQ(ww_sage3_attention(nullptr, &p), WW_SAGE3_INVALID);
    EXPECT_STREQ(ww_sage3_message(nullptr), "the handle is null");
    ww_sage3_close(nullptr);
}

}  // namespace
