// SPDX-License-Identifier: Apache-2.0
// What a SASS opcode is: its class, the pipe it keeps busy, how wide a memory access is, how much
// work a tensor instruction does. The table of opcodes is opcode.cpp; how fast pipes are: rates.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ww::sass {

// Every instruction is in exactly one class. The names are those of asm_info.json.
enum class Class : uint8_t {
    tensor,            // HMMA, IMMA, QMMA, OMMA, DMMA, HGMMA, QGMMA, IGMMA, UTC*MMA
    mufu,
    fp32,
    fp64,
    fp16,
    integer,
    conversion,
    predicate_select,  // comparisons, predicate logic, selections, minimum and maximum
    move,
    uniform,           // the uniform datapath
    special_register,
    shuffle,           // SHFL, votes, matches and reductions over the warp
    shared,            // LDS, STS
    global,            // LDG, STG
    local,             // LDL, STL
    generic,           // LD, ST
    constant,          // LDC, ULDC
    matrix,            // LDSM, STSM, MOVM
    async_copy,        // LDGSTS and its waits
    tma,               // UTMALDG, UTMASTG, UBLKCP
    tensor_memory,     // LDTM, STTM, UTCCP, UTCBAR
    atomic,
    barrier,           // block, cluster and warpgroup barriers, fences
    mbarrier,          // SYNCS
    branch,
    texture,
    other,             // NOP, and opcodes that the table does not know
    count
};
constexpr size_t kClasses = static_cast<size_t>(Class::count);
std::string_view name(Class value);

// What an instruction keeps busy for more than its issue slot.
enum class Pipe : uint8_t { none, tensor, xu, fma, imad, alu, fp16, fp64, shared, uniform };
constexpr size_t kPipes = static_cast<size_t>(Pipe::uniform) + 1;
std::string_view name(Pipe value);

enum class Access : uint8_t { none, load, store };

struct Opcode {
    Class of = Class::other;
    Pipe pipe = Pipe::none;
    Access access = Access::none;
    bool known = false;  // false: the table has no such opcode
};
// By its name before the first dot, and the few modifiers that change what it is (IMAD.MOV).
Opcode classify(std::string_view opcode);

// "HMMA" of "HMMA.16816.F32".
std::string_view base_name(std::string_view opcode);
// Whether the modifier stands in it: has(".64").
bool has_modifier(std::string_view opcode, std::string_view modifier);

// Bits that each lane moves: 8 to 256.
int access_bits(std::string_view opcode);
// Index of a width among 8, 16, 32, 64, 128, 256.
constexpr std::array<int, 6> kWidths{8, 16, 32, 64, 128, 256};
size_t width_index(int bits);
// Bytes of shared memory that a warp moves: LDS, STS, LDSM, STSM; 0 for others.
int shared_bytes(std::string_view opcode);

enum class TensorType : uint8_t { f16_f16, f16_f32, tf32, f64, int8, int4, bit, fp8_f16, fp8_f32, fp8_scaled, fp4_scaled };
constexpr size_t kTensorTypes = static_cast<size_t>(TensorType::fp4_scaled) + 1;
std::string_view name(TensorType value);
struct TensorWork {
    int m = 0, n = 0, k = 0;
    TensorType type = TensorType::f16_f32;
    bool warpgroup = false;  // four warps make it together
    bool sparse = false;
    // Multiply-adds that the tensor cores do, zeros of sparse operands not counted.
    int64_t multiply_adds() const { return int64_t{m} * n * k / (sparse ? 2 : 1); }
};
// Nothing for instructions whose shape is not in the opcode (UTC*MMA: it is in a descriptor).
std::optional<TensorWork> tensor_work(std::string_view opcode);

}  // namespace ww::sass
