// SPDX-License-Identifier: Apache-2.0
// What of a problem can be refused before anybody asks for which GPU it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sage3/sage3_plan.hpp"

namespace ww::sage3 {
namespace {

constexpr int64_t kMaxLength = int64_t{1} << 28, kMaxSequences = int64_t{1} << 20;
constexpr int64_t kMaxSpan = int64_t{1} << 50;
constexpr int64_t kMaxRows = int64_t{1} << 40, kMaxBias = int64_t{1} << 42;

Failure wrong(std::string_view argument, std::string value, std::string_view due) {
    return fail(fmt::format("{} is {}: {}", argument, value, due));
}

Status check_range(std::string_view argument, int64_t value, int64_t most) {
    if (value >= 1 && value <= most) return ok();
    return wrong(argument, fmt::format("{}", value), fmt::format("1 to {} is supported", most));
}

// Every element of o has its own place.
Status check_output_strides(const Problem& p, const Strides& o) {
    std::array<std::pair<int64_t, int64_t>, 3> axes = {  // stride, extent
        std::pair{o.batch, p.b}, std::pair{o.head, p.h}, std::pair{o.token, p.lq}};
    std::sort(axes.begin(), axes.end());
    int64_t span = p.d;
    for (const auto& [stride, extent] : axes) {
        if (extent == 1) continue;
        if (stride < span)
            return wrong("o", fmt::format("strided by {}, {}, {} elements", o.batch, o.head, o.token),
                         "its rows overlap");
        if (stride > kMaxSpan / extent)
            return wrong("o", fmt::format("strided by {}, {}, {} elements", o.batch, o.head, o.token),
                         "more than 2^50 elements from end to end");
        span = stride * (extent - 1) + span;
    }
    return ok();
}

Status check_strides(std::string_view argument, const Strides& s) {
    constexpr int64_t kMost = int64_t{1} << 40;
    for (const auto& [axis, stride] :
         {std::pair{"batch", s.batch}, std::pair{"head", s.head}, std::pair{"token", s.token}})
        if (stride < 0 || stride > kMost)
            return wrong(fmt::format("{}'s {} stride", argument, axis), fmt::format("{}", stride),
                         "0 to 2^40 elements is supported");
    return ok();
}

Status check_sizes(const Problem& p) {
    for (const auto& [argument, value, most] :
         {std::tuple{"batches", p.b, kMaxLength}, {"heads", p.h, kMaxLength},
          {"kv_heads", p.h_kv, kMaxLength}, {"queries", p.lq, kMaxLength},
          {"keys", p.lk, kMaxLength}, {"head_dim", p.d, kMaxHeadDim}}) {
        WW_TRY(in_range, check_range(argument, value, most));
        (void)in_range;
    }
    if (p.packed != 0) {
        WW_TRY(sequences, check_range("sequences", p.packed, kMaxSequences));
        WW_TRY(longest_q, check_range("longest_queries", p.longest_q, p.lq));
        WW_TRY(longest_k, check_range("longest_keys", p.longest_k, p.lk));
        (void)sequences, (void)longest_q, (void)longest_k;
        if (p.b != 1)
            return wrong("batches", fmt::format("{}", p.b), "1 is due where sequences are given: they lie in one batch");
        if (p.mask != Mask::none)
            return wrong("mask", fmt::format("{}", static_cast<uint32_t>(p.mask)), "with sequences none is supported");
    }
    if (p.h % p.h_kv != 0)
        return wrong("heads", fmt::format("{}", p.h),
                     fmt::format("a multiple of kv_heads ({}) is due", p.h_kv));
    // In this order, so that no product overflows: 2^28 * 2^28, 2^31 * 2^30, 2^33 * 2^28.
    const int64_t heads = p.b * p.h;
    if (heads > kMaxGrid || heads * std::max(p.lqp(), p.lkp()) > kMaxRows ||
        heads * p.query_tiles() * p.columns() > kMaxBias || p.sequences() * p.h > kMaxRows)
        return fail(fmt::format("{} batches of {} heads, {} queries and {} keys are too large: at most 2^40 "
                                "rows over all heads and 2^42 biases of keys are supported",
                                p.b, p.h, p.lq, p.lk));
    return ok();
}

}  // namespace

Status check(const Request& r) {
    const Problem& p = r.problem;
    WW_TRY(sizes, check_sizes(p));
    (void)sizes;
    if (!(p.scale > 0) || !std::isfinite(static_cast<float>(p.scale)) || static_cast<float>(p.scale) == 0)
        return wrong("scale", fmt::format("{}", p.scale), "a positive finite float is due");
    if (static_cast<uint32_t>(p.causal) > 2)
        return wrong("causal", fmt::format("{}", static_cast<uint32_t>(p.causal)),
                     "0 (full), 1 (bottom right) or 2 (top left) is due");
    for (const auto& [argument, keys] : {std::pair{"window_left", p.left}, std::pair{"window_right", p.right}})
        if (keys < 0) return wrong(argument, fmt::format("{}", keys), "0 or more keys are due, or -1 for all");
    if (static_cast<uint32_t>(p.mask) > 3)
        return wrong("mask_type", fmt::format("{}", static_cast<uint32_t>(p.mask)),
                     "0 (none), 1 (bytes), 2 (the type of q) or 3 (float) is due");
    if (p.mask != Mask::none && !std::isfinite(1.0f / static_cast<float>(p.scale)))
        return wrong("scale", fmt::format("{}", p.scale), "with a mask, 1 / scale must be a finite float");
    if (r.type != Type::f16 && r.type != Type::bf16)
        return wrong("type", fmt::format("{}", static_cast<int>(r.type)), "f16 and bf16 are supported");
    for (const auto& [argument, strides] :
         {std::pair{"q", r.q}, std::pair{"k", r.k}, std::pair{"v", r.v}, std::pair{"o", r.o}, std::pair{"mask", r.mask}}) {
        WW_TRY(sound, check_strides(argument, strides));
        (void)sound;
    }
    return check_output_strides(p, r.o);
}

}  // namespace ww::sage3
