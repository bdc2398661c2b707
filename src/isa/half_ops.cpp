// SPDX-License-Identifier: Apache-2.0
#include "isa/half_ops.hpp"

#include <immintrin.h>

#include <cstring>

#include "numerics/half.hpp"

namespace ww::isa {
namespace {

void flush(bool bf16, uint16_t* codes, int count) {
    const uint16_t exponent = bf16 ? 0x7f80 : 0x7c00;
    for (int i = 0; i < count; ++i)
        codes[i] = static_cast<uint16_t>((codes[i] & exponent) != 0 ? codes[i] : codes[i] & 0x8000);
}

}  // namespace

HalfAux half_aux(std::string_view type, const Match& match) {
    return {.packed = type.ends_with("x2"),
            .bf16 = type.starts_with(".bf16"),
            .ftz = match.has(".ftz"),
            .sat = match.has(".sat"),
            .relu = match.has(".relu")};
}

void widen(bool bf16, const uint16_t* codes, float* values, int count) {
    if (bf16) {
        for (int i = 0; i < count; ++i) values[i] = numerics::bf16_to_f32(codes[i]);
        return;
    }
    for (int i = 0; i < count; i += 8)
        _mm256_storeu_ps(
            values + i,
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i))));
}

void narrow(bool bf16, const float* values, uint16_t* codes, int count) {
    if (bf16) {
        for (int i = 0; i < count; ++i) codes[i] = numerics::f32_to_bf16(values[i]);
        return;
    }
    for (int i = 0; i < count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
    for (int i = 0; i < count; ++i)
        codes[i] = (codes[i] & 0x7fff) > 0x7c00 ? numerics::kNanF16 : codes[i];
}

void read_half_codes(const Warp& w, const machine::Operand& operand, bool packed, uint16_t* codes) {
    alignas(64) uint32_t scratch[kLanes];
    if (packed) {
        std::memcpy(codes, w.in<uint32_t>(operand, scratch), kMaxHalves * sizeof *codes);
    } else {
        alignas(64) uint16_t narrow_scratch[kLanes];
        std::memcpy(codes, w.in<uint16_t>(operand, narrow_scratch), kLanes * sizeof *codes);
    }
}

void write_half_codes(Warp& w, const machine::Operand& operand, bool packed,
                      const uint16_t* codes) {
    const auto write = [&]<class T>() {
        alignas(64) T scratch[kLanes];
        T* d = w.out<T>(operand, scratch);
        std::memcpy(d, codes, sizeof scratch);
        w.commit<T>(operand, d, scratch);
    };
    if (packed)
        write.operator()<uint32_t>();
    else
        write.operator()<uint16_t>();
}

void read_half(const Warp& w, const machine::Operand& operand, HalfAux aux, float* values) {
    alignas(64) uint16_t codes[kMaxHalves];
    read_half_codes(w, operand, aux.packed, codes);
    if (aux.ftz) flush(aux.bf16, codes, aux.count());
    widen(aux.bf16, codes, values, aux.count());
}

void write_half(Warp& w, const machine::Operand& operand, HalfAux aux, const float* values) {
    alignas(64) float modified[kMaxHalves];
    alignas(64) uint16_t codes[kMaxHalves];
    const int count = aux.count();
    if (aux.sat || aux.relu) {
        for (int i = 0; i < count; ++i)
            modified[i] = aux.sat ? numerics::saturate(values[i]) : numerics::relu(values[i]);
        values = modified;
    }
    narrow(aux.bf16, values, codes, count);
    if (aux.ftz) flush(aux.bf16, codes, count);
    // [H200] Tiny is what stays below 2^-14 when it is rounded to 11 bits as if the exponent had no
    // limit; the subnormal grid alone would round a little more up to 2^-14.
    if (aux.ftz && !aux.bf16)
        for (int i = 0; i < count; ++i)
            codes[i] = __builtin_fabsf(values[i]) < 0x1p-14f - 0x1p-26f ? codes[i] & 0x8000 : codes[i];
    write_half_codes(w, operand, aux.packed, codes);
}

}  // namespace ww::isa
