// SPDX-License-Identifier: Apache-2.0
// The C API on the emulator, with the kernels that are in the library: strides, workspace, threads, and
// what it does with wrong arguments. Its numbers are judged by the chain rungs of kernels/sage3.
#include "sage3/sage3.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sage3/sage3_plan.hpp"
#include "sage3/sage3_sources.hpp"
#include "toolchain/toolchain.hpp"

namespace {

using Halves = std::vector<uint16_t>;

class Sage3Api : public testing::Test {
  protected:
    static constexpr int64_t kB = 2, kH = 2, kHkv = 1, kLq = 19, kLk = 33, kD = 24;

    void SetUp() override { ASSERT_EQ(sage3_open("emulator", &handle_), SAGE3_OK); }
    void TearDown() override { sage3_close(handle_); }

    void* memory(const void* from, size_t bytes) {
        void* out = nullptr;
        EXPECT_EQ(sage3_allocate(handle_, bytes, &out), SAGE3_OK);
        EXPECT_EQ(sage3_copy_in(handle_, out, from, bytes), SAGE3_OK);
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

    sage3_tensor tensor(int64_t heads, int64_t length, bool tokens_first) {
        const Halves x = values(heads, length, tokens_first);
        return tokens_first ? sage3_tensor{memory(x.data(), x.size() * 2), length * heads * kD, kD, heads * kD}
                            : sage3_tensor{memory(x.data(), x.size() * 2), heads * length * kD, length * kD, kD};
    }

    sage3_problem problem(bool tokens_first = false) {
        sage3_problem p{};
        p.struct_bytes = sizeof p;
        p.batches = kB, p.heads = kH, p.kv_heads = kHkv, p.queries = kLq, p.keys = kLk, p.head_dim = kD;
        p.causal = SAGE3_BOTTOM_RIGHT;
        p.scale = 0.2f;
        p.q = tensor(kH, kLq, tokens_first);
        p.k = tensor(kHkv, kLk, tokens_first);
        p.v = tensor(kHkv, kLk, tokens_first);
        p.o = tensor(kH, kLq, tokens_first);  // something to be overwritten, or to stay
        return p;
    }

    uint64_t workspace_bytes(const sage3_problem& p) {
        uint64_t bytes = 0;
        EXPECT_EQ(sage3_workspace_bytes(handle_, &p, &bytes), SAGE3_OK) << sage3_message();
        return bytes;
    }

    // With a workspace of the right size, where there is one: no wrong problem has.
    sage3_status run(const sage3_problem& p) {
        uint64_t bytes = 0;
        if (const sage3_status status = sage3_workspace_bytes(handle_, &p, &bytes); status != SAGE3_OK)
            bytes = 1 << 20;
        void* workspace = nullptr;
        EXPECT_EQ(sage3_allocate(handle_, bytes, &workspace), SAGE3_OK);
        const sage3_status done = sage3_attention(handle_, &p, workspace, bytes, nullptr);
        const std::string why = sage3_message();
        EXPECT_EQ(sage3_release(handle_, workspace), SAGE3_OK);
        EXPECT_STREQ(sage3_message(), "");
        message_ = why;
        return done;
    }

    Halves o(const sage3_problem& p) {
        Halves out(static_cast<size_t>(kB * kH * kLq * kD));
        EXPECT_EQ(sage3_copy_out(handle_, out.data(), p.o.data, out.size() * 2), SAGE3_OK);
        return out;
    }

    sage3* handle_ = nullptr;
    std::string message_;  // of run()
};

TEST_F(Sage3Api, layouts_give_the_same_bits) {
    const sage3_problem heads_first = problem(), tokens_first = problem(true);
    ASSERT_EQ(run(heads_first), SAGE3_OK) << message_;
    ASSERT_EQ(run(tokens_first), SAGE3_OK) << message_;
    const Halves a = o(heads_first), b = o(tokens_first);
    for (int64_t bb = 0; bb < kB; ++bb)
        for (int64_t h = 0; h < kH; ++h)
            for (int64_t l = 0; l < kLq; ++l)
                EXPECT_EQ(0, std::memcmp(&a[static_cast<size_t>(((bb * kH + h) * kLq + l) * kD)],
                                         &b[static_cast<size_t>(((bb * kLq + l) * kH + h) * kD)], kD * 2));
    EXPECT_NE(a, values(kH, kLq, false));
}

TEST_F(Sage3Api, writes_the_log_sum_exp_where_it_is_wanted) {
    sage3_problem p = problem();
    std::vector<float> lse(static_cast<size_t>(kB * kH * kLq), -77.0f);
    p.lse = memory(lse.data(), lse.size() * 4);
    ASSERT_EQ(run(p), SAGE3_OK) << message_;
    ASSERT_EQ(sage3_copy_out(handle_, lse.data(), p.lse, lse.size() * 4), SAGE3_OK);
    for (const float each : lse) EXPECT_GT(each, -50.0f);
}

TEST_F(Sage3Api, packed_sequences_are_batches) {
    const sage3_problem batches = problem(true);
    ASSERT_EQ(run(batches), SAGE3_OK) << message_;
    sage3_problem packed = problem(true);
    packed.batches = 1, packed.sequences = kB, packed.queries = kB * kLq, packed.keys = kB * kLk;
    packed.longest_queries = kLq, packed.longest_keys = kLk;
    const int32_t q_starts[] = {0, kLq, 2 * kLq}, k_starts[] = {0, kLk, 2 * kLk};
    packed.q_starts = static_cast<const int32_t*>(memory(q_starts, sizeof q_starts));
    packed.k_starts = static_cast<const int32_t*>(memory(k_starts, sizeof k_starts));
    ASSERT_EQ(run(packed), SAGE3_OK) << message_;
    EXPECT_EQ(o(packed), o(batches));
}

TEST_F(Sage3Api, masks_of_every_type_and_a_window_hide_the_same_keys) {
    sage3_problem window = problem();
    window.causal = SAGE3_TOP_LEFT;
    window.flags = SAGE3_WINDOW, window.window_left = 4, window.window_right = -1;
    ASSERT_EQ(run(window), SAGE3_OK) << message_;
    constexpr size_t kElements = kLq * kLk;
    std::vector<uint8_t> bytes(kElements);
    Halves halves(kElements);
    std::vector<float> floats(kElements);
    for (int64_t i = 0; i < kLq; ++i)
        for (int64_t j = 0; j < kLk; ++j) {
            const bool seen = j <= i && j >= i - 4;
            const auto at = static_cast<size_t>(i * kLk + j);
            bytes[at] = seen, halves[at] = seen ? 0 : 0xfc00, floats[at] = seen ? 0.0f : -HUGE_VALF;
        }
    const auto masked = [&](sage3_mask type, const void* data, size_t size) {
        sage3_problem p = problem();
        p.causal = SAGE3_FULL;
        p.mask_type = type;
        p.mask = {memory(data, size), 0, 0, kLk};
        EXPECT_EQ(run(p), SAGE3_OK) << message_;
        return o(p);
    };
    EXPECT_EQ(masked(SAGE3_MASK_BYTES, bytes.data(), kElements), o(window));
    EXPECT_EQ(masked(SAGE3_MASK_OF_TYPE, halves.data(), kElements * 2), o(window));
    EXPECT_EQ(masked(SAGE3_MASK_F32, floats.data(), kElements * 4), o(window));
}

TEST_F(Sage3Api, wrong_arguments_launch_nothing) {
    struct Wrong {
        std::function<void(sage3_problem&)> change;
        std::string message;
    };
    const Wrong wrongs[] = {
        {[](sage3_problem& p) { p.k.data = nullptr; }, "k is null"},
        {[](sage3_problem& p) { p.v.data = static_cast<char*>(p.v.data) + 1; }, "not aligned to 2 bytes"},
        {[](sage3_problem& p) { p.head_dim = 257; }, "head_dim is 257: 1 to 256 is supported"},
        {[](sage3_problem& p) { p.flags = 16 + SAGE3_SMOOTH_V; }, "flags is 20: 16 has no meaning"},
        {[](sage3_problem& p) { p.flags = SAGE3_WINDOW, p.window_left = -5; }, "window_left is -5"},
        {[](sage3_problem& p) { p.mask_type = static_cast<sage3_mask>(7); }, "mask_type is 7"},
        {[](sage3_problem& p) { p.mask_type = SAGE3_MASK_F32; }, "mask is null"},
        {[](sage3_problem& p) {
             p.batches = 1, p.sequences = 2, p.longest_queries = p.longest_keys = 9;
         },
         "q_starts is null"},
        {[](sage3_problem& p) { p.kv_heads = 3; }, "heads is 2: a multiple of kv_heads (3) is due"},
        {[](sage3_problem& p) { p.type = static_cast<sage3_type>(2); }, "type is 2"},
        {[](sage3_problem& p) { p.causal = static_cast<sage3_causal>(9); }, "causal is 9"},
        {[](sage3_problem& p) { p.scale = -1; }, "scale is -1"},
        {[](sage3_problem& p) { p.q.head = -1; }, "q's head stride is -1"},
        {[](sage3_problem& p) { p.o.token = 1; }, "its rows overlap"},
    };
    for (const Wrong& each : wrongs) {
        sage3_problem p = problem();
        const Halves before = o(p);
        each.change(p);
        EXPECT_EQ(run(p), SAGE3_INVALID) << each.message;
        EXPECT_NE(message_.find(each.message), std::string::npos)
            << message_;
        EXPECT_EQ(o(p), before);
    }
}

// f16 NaN at one element of a tensor; every element of o by whether it is NaN.
TEST_F(Sage3Api, a_nan_reaches_what_depends_on_it) {
    const uint16_t nan = 0x7e00;
    const auto nans = [&](auto change) {
        sage3_problem p = problem();
        p.causal = SAGE3_FULL;
        change(p);
        EXPECT_EQ(run(p), SAGE3_OK) << message_;
        std::vector<bool> out;
        for (const uint16_t each : o(p)) out.push_back((each & 0x7fff) > 0x7c00);
        return out;
    };
    const auto put = [&](const sage3_tensor& x, int64_t element) {
        EXPECT_EQ(sage3_copy_in(handle_, static_cast<char*>(x.data) + element * 2, &nan, 2), SAGE3_OK);
    };
    const size_t head = kLq * kD;
    const std::vector<bool> clean = nans([](sage3_problem&) {});
    EXPECT_EQ(std::count(clean.begin(), clean.end(), true), 0);
    // q: its 128 queries share a mean. k: the keys of both heads of batch 1 do.
    const std::vector<bool> of_q = nans([&](sage3_problem& p) { put(p.q, p.q.head + 3 * kD + 5); });
    const std::vector<bool> of_k = nans([&](sage3_problem& p) { put(p.k, p.k.batch + 7 * kD + 2); });
    for (size_t i = 0; i < clean.size(); ++i) {
        EXPECT_EQ(of_q[i], i / head == 1) << i;
        EXPECT_EQ(of_k[i], i / head >= 2) << i;
    }
    // v: one channel of the heads that read it.
    const std::vector<bool> of_v = nans([&](sage3_problem& p) { put(p.v, 9 * kD + 11); });
    for (size_t i = 0; i < clean.size(); ++i) EXPECT_EQ(of_v[i], i / head < 2 && i % kD == 11) << i;
}

TEST_F(Sage3Api, a_fault_on_the_device_is_a_message) {
    sage3_problem p = problem();
    p.q.batch = int64_t{1} << 30;  // beyond what was allocated
    EXPECT_EQ(run(p), SAGE3_FAILED);
    EXPECT_NE(message_.find("sage3_mean"), std::string::npos)
        << message_;
    p.q.batch = 0;  // and the handle lives on
    EXPECT_EQ(run(p), SAGE3_OK) << message_;
    EXPECT_EQ(message_, "");
}

TEST_F(Sage3Api, workspace_is_checked) {
    const sage3_problem p = problem();
    const Halves before = o(p);
    const uint64_t bytes = workspace_bytes(p);
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(bytes % 256, 0u);
    void* workspace = nullptr;
    ASSERT_EQ(sage3_allocate(handle_, bytes, &workspace), SAGE3_OK);
    EXPECT_EQ(sage3_attention(handle_, &p, workspace, bytes - 1, nullptr), SAGE3_INVALID);
    EXPECT_EQ(sage3_message(), fmt::format("workspace_bytes is {}: {} are due (sage3_workspace_bytes)", bytes - 1, bytes));
    EXPECT_EQ(sage3_attention(handle_, &p, nullptr, bytes, nullptr), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "workspace is null");
    EXPECT_EQ(sage3_attention(handle_, &p, static_cast<char*>(workspace) + 16, bytes, nullptr), SAGE3_INVALID);
    EXPECT_NE(std::string(sage3_message()).find("not aligned to 256 bytes"), std::string::npos);
    EXPECT_EQ(o(p), before);
    EXPECT_EQ(sage3_attention(handle_, &p, workspace, bytes, nullptr), SAGE3_OK) << sage3_message();
    EXPECT_NE(o(p), before);
    sage3_problem with_lse = p;
    with_lse.lse = workspace;
    EXPECT_EQ(workspace_bytes(with_lse), bytes + 512);  // q . k_mean of each row
}

// Sizes beyond 32 bits, without memory: 73,774 tokens of 56 heads.
TEST_F(Sage3Api, workspace_of_a_long_video) {
    sage3_problem p{};
    p.struct_bytes = sizeof p;
    p.batches = 1, p.heads = p.kv_heads = 56, p.queries = p.keys = 73774, p.head_dim = 128, p.scale = 0.1f;
    for (sage3_tensor* each : {&p.q, &p.k, &p.v, &p.o})
        each->batch = 56ll * 73774 * 128, each->head = 73774 * 128, each->token = 128;
    EXPECT_GT(workspace_bytes(p), uint64_t{1} << 32);
}

// What lies between the rows of a padded output stays.
TEST_F(Sage3Api, padding_between_rows_is_not_written) {
    sage3_problem p = problem();
    ASSERT_EQ(run(p), SAGE3_OK) << message_;
    const Halves dense = o(p);
    constexpr int64_t kToken = kD + 8;
    const Halves mark(static_cast<size_t>(kB * kH * kLq * kToken), 0x7bcd);
    p.o = {memory(mark.data(), mark.size() * 2), kH * kLq * kToken, kLq * kToken, kToken};
    ASSERT_EQ(run(p), SAGE3_OK) << message_;
    Halves padded(mark.size());
    ASSERT_EQ(sage3_copy_out(handle_, padded.data(), p.o.data, padded.size() * 2), SAGE3_OK);
    for (size_t i = 0; i < padded.size(); ++i) {
        const size_t row = i / kToken, column = i % kToken;
        EXPECT_EQ(padded[i], column < kD ? dense[row * kD + column] : 0x7bcd) << i;
    }
}

TEST_F(Sage3Api, two_threads_share_a_handle) {
    const sage3_problem full = [&] {
        sage3_problem p = problem();
        p.causal = SAGE3_FULL;
        return p;
    }();
    const sage3_problem causal = problem();
    ASSERT_EQ(run(full), SAGE3_OK) << message_;
    ASSERT_EQ(run(causal), SAGE3_OK) << message_;
    const Halves due[] = {o(full), o(causal)};
    sage3* fresh = nullptr;  // both threads come to kernels that nobody has loaded yet
    ASSERT_EQ(sage3_open("emulator", &fresh), SAGE3_OK);
    std::swap(fresh, handle_);
    const sage3_problem problems[] = {[&] { sage3_problem p = problem(); p.causal = SAGE3_FULL; return p; }(), problem()};
    void* workspaces[2];
    const uint64_t bytes = workspace_bytes(problems[0]);
    for (void*& each : workspaces) ASSERT_EQ(sage3_allocate(handle_, bytes, &each), SAGE3_OK);
    std::string messages[2];
    sage3_status statuses[2][3];
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
            for (sage3_status& each : statuses[t]) each = sage3_attention(handle_, &problems[t], workspaces[t], bytes, nullptr);
            // A message belongs to its thread.
            sage3_problem wrong = problems[t];
            wrong.head_dim = 300 + t;
            (void)sage3_attention(handle_, &wrong, workspaces[t], bytes, nullptr);
            messages[t] = sage3_message();
        });
    for (std::thread& each : threads) each.join();
    for (int t = 0; t < 2; ++t) {
        for (const sage3_status each : statuses[t]) EXPECT_EQ(each, SAGE3_OK);
        EXPECT_EQ(o(problems[t]), due[t]);
        EXPECT_EQ(messages[t], fmt::format("head_dim is {}: 1 to 256 is supported", 300 + t));
    }
    sage3_close(fresh);
}

TEST_F(Sage3Api, prepare_takes_no_tensors) {
    sage3_problem p = problem();
    for (sage3_tensor* each : {&p.q, &p.k, &p.v, &p.o}) each->data = nullptr;
    EXPECT_EQ(sage3_prepare(handle_, &p), SAGE3_OK) << sage3_message();
    p.head_dim = 0;
    EXPECT_EQ(sage3_prepare(handle_, &p), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "head_dim is 0: 1 to 256 is supported");
}

TEST(Sage3Open, says_what_it_knows) {
    sage3* handle = nullptr;
    EXPECT_EQ(sage3_open("emulater", &handle), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "device is 'emulater': \"cuda\" is due");
    EXPECT_EQ(handle, nullptr);
    EXPECT_EQ(sage3_open(nullptr, &handle), SAGE3_INVALID);
    EXPECT_EQ(sage3_open("emulator", nullptr), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "handle is null");
    sage3_problem p{};
    uint64_t bytes = 0;
    EXPECT_EQ(sage3_attention(nullptr, &p, nullptr, 0, nullptr), SAGE3_INVALID);
    EXPECT_EQ(sage3_workspace_bytes(nullptr, &p, &bytes), SAGE3_INVALID);
    EXPECT_EQ(sage3_prepare(nullptr, &p), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "handle is null");
    sage3_close(nullptr);
    ASSERT_EQ(sage3_open("emulator", &handle), SAGE3_OK);
    EXPECT_STREQ(sage3_message(), "");
    EXPECT_EQ(sage3_attention(handle, nullptr, nullptr, 0, nullptr), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "problem is null");
    EXPECT_EQ(sage3_attention(handle, &p, nullptr, 0, nullptr), SAGE3_INVALID);
    EXPECT_EQ(sage3_message(), fmt::format("struct_bytes is 0: sizeof(sage3_problem), {}, is due", sizeof p));
    EXPECT_EQ(sage3_workspace_bytes(handle, &p, nullptr), SAGE3_INVALID);
    EXPECT_STREQ(sage3_message(), "bytes is null");
    sage3_close(handle);
}

// Each text is its file with every include in place.
TEST(Sage3Sources, stand_alone_in_the_library) {
    for (const char* name : {"sage3_attention.cu", "sage3_prepare.cu", "hopper_attention.cu", "hopper_prepare.cu"}) {
        const std::string text(ww::sage3::embedded_source(name));
        EXPECT_NE(text.find("__global__"), std::string::npos) << name;
        EXPECT_EQ(text.find("#include"), std::string::npos) << name;
        EXPECT_NE(text.find("#line 1 \"sage3_common.cuh\""), std::string::npos) << name;
    }
    EXPECT_TRUE(ww::sage3::embedded_source("sage3_host.cpp").empty());
}

// As the library compiles them, for either GPU.
TEST(Sage3Sources, compile_as_they_stand) {
    using namespace ww::sage3;
    Request request;
    request.problem = {.b = 1, .h = 2, .h_kv = 1, .lq = 8, .lk = 8, .d = 200, .mask = Mask::f32, .smooth_v = true};
    request.q = request.o = Strides::dense(2, 8, 200), request.k = request.v = Strides::dense(1, 8, 200);
    for (const auto& [path, target] : {std::pair{Path::fp4, "sm_120a"}, std::pair{Path::int8, "sm_90a"}}) {
        request.path = path;
        const Plan made = plan(request).value();
        for (const Step& step : made.steps) {
            if (step.name != "attention" && step.name != "quantize_v" && step.name != "quantize") continue;  // of each file one
            const auto compiled = ww::toolchain::compile_ptx({.source = std::string(embedded_source(step.source)),
                                                              .name = std::string(step.source), .target = target,
                                                              .defines = step.defines, .line_info = false, .cuda_headers = false});
            ASSERT_TRUE(compiled) << ww::format(compiled.error());
            EXPECT_NE(compiled->ptx.find(".entry " + std::string(step.entry) + "("), std::string::npos) << step.entry;
        }
    }
}

}  // namespace
