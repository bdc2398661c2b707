// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Texture Instructions" and "Surface Instructions". These rows parse and have no
// semantics: textures and surfaces are not emulated.
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

#define WW_TEX ".geom = .1d .2d .3d .a1d .a2d .cube .acube .2dms .a2dms; .dtype = .u32 .s32 .f16 .f32; .ctype = .s32 .f32; "
#define WW_SURFACE ".geom = .1d .2d .3d .a1d .a2d; .vec = .v2 .v4; .mode = .trap .clamp .zero; "
constexpr std::string_view kTex = "texture-instructions-tex";
// clang-format off
// The address is [texture, coordinates] or [texture, sampler, coordinates].
constexpr Row kRows[] = {
    {"tex.geom.v4.dtype.ctype d{|p}, [a, c]{, e}{, f}", WW_TEX, {10}, kTex},
    {"tex.geom.v2.f16x2.ctype d{|p}, [a, c]{, e}{, f}", WW_TEX, {42}, kTex},
    {"tex.base.geom.v4.dtype.ctype d{|p}, [a, c]{, e}{, f}", WW_TEX, {31, 20}, kTex},
    {"tex.level.geom.v4.dtype.ctype d{|p}, [a, c], lod{, e}{, f}", WW_TEX, {31, 20}, kTex},
    {"tex.grad.geom.v4.dtype.ctype d{|p}, [a, c], dx, dy{, e}{, f}", WW_TEX, {31, 20}, kTex},
    {"tex.base.geom.v2.f16x2.ctype d{|p}, [a, c]{, e}{, f}", WW_TEX, {42, 20}, kTex},
    {"tex.level.geom.v2.f16x2.ctype d{|p}, [a, c], lod{, e}{, f}", WW_TEX, {42, 20}, kTex},
    {"tex.grad.geom.v2.f16x2.ctype d{|p}, [a, c], dx, dy{, e}{, f}", WW_TEX, {42, 20}, kTex},
    {"tld4.comp.geom.v4.dtype.f32 d{|p}, [a, c]{, e}{, f}", ".comp = .r .g .b .a; .geom = .2d .a2d .cube .acube; .dtype = .u32 .s32 .f32", {22, 20},
     "texture-instructions-tld4"},
    {"txq.query.b32 d, [a]",
     ".query = .width .height .depth .channel_data_type .channel_order .normalized_coords .array_size .num_mipmap_levels .num_samples "
     ".force_unnormalized_coords .filter_mode .addr_mode_0 .addr_mode_1 .addr_mode_2", {15}, "texture-instructions-txq"},
    {"txq.level.query.b32 d, [a], lod", ".query = .width .height .depth", {42, 30}, "texture-instructions-txq"},
    {"istypep.type p, a", ".type = .texref .samplerref .surfref", {40, 30}, "texture-instructions-istypep"},
    {"suld.b.geom{.cop}{.vec}.dtype.mode d, [a, b]", ".cop = .ca .cg .cs .cv; .dtype = .b8 .b16 .b32 .b64; " WW_SURFACE, {15, 20},
     "surface-instructions-suld"},
    {"sust.b.geom{.cop}{.vec}.ctype.mode [a, b], c", ".cop = .wb .cg .cs .wt; .ctype = .b8 .b16 .b32 .b64; " WW_SURFACE, {15, 20},
     "surface-instructions-sust"},
    {"sust.p.geom{.vec}.b32.mode [a, b], c", WW_SURFACE, {20, 20}, "surface-instructions-sust"},
    {"sured.b.op.geom.ctype.mode [a, b], c", ".op = .add .min .max .and .or; .ctype = .u32 .u64 .s32 .b32 .s64; " WW_SURFACE, {20, 20},
     "surface-instructions-sured"},
    {"sured.p.op.geom.ctype.mode [a, b], c", ".op = .add .min .max .and .or; .ctype = .b32 .b64; " WW_SURFACE, {20, 20},
     "surface-instructions-sured"},
    {"suq.query.b32 d, [a]", ".query = .width .height .depth .channel_data_type .channel_order .array_size .memory_layout", {15, 20},
     "surface-instructions-suq"},
};
// clang-format on

}  // namespace

std::span<const Row> texture_rows() { return kRows; }

}  // namespace ww::isa
