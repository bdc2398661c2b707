// SPDX-License-Identifier: Apache-2.0
#include "references.hpp"

namespace ww::kernels {

ladder::LibraryTable references() {
    return {
        {"softmax_reference", softmax_reference},
        {"sage3_mean_q", sage3_mean_q},
        {"sage3_mean_k", sage3_mean_k},
        {"sage3_mean_v", sage3_mean_v},
        {"sage3_smooth_q", sage3_smooth_q},
        {"sage3_smooth_k", sage3_smooth_k},
        {"sage3_key_bias", sage3_key_bias},
        {"sage3_row_shift", sage3_row_shift},
        {"sage3_quantize_q", sage3_quantize_q},
        {"sage3_quantize_k", sage3_quantize_k},
        {"sage3_quantize_v", sage3_quantize_v},
        {"sage3_attention", sage3_attention},
        {"sage3_rows", sage3_rows},
        {"sage3_api", sage3_api},
        {"hopper_means", hopper_means},
        {"hopper_quantize", hopper_quantize},
        {"hopper_attention", hopper_attention},
        {"hopper_attention_unquantised", hopper_attention_unquantised},
        {"hopper_sage2", hopper_sage2},
        {"hopper_api", hopper_api},
        {"exact_expand_q", exact_expand_q},
        {"exact_expand_k", exact_expand_k},
        {"exact_expand_v", exact_expand_v},
        {"exact_api", exact_api},
        {"sage3_attention_unquantised", sage3_attention_unquantised},
    };
}

ladder::PlanTable plans() { return {{"sage3_plan", sage3_plan}, {"hopper_plan", hopper_plan}, {"exact_plan", exact_plan}}; }

}  // namespace ww::kernels
