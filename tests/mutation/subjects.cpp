// SPDX-License-Identifier: Apache-2.0
// The ports whose kernels are mutated.
#include <array>

#include "mutant.hpp"

namespace ww::mutation {
namespace {

// The largest case of softmax needs about 60,000 warp instructions.
const Subject kSoftmax{
    .port = "softmax",
    .candidates = {{.name = "plain", .implementation = "plain", .stages = {"softmax"},
                    .parts = {"softmax/softmax_common.cuh", "common/exp2_fma.cuh", "common/ptx_math.cuh",
                              "common/ptx_sync.cuh", "softmax/softmax_plain.cu"},
                    .ptx_case = "one",
                    .cases = {}},
                   {.name = "cp_async", .implementation = "cp_async", .stages = {"softmax"},
                    .parts = {"softmax/softmax_common.cuh", "common/exp2_fma.cuh", "common/ptx_math.cuh",
                              "common/ptx_sync.cuh", "common/ptx_cp_async.cuh",
                              "softmax/softmax_cp_async.cu"},
                    .ptx_case = "one",
                    .cases = {}}},
    .budget = 1'000'000,
    .has_line_goal = true};

const std::vector<std::string_view> kSage3Prepare = {"mean_q",    "mean_k",     "smooth_q",
                                                     "smooth_k",  "key_bias",   "row_shift",
                                                     "quantize_q", "quantize_k", "quantize_v"};

std::vector<std::string_view> with_attention(std::vector<std::string_view> stages) {
    stages.push_back("attention");
    return stages;
}

// Small ones, by the head dimension that attention is compiled for, and one whose tiles are not masked; and for the kernels before it.
const std::vector<std::string_view> kDepth64 = {"one", "small", "d1", "top_left_129_300", "ring"};
const std::vector<std::string_view> kDepth128 = {"d96_causal", "causal_300_129", "ring_128"};
const std::vector<std::string_view> kFeatures = {"one", "small", "d1", "top_left_129_300", "mask_hides_rows",
                                                 "window_narrow"};
const std::vector<std::string_view> kAnyDepth = {"small", "d1", "d96_causal", "top_left_129_300"};

// Every file but sage3_taps.cuh: what it stores is how faults are seen. The PTX of each kernel; that of
// attention for both head dimensions.
const Subject kSage3{
    .port = "sage3",
    .candidates = {{.name = "text of attention", .implementation = "fp4", .stages = {"attention"},
                    .parts = {"sage3/sage3_attention.cuh", "sage3/sage3_attention.cu", "sage3/sage3_tile.cuh",
                              "sage3/sage3_mask.cuh", "sage3/sage3_epilogue.cuh", "sage3/sage3_params.cuh",
                              "sage3/sage3_ring.cuh", "common/ptx_mma.cuh", "common/ptx_bulk.cuh"},
                    .ptx_case = "", .cases = kFeatures},
                   {.name = "text of smoothing and quantisers", .implementation = "fp4",
                    .stages = kSage3Prepare,
                    .parts = {"sage3/sage3_quantize.cuh", "sage3/sage3_smooth.cuh", "sage3/sage3_row_shift.cuh",
                              "sage3/sage3_sequence.cuh", "sage3/sage3_channels.cuh", "sage3/sage3_prepare.cu"},
                    .ptx_case = "", .cases = kAnyDepth},
                   {.name = "text for all", .implementation = "fp4",
                    .stages = with_attention(kSage3Prepare),
                    .parts = {"sage3/sage3_common.cuh", "common/ptx_math.cuh", "common/ptx_sync.cuh",
                              "common/ptx_fp4.cuh", "common/float16.cuh", "common/ptx_cluster.cuh"},
                    .ptx_case = "", .cases = kDepth64},
                   {"mean", "fp4", {"mean_q", "mean_k"}, {}, "small", kAnyDepth},
                   {"subtract_mean", "fp4", {"smooth_q", "smooth_k"}, {}, "small", kAnyDepth},
                   {"key_bias", "fp4", {"key_bias"}, {}, "small", kAnyDepth},
                   {"row_shift", "fp4", {"row_shift"}, {}, "small", kAnyDepth},
                   {"quantize_q", "fp4", {"quantize_q"}, {}, "small", kAnyDepth},
                   {"quantize_k", "fp4", {"quantize_k"}, {}, "small", kAnyDepth},
                   {"quantize_v", "fp4", {"quantize_v"}, {}, "small", kAnyDepth},
                   {"attention, D 64", "fp4", {"attention"}, {}, "small", kDepth64},
                   {"attention, D 128", "fp4", {"attention"}, {}, "d96_causal", kDepth128}},
    .budget = 5'000'000,
    .has_line_goal = false};

const std::array<const Subject*, 2> kSubjects = {&kSoftmax, &kSage3};

}  // namespace

const Subject* find_subject(std::string_view port) {
    for (const Subject* each : kSubjects)
        if (each->port == port) return each;
    return nullptr;
}

}  // namespace ww::mutation
