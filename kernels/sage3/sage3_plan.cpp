// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ww::sage3 {
namespace {

constexpr int64_t kThreads = 256;  // of every kernel but those that follow, key_bias (kTile) and hopper_quantize
constexpr int64_t kAttentionThreads = 384;  // two warpgroups that compute, one that loads
constexpr int64_t kSequenceThreads = 512, kSequenceBlocks = 8;  // of what joins all tokens of a sequence (sage3_sequence.cuh)
constexpr int64_t kTileMeanThreads = 256, kTileMeanChannels = 32;  // of a block of sage3_mean_tiles
constexpr int64_t kBiasRows = 32;           // of one block of sage3_key_bias
constexpr std::string_view kPrepare = "sage3_prepare.cu", kAttention = "sage3_attention.cu",
                           kHopperPrepare = "hopper_prepare.cu", kHopperAttention = "hopper_attention.cu",
                           kExactExpand = "exact_expand.cu", kExactAttention = "exact_attention.cu";

class Planner {
  public:
    explicit Planner(const Request& request) : r_(request), p_(request.problem) {}

    Result<Plan> make() {
        if (r_.path == Path::int8) make_int8();
        else make_fp4();
        if (too_large_) return fail(*too_large_);
        return std::move(plan_);
    }

  private:
    using Arguments = std::vector<Argument>;

    void make_fp4() {
        const int64_t q_tiles = p_.b * p_.h * p_.query_tiles(), k_tiles = p_.b * p_.h_kv * (p_.lkp() / kTile);
        mean("mean_q", strided("q", r_.q), queries(), "q_mean", p_.h, !p_.global_mean);
        mean("mean_k", strided("k", r_.k), keys(), "k_mean", p_.h_kv, false);
        if (p_.smooth_v) mean("mean_v", strided("v", r_.v), keys(), "v_mean", p_.h_kv, false);
        smooth("smooth_q", strided("q", r_.q), queries(), "q_mean", !p_.global_mean, "q_smooth", p_.h, p_.lq, q_tiles);
        smooth("smooth_k", strided("k", r_.k), keys(), "k_mean", false, "k_smooth", p_.h_kv, p_.lk, k_tiles);
        workspace("bias", p_.means() * p_.columns() * 4);
        step("key_bias", "sage3_key_bias", (p_.means() + kBiasRows - 1) / kBiasRows * (p_.columns() / kTile), kTile,
             {{Buffer{"q_mean"}, flag(!p_.global_mean), i32(p_.means())}, queries(), {Buffer{"k_smooth"}}, keys(),
              {Buffer{"bias"}, i32(p_.columns()), i32(p_.h), i32(p_.h_kv), i32(p_.d)}});
        row_shift(q_tiles, kPrepare);
        quantize("quantize_q", {Buffer{"q_smooth"}}, queries(), {}, "q_codes", "q_scales", {i32(p_.h), i32(p_.d), i32(p_.dp())}, q_tiles);
        quantize("quantize_k", {Buffer{"k_smooth"}}, keys(), {}, "k_codes", "k_scales", {i32(p_.h_kv), i32(p_.d), i32(p_.dp())}, k_tiles);
        quantize("quantize_v", strided("v", r_.v), keys(), {buffer_if(p_.smooth_v, "v_mean")}, "v_codes", "v_scales",
                 {i32(p_.h_kv), i32(p_.d), i32(p_.dp()), i32(p_.key_tile())}, k_tiles);
        if (r_.path == Path::exact) exact_attention(q_tiles, k_tiles);
        else attention(q_tiles);
    }

    void make_int8() {
        const int64_t q_tiles = p_.b * p_.h * p_.query_tiles(), k_tiles = p_.b * p_.h_kv * (p_.lkp() / kTile);
        const Arguments k = strided("k", r_.k), v = strided("v", r_.v);
        const int64_t rows = p_.sequences() * p_.h_kv;
        workspace("k_mean", rows * p_.d * 4);
        workspace("v_mean", rows * p_.d * 4);
        workspace("v_largest", rows * p_.dp() * 4);
        const uint32_t blocks = blocks_of_sequence(2 * rows);
        step("means", "hopper_means", 2 * rows * blocks, kSequenceThreads,
             {k, v, keys(), {Buffer{"k_mean"}, Buffer{"v_mean"}, Buffer{"v_largest"}, flag(p_.smooth_v), i32(p_.h_kv), i32(p_.d)}},
             kHopperPrepare)
            .cluster = blocks;
        row_shift(q_tiles, kHopperPrepare);
        workspace("q_codes", q_tiles * kTile * p_.dp());
        workspace("q_scales", q_tiles * kTile * 4);
        workspace("k_codes", k_tiles * kTile * p_.dp());
        workspace("k_scales", k_tiles * 4);
        workspace("v_codes", k_tiles * kTile * p_.dp());
        workspace("taken", 4);
        step("quantize", "hopper_quantize", q_tiles + 2 * k_tiles, 2 * p_.dp(),
             {strided("q", r_.q), queries(), {Buffer{"q_codes"}, Buffer{"q_scales"}}, k, v, keys(),
              {Buffer{"k_mean"}, Buffer{"k_codes"}, Buffer{"k_scales"}, Buffer{"v_mean"}, Buffer{"v_largest"}, Buffer{"v_codes"}, Buffer{"taken"},
               i32(k_tiles), i32(p_.h), i32(p_.h_kv), i32(p_.d)}},
             kHopperPrepare);
        int8_attention(q_tiles);
    }

    // How many make one row of values of so many: no more in all than multiprocessors (132), as clusters do not fill the
    // second place of each.
    static uint32_t blocks_of_sequence(int64_t rows) {
        uint32_t out = kSequenceBlocks;
        while (out > 1 && rows * out > 128) out /= 2;
        return out;
    }

    // Kinds of masks by name, and what the attention kernels are given of one.
    static constexpr std::array kMasks = {"none", "bytes", "of_type", "f32"};
    Arguments mask() const {
        return {buffer_if(p_.mask != Mask::none, mask_name(p_.mask)), r_.mask.batch, r_.mask.head, r_.mask.token};
    }

    void int8_attention(int64_t items) {
        const int64_t channels = std::min<int64_t>(p_.dp(), 128);  // of O, that one item of work makes
        items *= p_.dp() / channels;
        Step& made = step("attention", "hopper_attention", std::min<int64_t>(items, r_.multiprocessors), kAttentionThreads,
             {{Buffer{"q_codes"}, Buffer{"q_scales"}, Buffer{"k_codes"}, Buffer{"k_scales"}, Buffer{"v_codes"}, Buffer{"v_largest"},
               Buffer{"taken"}, buffer_if(r_.lse, "shift")},
              outputs(), queries(), keys(), sizes(), visibility(), mask(), {buffer_if(p_.smooth_v, "v_mean")}},
             kHopperAttention);
        // hopper_ring.cuh: two places for queries, stages of keys and of values with eight rows of ones, staging, what belongs to
        // an item of work, mbarriers.
        constexpr int64_t kPlaces = 2;
        const int64_t stages = p_.dp() <= 128 ? 3 : 2;
        made.dynamic_shared_bytes = static_cast<uint32_t>(
            kPlaces * kTile * p_.dp() + stages * (kTile * (p_.dp() + channels) + 8 * kTile) + 8 * 16 * 128 +
            kPlaces * (kTile * 4 + channels * 4 + 16) + 16 * (2 * stages + kPlaces));
        made.defines.emplace_back("WW_MASK", kMasks[static_cast<size_t>(p_.mask)]);
        made.defines.emplace_back("WW_V_MEAN", p_.smooth_v ? "1" : "0");
        for (const char* name : {"s", "p_codes", "row_max", "row_sum"}) made.tap_arguments.push_back(Buffer{name});
    }

    static Argument i32(int64_t value) { return static_cast<int32_t>(value); }
    static Argument flag(bool value) { return value ? 1u : 0u; }
    // Else a null pointer.
    static Argument buffer_if(bool there, std::string_view name) {
        return there ? Argument{Buffer{name}} : Argument{int64_t{0}};
    }
    static Arguments strided(std::string_view name, const Strides& s) { return {Buffer{name}, s.batch, s.head, s.token}; }
    // A Side of sage3_common.cuh.
    Arguments side(std::string_view starts, int64_t tokens, int64_t longest) const {
        return {buffer_if(p_.packed != 0, starts), i32(p_.sequences()), i32(tokens), i32(longest), i32(p_.stored(tokens))};
    }
    // Fields of sage3_params.cuh's Call, in the order in which both attention kernels take them.
    Arguments outputs() const {
        return {Buffer{"o"}, buffer_if(r_.lse, "lse"), r_.o.batch, r_.o.head, r_.o.token};
    }
    Arguments sizes() const {
        return {i32(p_.h), i32(p_.h_kv), i32(p_.d), i32(p_.b * p_.h), i32(p_.columns())};
    }
    Arguments visibility() const {
        const int64_t after = p_.causal == Causal::full ? p_.right : 0;
        return {i32(std::min(p_.left, kUnbounded)), i32(std::min(after, kUnbounded)), flag(p_.causal != Causal::top_left),
                flag(after < p_.max_lk()), static_cast<float>(p_.scale)};
    }
    Arguments queries() const { return side("q_starts", p_.lq, p_.max_lq()); }
    Arguments keys() const { return side("k_starts", p_.lk, p_.max_lk()); }

    void workspace(std::string_view name, int64_t bytes) {
        plan_.workspace.push_back({name, static_cast<uint64_t>(bytes)});
    }

    Step& step(std::string_view name, std::string_view entry, int64_t grid, int64_t block,
               std::initializer_list<Arguments> arguments, std::string_view source = kPrepare) {
        if (grid > kMaxGrid && !too_large_)
            too_large_ = fmt::format("B {}, H {}, Lq {}, Lk {} need {} blocks for {}; {} are supported",
                                     p_.b, p_.h, p_.lq, p_.lk, grid, name, kMaxGrid);
        Step out{.name = name, .source = source, .entry = entry,
                 .grid = static_cast<uint32_t>(grid), .block = static_cast<uint32_t>(block)};
        for (const Arguments& each : arguments) out.arguments.insert(out.arguments.end(), each.begin(), each.end());
        out.defines.emplace_back("WW_TYPE", r_.type == Type::f16 ? "F16" : "Bf16");
        if (source != kPrepare) out.defines.emplace_back("WW_HEAD_DIM", fmt::format("{}", p_.dp()));
        plan_.steps.push_back(std::move(out));
        return plan_.steps.back();
    }

    // One mean for each tile (of_tiles) or each sequence, of every head.
    void mean(std::string_view name, Arguments x, Arguments tokens, std::string_view means, int64_t heads, bool of_tiles) {
        const int64_t rows = of_tiles ? p_.means() : p_.sequences() * heads;
        workspace(means, rows * p_.d * 4);
        const Arguments out = {Buffer{means}, i32(heads), i32(p_.d)};
        if (of_tiles)
            step(name, "sage3_mean_tiles", rows * ((p_.d + kTileMeanChannels - 1) / kTileMeanChannels), kTileMeanThreads,
                 {std::move(x), std::move(tokens), out});
        else
            step(name, "sage3_mean", rows * kSequenceBlocks, kSequenceThreads, {std::move(x), std::move(tokens), out}).cluster =
                kSequenceBlocks;
    }

    // What only the log-sum-exp needs.
    void row_shift(int64_t q_tiles, std::string_view source) {
        if (!r_.lse) return;
        workspace("shift", p_.b * p_.h * p_.lq * 4);
        step("row_shift", "sage3_row_shift", q_tiles, kThreads,
             {strided("q", r_.q), queries(), {Buffer{"k_mean"}, Buffer{"shift"}, i32(p_.h), i32(p_.h_kv), i32(p_.d)}}, source);
    }

    void smooth(std::string_view name, Arguments x, Arguments tokens, std::string_view means, bool of_tiles,
                std::string_view out, int64_t heads, int64_t length, int64_t tiles) {
        workspace(out, p_.b * heads * length * p_.d * 2);
        step(name, "sage3_subtract_mean", tiles, kThreads,
             {std::move(x), std::move(tokens), {Buffer{means}, flag(of_tiles), Buffer{out}, i32(heads), i32(p_.d)}});
    }

    void quantize(std::string_view name, Arguments x, Arguments tokens, Arguments means, std::string_view codes,
                  std::string_view scales, Arguments sizes, int64_t tiles) {
        const int64_t elements = tiles * kTile * p_.dp();
        workspace(codes, elements / 2);
        workspace(scales, elements / kGroup);
        step(name, name == "quantize_q" ? "sage3_quantize_q" : name == "quantize_k" ? "sage3_quantize_k" : "sage3_quantize_v",
             tiles, kThreads,
             {std::move(x), std::move(tokens), std::move(means), {Buffer{codes}, Buffer{scales}}, std::move(sizes)});
    }

    void attention(int64_t items) {
        sage3_attention("sage3_attention", items, {"q_codes", "q_scales", "k_codes", "k_scales", "v_codes", "v_scales"},
                        attention_shared_bytes(p_), kAttention);
    }

    // Codes and scales as f16, one block 128 rows or a tile of keys.
    void expand(std::string_view name, std::string_view entry, std::string_view codes, std::string_view scales,
                std::string_view operand, int64_t tiles, int64_t length, int64_t grid, int64_t tile_rows) {
        workspace(operand, tiles * kTile * p_.dp() * 2);
        step(name, entry, grid, kThreads,
             {{Buffer{codes}, Buffer{scales}, Buffer{operand}, i32(p_.stored(length)), i32(p_.dp()), i32(tile_rows)}}, kExactExpand)
            .defines.clear();  // the same for every type
    }

    void exact_attention(int64_t q_tiles, int64_t k_tiles) {
        expand("expand_q", "exact_expand_q", "q_codes", "q_scales", "q_operand", q_tiles, p_.lq, q_tiles, kTile);
        expand("expand_k", "exact_expand_k", "k_codes", "k_scales", "k_operand", k_tiles, p_.lk, k_tiles, p_.key_tile());
        expand("expand_v", "exact_expand_v", "v_codes", "v_scales", "v_operand", k_tiles, p_.lk,
               k_tiles * (kTile / p_.key_tile()), p_.key_tile());
        // exact_ring.cuh: queries, stages of keys, values and biases, staging, mbarriers.
        constexpr int64_t kStages = 2;
        sage3_attention("exact_attention", q_tiles, {"q_operand", "k_operand", "v_operand"},
                        kTile * p_.dp() * 2 + kStages * (2 * p_.key_tile() * p_.dp() * 2 + p_.key_tile() * 4) + 8 * 16 * 128 +
                            16 * (2 * kStages + 1),
                        kExactAttention);
    }

    void sage3_attention(std::string_view entry, int64_t items, std::initializer_list<std::string_view> names,
                         int64_t shared_bytes, std::string_view source) {
        Arguments operands;
        for (const std::string_view name : names) operands.push_back(Buffer{name});
        Step& made = step("attention", entry, std::min<int64_t>(items, r_.multiprocessors), kAttentionThreads,
             {std::move(operands), {Buffer{"bias"}, buffer_if(r_.lse, "shift"), buffer_if(p_.smooth_v, "v_mean")}, mask(),
              outputs(), queries(), keys(), sizes(), {flag(!p_.global_mean)}, visibility(),
              {1.0f / static_cast<float>(p_.scale)}},
             source);
        made.dynamic_shared_bytes = static_cast<uint32_t>(shared_bytes);
        made.defines.emplace_back("WW_MASK", kMasks[static_cast<size_t>(p_.mask)]);
        for (const char* name : {"s", "group_max", "p_codes", "p_scales", "row_max", "row_sum", "o_tile"})
            made.tap_arguments.push_back(Buffer{name});
    }

    // sage3_ring.cuh: the warps' staging, the stages of the ring, their mbarriers.
    static int64_t attention_shared_bytes(const Problem& p) {
        constexpr int64_t kStages = 4, kStaging = 8 * 16 * 128;
        const int64_t codes = p.key_tile() * p.dp() / 2, scales = p.key_tile() * p.dp() / kGroup;
        return kStaging + kStages * (2 * codes + 2 * scales + p.key_tile() * 4 + 16);
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
