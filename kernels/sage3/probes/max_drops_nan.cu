// SPDX-License-Identifier: Apache-2.0
// max.f32 and max.NaN.f32 of 1 and NaN.
// probe: target sm_120a
// probe: in values f32 1 nan
// probe: out maxima f32 2

extern "C" __global__ void probe(const float* values, float* maxima) {
    asm("max.f32 %0, %1, %2;" : "=f"(maxima[0]) : "f"(values[0]), "f"(values[1]));
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(maxima[1]) : "f"(values[0]), "f"(values[1]));
}
