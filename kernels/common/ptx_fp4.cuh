// SPDX-License-Identifier: Apache-2.0
// Conversions to and from the 4- and 8-bit formats (sm_100a, sm_120a): one wrapper = one PTX
// instruction, named like it.
#pragma once

namespace ptx {

// Two e2m1 codes in the low byte: low in bits 0-3, high in bits 4-7. Nearest even, saturating to
// +-6; a NaN gives +6.
__device__ __forceinline__ unsigned cvt_rn_satfinite_e2m1x2_f32(float high, float low) {
    unsigned d;  // an 8-bit register cannot leave the asm statement: it is widened in it
    asm("{\n\t.reg .b8 codes;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 codes, %1, %2;\n\t"
        "cvt.u32.u8 %0, codes;\n\t}"
        : "=r"(d)
        : "f"(high), "f"(low));
    return d;
}

// Eight e2m1 codes, x[0] in bits 0-3: four of the conversion above and the mov that joins their results, since
// an 8-bit register cannot leave an asm statement. ptxas makes it four instructions.
__device__ __forceinline__ unsigned cvt_rn_satfinite_e2m1x2_f32_x4(const float (&x)[8]) {
    unsigned d;
    asm("{\n\t.reg .b8 a, b, c, d;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 a, %2, %1;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 b, %4, %3;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 c, %6, %5;\n\t"
        "cvt.rn.satfinite.e2m1x2.f32 d, %8, %7;\n\t"
        "mov.b32 %0, {a, b, c, d};\n\t}"
        : "=r"(d)
        : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]));
    return d;
}

// Two e4m3 codes: low in bits 0-7, high in bits 8-15. Nearest even, saturating to +-448.
__device__ __forceinline__ unsigned short cvt_rn_satfinite_e4m3x2_f32(float high, float low) {
    unsigned short d;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(high), "f"(low));
    return d;
}

// The values of two e4m3 codes as two f16, exactly.
__device__ __forceinline__ unsigned cvt_rn_f16x2_e4m3x2(unsigned short a) {
    unsigned d;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(a));
    return d;
}

}  // namespace ptx
