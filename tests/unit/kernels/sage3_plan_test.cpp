// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>

namespace ww::sage3 {
namespace {

Request usual() {
    Request out;
    out.problem = {.b = 2, .h = 6, .h_kv = 3, .lq = 300, .lk = 129, .d = 80, .scale = 0.1,
                   .causal = Causal::bottom_right};
    out.q = out.o = Strides::dense(6, 300, 80);
    out.k = out.v = Strides::dense(3, 129, 80);
    return out;
}

const Step& step(const Plan& plan, std::string_view name) {
    for (const Step& each : plan.steps)
        if (each.name == name) return each;
    ADD_FAILURE() << "no step " << name;
    return plan.steps.front();
}

uint64_t bytes(const Plan& plan, std::string_view name) {
    for (const Workspace& each : plan.workspace)
        if (each.name == name) return each.bytes;
    ADD_FAILURE() << "no workspace " << name;
    return 0;
}

TEST(Sage3Plan, sizes_follow_from_the_problem) {
    Request request = usual();
    request.multiprocessors = 5;
    const auto made = plan(request);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->steps.size(), 10u);
    EXPECT_EQ(step(*made, "attention").grid, 5u);
    EXPECT_EQ(step(*made, "mean_k").grid, 2u * 3 * 8);  // a cluster of eight blocks for each head
    EXPECT_EQ(step(*made, "mean_k").cluster, 8u);
    EXPECT_EQ(step(*made, "quantize_v").grid, 2u * 3 * 2);
    EXPECT_EQ(bytes(*made, "q_codes"), 2u * 6 * 384 * 128 / 2);
    EXPECT_EQ(bytes(*made, "v_scales"), 2u * 3 * 128 * 256 / 16);
    EXPECT_EQ(bytes(*made, "bias"), 2u * 6 * 3 * 256 * 4);
    const auto& defines = step(*made, "attention").defines;
    EXPECT_EQ(defines.at(0).second, "F16");
    EXPECT_EQ(defines.at(1).second, "128");
    EXPECT_EQ(defines.at(2).second, "none");
    request.multiprocessors = 1000;
    EXPECT_EQ(step(*plan(request), "attention").grid, 2u * 6 * 3);
    request.lse = false;
    EXPECT_EQ(plan(request)->steps.size(), 9u);
    request.problem.smooth_v = true;
    EXPECT_EQ(plan(request)->steps.size(), 10u);
    request.problem.global_mean = true;
    EXPECT_EQ(bytes(*plan(request), "bias"), 2u * 6 * 256 * 4);
}

TEST(Sage3Plan, exact_goes_on_where_fp4_multiplies) {
    for (const int64_t d : {64, 128, 256}) {
        Request request = usual();
        request.problem.d = d;
        request.problem.mask = Mask::f32;  // of whatever FP4 takes
        request.q = request.o = Strides::dense(6, 300, d), request.k = request.v = Strides::dense(3, 129, d);
        const auto fp4 = plan(request);
        request.path = Path::exact;
        const auto exact = plan(request);
        ASSERT_TRUE(fp4 && exact) << d;
        ASSERT_EQ(exact->steps.size(), fp4->steps.size() + 3);
        for (size_t i = 0; i + 1 < fp4->steps.size(); ++i) EXPECT_EQ(exact->steps[i].entry, fp4->steps[i].entry);
        EXPECT_EQ(bytes(*exact, "q_operand"), static_cast<uint64_t>(2 * 6 * 384 * d * 2));
        EXPECT_EQ(bytes(*exact, "v_operand"), static_cast<uint64_t>(2 * 3 * 256 * d * 2));
        EXPECT_EQ(step(*exact, "expand_v").grid, d <= 128 ? 12u : 24u);
        EXPECT_LE(step(*exact, "attention").dynamic_shared_bytes, 227u * 1024) << "what a block of sm_90 has";
    }
}

TEST(Sage3Plan, every_buffer_is_the_callers_or_workspace) {
    for (const Path path : {Path::fp4, Path::int8}) {
        Request request = usual();
        request.path = path;
        request.problem.b = 1, request.problem.packed = 4, request.problem.longest_q = 100, request.problem.longest_k = 64;
        request.problem.smooth_v = true;
        const auto made = plan(request);
        ASSERT_TRUE(made);
        EXPECT_EQ(bytes(*made, "v_mean"), 4u * 3 * 80 * 4);
        if (path == Path::int8) {
            EXPECT_EQ(bytes(*made, "v_largest"), 4u * 3 * 128 * 4);  // rows that begin at a multiple of 16 bytes
        }
        if (path == Path::fp4) {
            EXPECT_EQ(bytes(*made, "bias"), 6u * (300 / 128 + 4) * 128 * 4);
        }
        std::vector<std::string_view> known = {"q", "k", "v", "o", "lse", "mask", "q_starts", "k_starts"};
        for (const Workspace& each : made->workspace) known.push_back(each.name);
        for (const Step& each : made->steps)
            for (const Argument& argument : each.arguments) {
                const auto* buffer = std::get_if<Buffer>(&argument);
                if (!buffer) continue;
                EXPECT_NE(std::find(known.begin(), known.end(), buffer->name), known.end()) << buffer->name;
            }
    }
}

// Everything of a plan that is launched.
std::string text(const Plan& plan) {
    struct To {
        std::string operator()(Buffer buffer) const { return std::string(buffer.name); }
        std::string operator()(int32_t v) const { return fmt::format("i32 {}", v); }
        std::string operator()(uint32_t v) const { return fmt::format("u32 {}", v); }
        std::string operator()(int64_t v) const { return fmt::format("i64 {}", v); }
        std::string operator()(float v) const { return fmt::format("f32 {}", v); }
    };
    std::string out;
    for (const Workspace& each : plan.workspace) out += fmt::format("{} of {} bytes\n", each.name, each.bytes);
    for (const Step& each : plan.steps) {
        out += fmt::format("{} {} {} {} {}\n", each.entry, each.grid, each.block, each.cluster, each.dynamic_shared_bytes);
        for (const auto& [name, value] : each.defines) out += fmt::format("  {}={}\n", name, value);
        for (const Argument& argument : each.arguments) out += fmt::format("  {}\n", std::visit(To{}, argument));
    }
    return out;
}

TEST(Sage3Plan, q_is_not_smoothed_on_int8) {
    Request request = usual();
    request.path = Path::int8;
    const std::string of_tiles = text(*plan(request));
    request.problem.global_mean = true;
    ASSERT_TRUE(plan(request));
    EXPECT_EQ(text(*plan(request)), of_tiles);
    request.path = Path::fp4;
    const std::string of_all = text(*plan(request));
    request.problem.global_mean = false;
    EXPECT_NE(text(*plan(request)), of_all);
}

TEST(Sage3Plan, int8_prepares_k_and_v_together) {
    Request request = usual();
    request.path = Path::int8;
    for (const bool smooth_v : {false, true}) {
        request.problem.smooth_v = smooth_v;
        const auto made = plan(request);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->steps.size(), 4u);  // with row_shift
        EXPECT_EQ(step(*made, "quantize").grid, 2u * 6 * 3 + 2 * (2u * 3 * 2));
        EXPECT_EQ(step(*made, "quantize").block, 256u);
    }
    // As many blocks for a head as an H200 has room for; a cluster of them makes a row of means.
    for (const auto& [heads, blocks] : {std::pair{1, 8u}, {8, 8u}, {9, 4u}, {16, 4u}, {32, 2u}, {33, 1u}, {500, 1u}}) {
        request.problem.b = 1, request.problem.h = request.problem.h_kv = heads;
        const auto made = plan(request);
        ASSERT_TRUE(made) << heads;
        EXPECT_EQ(step(*made, "means").cluster, blocks) << heads;
        EXPECT_EQ(step(*made, "means").grid, 2u * static_cast<uint32_t>(heads) * blocks);
    }
}

TEST(Sage3Plan, masks_are_variants_on_either_path) {
    for (const Path path : {Path::fp4, Path::int8}) {
        Request request = usual();
        request.path = path;
        request.problem.mask = Mask::f32;
        request.mask = {7, 0, 129};
        const Plan made = plan(request).value();
        const Step& attention = step(made, "attention");
        EXPECT_EQ(attention.defines.at(2), (std::pair<std::string, std::string>{"WW_MASK", "f32"}));
        EXPECT_NE(text(made).find("  mask\n  i64 7\n  i64 0\n  i64 129\n"), std::string::npos) << text(made);
    }
}

// What a block may have on sm_90: 227 KB.
TEST(Sage3Plan, wide_heads_are_two_items_on_int8) {
    Request request = usual();
    request.path = Path::int8, request.multiprocessors = 1000;
    // Staging, two places for queries with their scales, V's and what they are of, the ring, mbarriers.
    for (const auto& [d, items, bytes] : {std::tuple{64, 1u, 16384u + 2 * (8192 + 512 + 256 + 16) + 3 * 17408 + 16 * 8},
                                          {128, 1u, 16384u + 2 * (16384 + 512 + 512 + 16) + 3 * 33792 + 16 * 8},
                                          {129, 2u, 16384u + 2 * (32768 + 512 + 512 + 16) + 2 * 50176 + 16 * 6},
                                          {256, 2u, 16384u + 2 * (32768 + 512 + 512 + 16) + 2 * 50176 + 16 * 6}}) {
        request.problem.d = d;
        request.q = request.o = Strides::dense(6, 300, d);
        const Plan made = plan(request).value();
        const Step& attention = step(made, "attention");
        EXPECT_EQ(attention.grid, items * 2 * 6 * 3);
        EXPECT_EQ(attention.dynamic_shared_bytes, bytes);
        EXPECT_LE(attention.dynamic_shared_bytes, 227u * 1024);
    }
    request.problem.d = 257;
    EXPECT_EQ(plan(request).error().front().message, "head_dim is 257: 1 to 256 is supported");
}

TEST(Sage3Plan, names_the_argument_and_its_value) {
    struct Wrong {
        std::function<void(Request&)> change;
        std::string message;
    };
    const Wrong wrongs[] = {
        {[](Request& r) { r.problem.b = 0; }, "batches is 0: 1 to 268435456 is supported"},
        {[](Request& r) { r.problem.d = 257; }, "head_dim is 257: 1 to 256 is supported"},
        {[](Request& r) { r.problem.lk = -1; }, "keys is -1: 1 to 268435456 is supported"},
        {[](Request& r) { r.problem.h_kv = 4; }, "heads is 6: a multiple of kv_heads (4) is due"},
        {[](Request& r) { r.problem.scale = 0; }, "scale is 0: a positive finite float is due"},
        {[](Request& r) { r.problem.scale = std::numeric_limits<double>::quiet_NaN(); },
         "scale is nan: a positive finite float is due"},
        {[](Request& r) { r.problem.scale = 1e300; }, "scale is 1e+300: a positive finite float is due"},
        {[](Request& r) { r.problem.causal = static_cast<Causal>(3); },
         "causal is 3: 0 (full), 1 (bottom right) or 2 (top left) is due"},
        {[](Request& r) { r.problem.left = -2; }, "window_left is -2: 0 or more keys are due, or -1 for all"},
        {[](Request& r) { r.problem.right = -3; }, "window_right is -3: 0 or more keys are due, or -1 for all"},
        {[](Request& r) { r.problem.mask = static_cast<Mask>(4); },
         "mask_type is 4: 0 (none), 1 (bytes), 2 (the type of q) or 3 (float) is due"},
        {[](Request& r) { r.problem.mask = Mask::f32, r.problem.scale = 1e-40; },
         "scale is 1e-40: with a mask, 1 / scale must be a finite float"},
        {[](Request& r) { r.mask.token = -1; }, "mask's token stride is -1: 0 to 2^40 elements is supported"},
        {[](Request& r) { r.problem.packed = 3; },
         "longest_queries is 0: 1 to 300 is supported"},
        {[](Request& r) { r.problem.packed = 3, r.problem.longest_q = r.problem.longest_k = 50; },
         "batches is 2: 1 is due where sequences are given: they lie in one batch"},
        {[](Request& r) { r.problem.packed = -1; }, "sequences is -1: 1 to 1048576 is supported"},
        {[](Request& r) {
             r.problem.b = 1, r.problem.packed = 3, r.problem.longest_q = r.problem.longest_k = 50;
             r.problem.mask = Mask::bytes;
         },
         "mask is 1: with sequences none is supported"},
        {[](Request& r) { r.type = static_cast<Type>(7); }, "type is 7: f16 and bf16 are supported"},
        {[](Request& r) { r.k.token = -80; }, "k's token stride is -80: 0 to 2^40 elements is supported"},
        {[](Request& r) { r.o.token = 79; }, "o is strided by 144000, 24000, 79 elements: its rows overlap"},
        {[](Request& r) { r.o.head = 0; }, "o is strided by 144000, 0, 80 elements: its rows overlap"},
    };
    for (const Wrong& each : wrongs) {
        Request request = usual();
        each.change(request);
        const auto made = plan(request);
        ASSERT_FALSE(made) << each.message;
        EXPECT_EQ(made.error().front().message, each.message);
    }
}

TEST(Sage3Plan, refuses_what_would_overflow) {
    Request request = usual();
    request.problem.b = request.problem.h = request.problem.h_kv = int64_t{1} << 28;
    EXPECT_FALSE(plan(request));
    request = usual();
    request.problem.lq = request.problem.lk = int64_t{1} << 28;
    request.o = Strides::dense(6, request.problem.lq, 80);
    EXPECT_FALSE(plan(request));
}

TEST(Sage3Plan, takes_strides_of_either_layout) {
    Request request = usual();  // [B, L, H, D] in memory
    request.q = request.o = {300 * 6 * 80, 80, 6 * 80};
    EXPECT_TRUE(plan(request));
    request.k = {0, 0, 0};  // one key for all: reading it is fine
    EXPECT_TRUE(plan(request));
}

}  // namespace
}  // namespace ww::sage3
