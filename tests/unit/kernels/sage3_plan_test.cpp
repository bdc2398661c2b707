// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

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
    const auto made = plan(usual());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->steps.size(), 10u);
    EXPECT_EQ(step(*made, "attention").grid, 2u * 6 * 3);
    EXPECT_EQ(step(*made, "mean_k").grid, 2u * 3);
    EXPECT_EQ(step(*made, "quantize_v").grid, 2u * 3 * 256 * 128 / 16 / 256);
    EXPECT_EQ(bytes(*made, "q_codes"), 2u * 6 * 384 * 128 / 2);
    EXPECT_EQ(bytes(*made, "v_scales"), 2u * 3 * 128 * 256 / 16);
    EXPECT_EQ(bytes(*made, "bias"), 2u * 6 * 3 * 256 * 4);
    const auto& defines = step(*made, "attention").defines;
    EXPECT_EQ(defines.at(0).second, "F16");
    EXPECT_EQ(defines.at(1).second, "128");
}

TEST(Sage3Plan, every_buffer_is_the_callers_or_workspace) {
    const auto made = plan(usual());
    ASSERT_TRUE(made);
    std::vector<std::string_view> known = {"q", "k", "v", "o", "lse"};
    for (const Workspace& each : made->workspace) known.push_back(each.name);
    for (const Step& each : made->steps)
        for (const Argument& argument : each.arguments) {
            const auto* buffer = std::get_if<Buffer>(&argument);
            if (!buffer) continue;
            EXPECT_NE(std::find(known.begin(), known.end(), buffer->name), known.end()) << buffer->name;
        }
}

TEST(Sage3Plan, names_the_argument_and_its_value) {
    struct Wrong {
        std::function<void(Request&)> change;
        std::string message;
    };
    const Wrong wrongs[] = {
        {[](Request& r) { r.problem.b = 0; }, "batches is 0: 1 to 268435456 is supported"},
        {[](Request& r) { r.problem.d = 129; }, "head_dim is 129: 1 to 128 is supported"},
        {[](Request& r) { r.problem.lk = -1; }, "keys is -1: 1 to 268435456 is supported"},
        {[](Request& r) { r.problem.h_kv = 4; }, "heads is 6: a multiple of kv_heads (4) is due"},
        {[](Request& r) { r.problem.scale = 0; }, "scale is 0: a positive finite float is due"},
        {[](Request& r) { r.problem.scale = std::numeric_limits<double>::quiet_NaN(); },
         "scale is nan: a positive finite float is due"},
        {[](Request& r) { r.problem.scale = 1e300; }, "scale is 1e+300: a positive finite float is due"},
        {[](Request& r) { r.problem.causal = static_cast<Causal>(3); },
         "causal is 3: 0 (full), 1 (bottom right) or 2 (top left) is due"},
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
