// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

namespace ww::sage3 {
namespace {

constexpr int64_t kThreads = 256;  // of every kernel but key_bias (kTile) and attention
constexpr int64_t kAttentionThreads = 384;  // two warpgroups that compute, one that loads
constexpr int64_t kMaxLength = int64_t{1} << 28, kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxSpan = int64_t{1} << 50;
constexpr int64_t kMaxRows = int64_t{1} << 40, kMaxBias = int64_t{1} << 42;
constexpr std::string_view kPrepare = "sage3_prepare.cu", kAttention = "sage3_attention.cu";

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

Status check(const Request& r) {
    const Problem& p = r.problem;
    for (const auto& [argument, value, most] :
         {std::tuple{"batches", p.b, kMaxLength}, {"heads", p.h, kMaxLength},
          {"kv_heads", p.h_kv, kMaxLength}, {"queries", p.lq, kMaxLength},
          {"keys", p.lk, kMaxLength}, {"head_dim", p.d, kMaxHeadDim}}) {
        WW_TRY(in_range, check_range(argument, value, most));
        (void)in_range;
    }
    if (p.h % p.h_kv != 0)
        return wrong("heads", fmt::format("{}", p.h),
                     fmt::format("a multiple of kv_heads ({}) is due", p.h_kv));
    // In this order, so that no product overflows: 2^28 * 2^28, 2^31 * 2^28, 2^33 * 2^28.
    const int64_t heads = p.b * p.h;
    if (heads > kMaxGrid || heads * std::max(p.lqp(), p.lkp()) > kMaxRows ||
        heads * p.query_tiles() * p.lkp() > kMaxBias)
        return fail(fmt::format("{} batches of {} heads, {} queries and {} keys are too large: at most 2^40 "
                                "rows over all heads and 2^42 biases of keys are supported",
                                p.b, p.h, p.lq, p.lk));
    if (!(p.scale > 0) || !std::isfinite(static_cast<float>(p.scale)) || static_cast<float>(p.scale) == 0)
        return wrong("scale", fmt::format("{}", p.scale), "a positive finite float is due");
    if (static_cast<uint32_t>(p.causal) > 2)
        return wrong("causal", fmt::format("{}", static_cast<uint32_t>(p.causal)),
                     "0 (full), 1 (bottom right) or 2 (top left) is due");
    if (r.type != Type::f16 && r.type != Type::bf16)
        return wrong("type", fmt::format("{}", static_cast<int>(r.type)), "f16 and bf16 are supported");
    for (const auto& [argument, strides] :
         {std::pair{"q", r.q}, std::pair{"k", r.k}, std::pair{"v", r.v}, std::pair{"o", r.o}}) {
        WW_TRY(sound, check_strides(argument, strides));
        (void)sound;
    }
    return check_output_strides(p, r.o);
}

class Planner {
  public:
    explicit Planner(const Request& request) : r_(request), p_(request.problem) {}

    Result<Plan> make() {
        const int64_t bh = p_.b * p_.h, bh_kv = p_.b * p_.h_kv;
        mean("mean_q", "q", r_.q, "q_mean", p_.h, p_.lq, kTile);
        mean("mean_k", "k", r_.k, "k_mean", p_.h_kv, p_.lk, p_.lk);
        smooth("smooth_q", "q", r_.q, "q_mean", "q_smooth", p_.h, p_.lq, kTile);
        smooth("smooth_k", "k", r_.k, "k_mean", "k_smooth", p_.h_kv, p_.lk, p_.lk);
        workspace("bias", bh * p_.query_tiles() * p_.lkp() * 4);
        step("key_bias", "sage3_key_bias", bh * p_.query_tiles() * p_.key_tiles(), kTile,
             {Buffer{"q_mean"}, Buffer{"k_smooth"}, Buffer{"bias"}, i32(p_.h), i32(p_.h_kv),
              i32(p_.query_tiles()), i32(p_.lk), i32(p_.d)});
        workspace("shift", bh * p_.lq * 4);
        std::vector<Argument> shift = strided("q", r_.q);
        append(shift, {Buffer{"k_mean"}, Buffer{"shift"}, i32(p_.h), i32(p_.h_kv), i32(p_.lq), i32(p_.d),
                       bh * p_.lq});
        step("row_shift", "sage3_row_shift", blocks(bh * p_.lq * 32), kThreads, std::move(shift));
        quantize("quantize_q", "sage3_quantize_q", {Buffer{"q_smooth"}}, "q_codes", "q_scales", {}, p_.lq,
                 bh * p_.lqp());
        quantize("quantize_k", "sage3_quantize_k", {Buffer{"k_smooth"}}, "k_codes", "k_scales", {}, p_.lk,
                 bh_kv * p_.lkp());
        quantize("quantize_v", "sage3_quantize_v", strided("v", r_.v), "v_codes", "v_scales",
                 {i32(p_.h_kv)}, p_.lk, bh_kv * p_.lkp());
        attention();
        if (too_large_) return fail(*too_large_);
        return std::move(plan_);
    }

  private:
    static Argument i32(int64_t value) { return static_cast<int32_t>(value); }
    static int64_t blocks(int64_t threads) { return (threads + kThreads - 1) / kThreads; }
    static void append(std::vector<Argument>& to, std::vector<Argument> more) {
        to.insert(to.end(), more.begin(), more.end());
    }
    static std::vector<Argument> strided(std::string_view name, const Strides& s) {
        return {Buffer{name}, s.batch, s.head, s.token};
    }

    void workspace(std::string_view name, int64_t bytes) {
        plan_.workspace.push_back({name, static_cast<uint64_t>(bytes)});
    }

    void step(std::string_view name, std::string_view entry, int64_t grid, int64_t block,
              std::vector<Argument> arguments, std::string_view source = kPrepare) {
        if (grid > kMaxGrid && !too_large_)
            too_large_ = fmt::format("B {}, H {}, Lq {}, Lk {} need {} blocks for {}; {} are supported",
                                     p_.b, p_.h, p_.lq, p_.lk, grid, name, kMaxGrid);
        Step out{.name = name, .source = source, .entry = entry,
                 .grid = static_cast<uint32_t>(grid), .block = static_cast<uint32_t>(block),
                 .arguments = std::move(arguments)};
        out.defines.emplace_back("WW_TYPE", r_.type == Type::f16 ? "F16" : "Bf16");
        plan_.steps.push_back(std::move(out));
    }

    void mean(std::string_view name, std::string_view x, const Strides& strides, std::string_view means,
              int64_t heads, int64_t length, int64_t rows_per_mean) {
        const int64_t rows = p_.b * heads * ((length + rows_per_mean - 1) / rows_per_mean);
        workspace(means, rows * p_.d * 4);
        std::vector<Argument> arguments = strided(x, strides);
        append(arguments, {Buffer{means}, i32(heads), i32(length), i32(p_.d), i32(rows_per_mean)});
        step(name, "sage3_mean", rows, kThreads, std::move(arguments));
    }

    void smooth(std::string_view name, std::string_view x, const Strides& strides, std::string_view means,
                std::string_view out, int64_t heads, int64_t length, int64_t rows_per_mean) {
        const int64_t elements = p_.b * heads * length * p_.d;
        workspace(out, elements * 2);
        std::vector<Argument> arguments = strided(x, strides);
        append(arguments, {Buffer{means}, Buffer{out}, i32(heads), i32(length), i32(p_.d),
                           i32(rows_per_mean), elements});
        step(name, "sage3_subtract_mean", blocks(elements), kThreads, std::move(arguments));
    }

    // rows: padded rows of DP channels, over all heads.
    void quantize(std::string_view name, std::string_view entry, std::vector<Argument> x,
                  std::string_view codes, std::string_view scales, std::vector<Argument> heads, int64_t length,
                  int64_t rows) {
        const int64_t groups = rows * p_.dp() / kGroup;
        workspace(codes, rows * p_.dp() / 2);
        workspace(scales, groups);
        append(x, {Buffer{codes}, Buffer{scales}});
        append(x, std::move(heads));
        append(x, {i32(length), i32(p_.d), i32(p_.dp()), groups});
        step(name, entry, blocks(groups), kThreads, std::move(x));
    }

    void attention() {
        std::vector<Argument> arguments;
        for (const char* name : {"q_codes", "q_scales", "k_codes", "k_scales", "v_codes", "v_scales",
                                 "bias", "shift", "o", "lse"})
            arguments.push_back(Buffer{name});
        append(arguments, {r_.o.batch, r_.o.head, r_.o.token, i32(p_.h), i32(p_.h_kv), i32(p_.lq),
                           i32(p_.lk), i32(p_.d), static_cast<uint32_t>(p_.causal),
                           static_cast<float>(p_.scale)});
        step("attention", "sage3_attention", p_.b * p_.h * p_.query_tiles(), kAttentionThreads, std::move(arguments),
             kAttention);
        Step& made = plan_.steps.back();
        made.defines.emplace_back("WW_HEAD_DIM", fmt::format("{}", p_.dp()));
        for (const char* name : {"s", "group_max", "p_codes", "p_scales", "row_max", "row_sum", "o_tile"})
            made.tap_arguments.push_back(Buffer{name});
    }

    const Request& r_;
    const Problem& p_;
    Plan plan_;
    std::optional<std::string> too_large_;
};

}  // namespace

Result<Plan> plan(const Request& request) {
    WW_TRY(sound, check(request));
    (void)sound;
    return Planner(request).make();
}

}  // namespace ww::sage3
