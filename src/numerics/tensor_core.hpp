// SPDX-License-Identifier: Apache-2.0
// What a tensor core computes, bit for bit, as data: one Model per GPU generation, unit and kind.
// Plain matrices in, plain matrices out; fragments and registers belong to the instruction rows.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "numerics/formats.hpp"

namespace ww::numerics {

enum class Unit : std::uint8_t { mma_sync, wgmma, tcgen05 };

// How terms are combined.
enum class Scheme : std::uint8_t {
    fused,          // truncated fused sums of `chunk` products and c, chained along k
    fp8_as_f16,     // sm_90 mma.sync fp8: two fused f16 sums by k % 4, then an ordinary add of c
    scaled_fused,   // fused, each product times its ue8m0 scales (exponents only)
    scaled_groups,  // exact sums of `scale_block` products, times scale significands, then one
                    // fused sum
    integer,        // exact; wraps or saturates to s32
    binary_xor,     // popc(a ^ b), added to s32
    binary_and,     // popc(a & b), added to s32
    f64_chain,      // fma chain, k ascending
    quad_f16,       // m8n8k4 f16 in software (sm_80 and later)
};

struct Model {
    Scheme scheme = Scheme::fused;
    Format a = Format::f16;
    Format b = Format::f16;
    Format accumulator = Format::f32;  // of c and d: f32, f16, s32, f64
    int chunk = 16;                    // products in one fused sum
    int fraction_bits = 25;            // F: bits kept below the largest exponent of a sum
    int output_fraction_bits = 23;     // f32 results are cut toward zero to this many bits
    int min_exponent = -133;           // the largest exponent of a sum is never taken below this
    Format scale = Format::none;       // ue8m0 or ue4m3 in the block-scaled kinds
    int scale_block = 0;               // products that share one scale
    bool saturate = false;             // .satfinite of the integer kinds
};

// What identifies an instruction's arithmetic. `sm` is the compute capability as in sm_NN.
struct MmaKind {
    int sm = 90;
    Unit unit = Unit::mma_sync;
    Format a = Format::f16;
    Format b = Format::f16;
    Format accumulator = Format::f32;
    Format scale = Format::none;
    int scale_block = 0;      // 16 or 32 where scale is given
    bool packed_fp4 = false;  // kind::mxf4 and kind::mxf4nvf4 (mxf8f6f4 with e2m1 is not)
    bool saturate = false;
    bool binary_and = false;  // b1: .and.popc instead of .xor.popc
    bool quad = false;        // m8n8k4 with f16
};

// The model of an instruction on a GPU, or why there is none.
Result<Model> find_model(const MmaKind& kind);
std::string describe(const Model& model);

struct Shape {
    int m = 0, n = 0, k = 0;
};

// Plain matrices without padding. a is M x K, row after row; b is N x K (column after column of the
// K x N matrix); c and d are M x N. An element is one code in the smallest of 1, 2, 4, 8 bytes
// (tf32: 4); except that s4, u4 and the e2m1 of scaled_groups are two codes a byte, low nibble
// first, and b1 is 8 codes a byte, low bit first. d may be c. c == nullptr stands for zeros.
struct MmaOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* c = nullptr;
    void* d = nullptr;
    const std::uint8_t* scale_a = nullptr;  // M x (K / scale_block)
    const std::uint8_t* scale_b = nullptr;  // N x (K / scale_block)
};

// d = a * b + c. The two give the same bits: the first is fast, the second reads like the rule.
void mma(const Model& model, Shape shape, const MmaOperands& operands);
void mma_reference(const Model& model, Shape shape, const MmaOperands& operands);

// Bytes of one row of a or b (K elements) in the layout above.
int row_bytes(const Model& model, Format element, int k);

}  // namespace ww::numerics
