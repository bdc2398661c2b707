// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement: multimem". These rows parse and have no semantics: there is one device.
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

#define WW_MM "data-movement-and-conversion-instructions-multimem"
#define WW_SCOPE ".scope = .cta .cluster .gpu .sys; "
#define WW_INT ".op = .min .max .add .and .or .xor; .type = .b32 .b64 .u32 .u64 .s32 .s64; " WW_SCOPE
#define WW_FP ".op = .min .max .add; .acc_prec = .acc::f32 .acc::f16; .vec = .v2 .v4 .v8; " \
    ".type = .f16 .f16x2 .bf16 .bf16x2 .f32 .f64 .e5m2 .e5m2x2 .e5m2x4 .e4m3 .e4m3x2 .e4m3x4; " WW_SCOPE
constexpr Since kSince{81, 90};
// clang-format off
constexpr Row kRows[] = {
    {"multimem.ld_reduce{.sem}{.scope}{.global}.op.type d, [a]", ".sem = .weak .relaxed .acquire; " WW_INT, kSince, WW_MM},
    {"multimem.st{.sem}{.scope}{.global}.type [a], b", ".sem = .weak .relaxed .release; " WW_INT, kSince, WW_MM},
    {"multimem.red{.sem}{.scope}{.global}.op.type [a], b", ".sem = .relaxed .release; " WW_INT, kSince, WW_MM},
    {"multimem.ld_reduce{.sem}{.scope}{.global}.op{.acc_prec}{.vec}.type d, [a]", ".sem = .weak .relaxed .acquire; " WW_FP, kSince, WW_MM},
    {"multimem.st{.sem}{.scope}{.global}{.vec}.type [a], b", ".sem = .weak .relaxed .release; " WW_FP, kSince, WW_MM},
    {"multimem.red{.sem}{.scope}{.global}.op{.vec}.type [a], b", ".sem = .relaxed .release; " WW_FP, kSince, WW_MM},
    {"multimem.cp.async.bulk.global.shared::cta.bulk_group{.cp_mask} [dst], [src], size{, byte-mask}", "", {91, 90}, WW_MM "-cp-async-bulk"},
    {"multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.redOp{.noftz}.type [dst], [src], size",
     ".redOp = .and .or .xor .add .inc .dec .min .max; .type = .f16 .bf16 .b32 .u32 .s32 .b64 .u64 .s64 .f32 .f64", {91, 90},
     WW_MM "-cp-reduce-async-bulk"},
};
// clang-format on

}  // namespace

std::span<const Row> multimem_rows() { return kRows; }

}  // namespace ww::isa
