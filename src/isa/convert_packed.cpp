// SPDX-License-Identifier: Apache-2.0
// PTX manual, "cvt": pairs of f32 to halves, tf32, and the fp8, fp6, fp4 and ue8m0 formats, both
// ways. cvt.pack is in convert_pack.cpp.
#include <immintrin.h>

#include <array>

#include "isa/convert_ops.hpp"
#include "isa/half_ops.hpp"
#include "isa/isa.hpp"
#include "isa/small_floats.hpp"
#include "numerics/arith.hpp"

namespace ww::isa {
namespace {

using numerics::Format;

// aux of everything here.
struct PackedAux {
    Format format = Format::none;  // the small format
    Rounding rounding = Rounding::rn;
    bool relu = false, satfinite = false;
    bool packed = true;  // two values a lane
    bool bf16 = false;   // the half format
    uint64_t pack() const {
        return static_cast<uint64_t>(format) | static_cast<uint64_t>(rounding) << 8 |
               uint64_t{relu} << 16 | uint64_t{satfinite} << 17 | uint64_t{packed} << 18 |
               uint64_t{bf16} << 19;
    }
    static PackedAux unpack(uint64_t aux) {
        return {static_cast<Format>(aux & 0xff),
                static_cast<Rounding>(aux >> 8 & 0xff),
                (aux >> 16 & 1) != 0,
                (aux >> 17 & 1) != 0,
                (aux >> 18 & 1) != 0,
                (aux >> 19 & 1) != 0};
    }
};

// d, a, b: a is the upper one of each pair.
void read_pairs(const Warp& w, const Inst& in, float* values) {
    alignas(64) float scratch[2][kLanes];
    const float* a = w.in<float>(in[1][0], scratch[0]);
    const float* b = w.in<float>(in[2][0], scratch[1]);
    for (int lane = 0; lane < kLanes; ++lane) {
        values[2 * lane] = b[lane];
        values[2 * lane + 1] = a[lane];
    }
}

// ---- f32 to f16, bf16 ----
void modify(const PackedAux& aux, float* values, int count) {
    const float max = aux.bf16 ? numerics::float_of(0x7f7f0000u) : 65504.0f;
    if (aux.relu)
        for (int i = 0; i < count; ++i) values[i] = numerics::relu(values[i]);
    if (aux.satfinite)
        for (int i = 0; i < count; ++i)
            values[i] = values[i] > max ? max : values[i] < -max ? -max : values[i];
}
void narrow_toward_zero(bool bf16, const float* values, uint16_t* codes, int count) {
    if (bf16) {
        for (int i = 0; i < count; ++i)
            codes[i] = static_cast<uint16_t>(
                values[i] != values[i] ? numerics::kNanBf16 : numerics::bits_of(values[i]) >> 16);
        return;
    }
    for (int i = 0; i < count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_ZERO));
    for (int i = 0; i < count; ++i)
        codes[i] = (codes[i] & 0x7fff) > 0x7c00 ? numerics::kNanF16 : codes[i];
}
void run_to_half(Warp& w, const Inst& in) {
    const PackedAux aux = PackedAux::unpack(in.aux);
    alignas(64) float values[kMaxHalves];
    alignas(64) uint16_t codes[kMaxHalves];
    const int count = aux.packed ? kMaxHalves : kLanes;
    if (aux.packed) {
        read_pairs(w, in, values);
    } else {
        alignas(64) float scratch[kLanes];
        std::memcpy(values, w.in<float>(in[1][0], scratch), sizeof scratch);
    }
    modify(aux, values, count);
    if (aux.rounding == Rounding::rn)
        narrow(aux.bf16, values, codes, count);
    else
        narrow_toward_zero(aux.bf16, values, codes, count);
    write_half_codes(w, in[0][0], aux.packed, codes);
}
void bind_to_half(const Match& match, Binding& binding) {
    const std::string_view type = match.get(".dtype");
    const bool packed = type.ends_with("x2");
    if (!check_value(match, 0, packed ? 4 : 2, binding) || !check_value(match, 1, 4, binding))
        return;
    if (packed && !check_value(match, 2, 4, binding)) return;
    binding.aux = PackedAux{.rounding = rounding_of(match.get(".frnd2")),
                            .relu = match.has(".relu"),
                            .satfinite = match.has(".satfinite"),
                            .packed = packed,
                            .bf16 = type.starts_with(".bf16")}
                      .pack();
    binding.run = run_to_half;
}

// ---- tf32 ----
enum class Tie : uint8_t { away, even, cut };
template <Tie Mode, bool Saturate, bool Relu>
struct ToTf32 {
    static uint32_t apply(uint32_t x) {
        const uint32_t magnitude = x & 0x7fffffffu;
        const uint32_t step = Mode == Tie::away   ? 0x1000u
                              : Mode == Tie::even ? 0xfffu + (x >> 13 & 1)
                                                  : 0;
        uint32_t result = (magnitude < 0x7f800000u ? x + step : x) & 0xffffe000u;
        if constexpr (Saturate)
            result =
                (result & 0x7fffffffu) >= 0x7f800000u ? (x & 0x80000000u) | 0x7f7fe000u : result;
        if constexpr (Relu) result = result >> 31 ? 0 : result;
        // [H200] .rna is done in integer arithmetic by ptxas, which only cuts a NaN and with
        // .satfinite takes one step off; the other modes give the canonical NaN, cut to tf32 unless
        // .satfinite stands there.
        if constexpr (Mode == Tie::away) {
            const uint32_t cut = x & 0xffffe000u;
            return magnitude > 0x7f800000u ? (Saturate ? cut - 0x2000u : cut) : result;
        }
        constexpr uint32_t kNan = Saturate ? numerics::kNanF32 : numerics::kNanF32 & 0xffffe000u;
        return magnitude > 0x7f800000u ? kNan : result;
    }
};
template <Tie Mode, bool Saturate, bool Relu>
void bind_tf32_form(const Match& match, Binding& binding) {
    bind_lanes<ToTf32<Mode, Saturate, Relu>, uint32_t, uint32_t>(match, binding);
}
void bind_tf32_away(const Match& match, Binding& binding) {
    if (match.has(".satfinite"))
        bind_tf32_form<Tie::away, true, false>(match, binding);
    else
        bind_tf32_form<Tie::away, false, false>(match, binding);
}
template <Tie Mode>
void bind_tf32_mode(const Match& match, Binding& binding) {
    const bool satfinite = match.has(".satfinite"), relu = match.has(".relu");
    if (satfinite && relu)
        bind_tf32_form<Mode, true, true>(match, binding);
    else if (satfinite)
        bind_tf32_form<Mode, true, false>(match, binding);
    else if (relu)
        bind_tf32_form<Mode, false, true>(match, binding);
    else
        bind_tf32_form<Mode, false, false>(match, binding);
}
void bind_tf32(const Match& match, Binding& binding) {
    if (match.get(".frnd2") == ".rz")
        bind_tf32_mode<Tie::cut>(match, binding);
    else
        bind_tf32_mode<Tie::even>(match, binding);
}

// ---- to fp8, fp6, fp4, ue8m0 ----
Format small_format(std::string_view type) {
    type.remove_prefix(1);
    type.remove_suffix(2);
    return numerics::format_named(type);
}
void write_small(Warp& w, const Inst& in, Format format, const uint8_t* codes) {
    if (format != Format::e2m1) {
        alignas(64) uint16_t scratch[kLanes];
        uint16_t* d = w.out<uint16_t>(in[0][0], scratch);
        std::memcpy(d, codes, sizeof scratch);
        return w.commit<uint16_t>(in[0][0], d, scratch);
    }
    alignas(64) uint8_t scratch[kLanes];
    uint8_t* d = w.out<uint8_t>(in[0][0], scratch);
    for (int lane = 0; lane < kLanes; ++lane)
        d[lane] = static_cast<uint8_t>(codes[2 * lane] | codes[2 * lane + 1] << 4);
    w.commit<uint8_t>(in[0][0], d, scratch);
}
template <bool FromHalves>
void run_to_small(Warp& w, const Inst& in) {
    const PackedAux aux = PackedAux::unpack(in.aux);
    alignas(64) float values[kMaxHalves];
    alignas(64) uint8_t codes[kMaxHalves];
    if constexpr (FromHalves)
        read_half(w, in[1][0], {.packed = true, .bf16 = aux.bf16}, values);
    else
        read_pairs(w, in, values);
    if (aux.format == Format::ue8m0) {
        const numerics::EncodeOptions options{.rounding = aux.rounding, .saturate = aux.satfinite};
        for (int i = 0; i < kMaxHalves; ++i)
            codes[i] = static_cast<uint8_t>(numerics::encode(aux.format, values[i], options));
    } else {
        encode_row({aux.format, aux.rounding, aux.relu}, values, codes, kMaxHalves);
    }
    write_small(w, in, aux.format, codes);
}
int small_bytes(Format format) { return format == Format::e2m1 ? 1 : 2; }
template <bool FromHalves>
void bind_to_small(const Match& match, Binding& binding) {
    PackedAux aux{.format = small_format(match.get(".to")),
                  .rounding = rounding_of(match.get(".frnd")),
                  .relu = match.has(".relu"),
                  .satfinite = match.has(".satfinite"),
                  .bf16 = match.get(".fp16x2type") == ".bf16x2"};
    if (!check_value(match, 0, small_bytes(aux.format), binding) ||
        !check_value(match, 1, 4, binding))
        return;
    if (!FromHalves && !check_value(match, 2, 4, binding)) return;
    binding.aux = aux.pack();
    binding.run = run_to_small<FromHalves>;
}

// ---- from fp8, fp6, fp4, ue8m0 ----
// The values of all codes of a format.
const std::array<float, 256>& values_of(Format format) {
    static const auto kTables = [] {
        std::array<std::array<float, 256>, static_cast<size_t>(Format::ue8m0) + 1> tables{};
        for (const Format each :
             {Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1, Format::ue8m0})
            for (uint32_t code = 0; code < 256; ++code)
                tables[static_cast<size_t>(each)][code] =
                    static_cast<float>(numerics::decode(each, code));
        return tables;
    }();
    return kTables[static_cast<size_t>(format)];
}
void run_from_small(Warp& w, const Inst& in) {
    const PackedAux aux = PackedAux::unpack(in.aux);
    alignas(64) uint8_t codes[kMaxHalves];
    alignas(64) float values[kMaxHalves];
    if (aux.format == Format::e2m1) {
        alignas(64) uint8_t scratch[kLanes];
        const uint8_t* a = w.in<uint8_t>(in[1][0], scratch);
        for (int lane = 0; lane < kLanes; ++lane) {
            codes[2 * lane] = a[lane] & 15;
            codes[2 * lane + 1] = a[lane] >> 4;
        }
    } else {
        alignas(64) uint16_t scratch[kLanes];
        std::memcpy(codes, w.in<uint16_t>(in[1][0], scratch), sizeof codes);
    }
    const std::array<float, 256>& table = values_of(aux.format);
    for (int i = 0; i < kMaxHalves; ++i) values[i] = table[codes[i]];
    write_half(w, in[0][0], {.packed = true, .bf16 = aux.bf16, .relu = aux.relu}, values);
}
template <bool Bf16>
void bind_from_small(const Match& match, Binding& binding) {
    const PackedAux aux{
        .format = small_format(match.get(".from")), .relu = match.has(".relu"), .bf16 = Bf16};
    if (!check_value(match, 0, 4, binding) ||
        !check_value(match, 1, small_bytes(aux.format), binding))
        return;
    binding.aux = aux.pack();
    binding.run = run_from_small;
}

// clang-format off
#define WW_HALVES "; .dtype = .f16 .bf16"
#define WW_PAIRS "; .dtype = .f16x2 .bf16x2"
#define WW_SOURCES "; .fp16x2type = .f16x2 .bf16x2"
#define WW_FP8 " = .e4m3x2 .e5m2x2"
#define WW_FP4_FP6 " = .e2m1x2 .e2m3x2 .e3m2x2"
constexpr std::string_view kFrnd2 = ".frnd2 = .rn .rz";
constexpr std::string_view kAnchor = "data-movement-and-conversion-instructions-cvt";
constexpr Row kRows[] = {
    // Without .relu and .satfinite these are the general cvt.
    {"cvt.frnd2.relu{.satfinite}.dtype.f32 d, a", ".frnd2 = .rn .rz" WW_HALVES, {70, 80}, kAnchor, bind_to_half},
    {"cvt.frnd2.satfinite.dtype.f32 d, a", ".frnd2 = .rn .rz" WW_HALVES, {81, 80}, kAnchor, bind_to_half},
    {"cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a", ".frnd2 = .rn .rz" WW_HALVES, {94, 107, 'f'}, kAnchor, nullptr},
    {"cvt.frnd2{.relu}{.satfinite}.dtype.f32 d, a, b", ".frnd2 = .rn .rz" WW_PAIRS, {70, 80}, kAnchor, bind_to_half},
    {"cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32 d, a, b", ".frnd2 = .rn .rz" WW_PAIRS, {94, 107, 'f'}, kAnchor, nullptr},
    {"cvt.rs{.relu}{.satfinite}.dtype.f32 d, a, b, rbits", ".dtype = .f16x2 .bf16x2", {87, 100, 'a'}, kAnchor, nullptr},
    {"cvt.rna{.satfinite}.tf32.f32 d, a", "", {70, 80}, kAnchor, bind_tf32_away},
    {"cvt.frnd2{.satfinite}{.relu}.tf32.f32 d, a", kFrnd2, {78, 90}, kAnchor, bind_tf32},
    {"cvt.frnd2{.satfinite}{.relu}.pzo.tf32.f32 d, a", kFrnd2, {94, 107, 'f'}, kAnchor, nullptr},

    {"cvt.frnd.satfinite{.relu}.to.f32 d, a, b", ".frnd = .rn; .to" WW_FP8, {78, 89}, kAnchor, bind_to_small<false>},
    {"cvt.frnd.satfinite{.relu}.to.f32 d, a, b", ".frnd = .rn; .to" WW_FP4_FP6, {86, 100, 'a'}, kAnchor, bind_to_small<false>},
    {"cvt.frnd.satfinite{.relu}.to.f32 d, a, b", ".frnd = .rz; .to = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {94, 107, 'f'}, kAnchor, bind_to_small<false>},
    {"cvt.frnd.satfinite{.relu}.to.fp16x2type d, a", ".frnd = .rn; .fp16x2type = .f16x2; .to" WW_FP8, {78, 89}, kAnchor, bind_to_small<true>},
    {"cvt.frnd.satfinite{.relu}.to.fp16x2type d, a", ".frnd = .rn; .fp16x2type = .bf16x2; .to" WW_FP8, {91, 100, 'f'}, kAnchor, bind_to_small<true>},
    {"cvt.frnd.satfinite{.relu}.to.fp16x2type d, a", ".frnd = .rn" WW_SOURCES "; .to" WW_FP4_FP6, {91, 100, 'f'}, kAnchor, bind_to_small<true>},
    {"cvt.frnd.satfinite{.relu}.to.fp16x2type d, a", ".frnd = .rz" WW_SOURCES "; .to = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {94, 107, 'f'}, kAnchor, bind_to_small<true>},
    {"cvt.frnd2.satfinite{.relu}.pzo{.scaled::n1::ue8m0}.to.f32 d, a, b{, scale-factor}", ".frnd2 = .rn .rz; .to = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {94, 107, 'f'}, kAnchor, nullptr},
    {"cvt.frnd2.satfinite{.relu}.scaled::n1::ue8m0.to.f32 d, a, b, scale-factor", ".frnd2 = .rn .rz; .to = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {94, 107, 'f'}, kAnchor, nullptr},
    {"cvt.rs{.relu}.satfinite.to.f32 d, abef, rbits", ".to = .e4m3x4 .e5m2x4 .e2m1x4 .e2m3x4 .e3m2x4", {87, 100, 'a'}, kAnchor, nullptr},

    {"cvt.rn{.relu}.f16x2.from d, a", ".from" WW_FP8, {78, 89}, kAnchor, bind_from_small<false>},
    {"cvt.rn{.relu}.f16x2.from d, a", ".from" WW_FP4_FP6, {86, 100, 'a'}, kAnchor, bind_from_small<false>},
    {"cvt.rn{.relu}{.satfinite}.bf16x2.from d, a", ".from = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {92, 100, 'f'}, kAnchor, bind_from_small<true>},
    {"cvt.rn{.relu}{.satfinite}.scaled::n2::ue8m0.bf16x2.from d, a{, scale-factor}", ".from = .e4m3x2 .e5m2x2 .e2m1x2 .e2m3x2 .e3m2x2", {92, 100, 'f'}, kAnchor, nullptr},

    {"cvt.frnd{.satfinite}.to.f32 d, a, b", ".frnd = .rz .rp; .to = .ue8m0x2", {86, 100, 'a'}, kAnchor, bind_to_small<false>},
    {"cvt.frnd{.satfinite}.to.fp16x2type d, a", ".frnd = .rz .rp; .fp16x2type = .bf16x2; .to = .ue8m0x2", {86, 100, 'a'}, kAnchor, bind_to_small<true>},
    {"cvt.rn.bf16x2.from d, a", ".from = .ue8m0x2", {86, 100, 'a'}, kAnchor, bind_from_small<true>},
    {"cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32 d, a, b{, scale-factor}", kFrnd2, {91, 100, 'a'}, kAnchor, nullptr},
    {"cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2 d, a{, scale-factor}", kFrnd2, {91, 100, 'a'}, kAnchor, nullptr},
    {"cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2 d, a{, scale-factor}", "", {91, 100, 'a'}, kAnchor, nullptr},
};
// clang-format on

}  // namespace

std::span<const Row> convert_packed_rows() { return kRows; }

}  // namespace ww::isa
