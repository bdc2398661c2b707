// SPDX-License-Identifier: Apache-2.0
// Words of the machine: lanes, state spaces, PTX scalar types, and the trap a guest fault throws.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ww::machine {

constexpr int kLanes = 32;
using LaneMask = uint32_t;
constexpr LaneMask kAllLanes = 0xffffffffu;

enum class Space : uint8_t { generic, global, shared, local, constant, param };

// Windows of the generic address space. Global memory lies below all of them.
constexpr uint64_t kSharedWindow = uint64_t{1} << 56;
constexpr uint64_t kLocalWindow = uint64_t{2} << 56;
constexpr uint64_t kConstantWindow = uint64_t{3} << 56;
constexpr uint64_t kParamWindow = uint64_t{4} << 56;
constexpr uint64_t kWindowMask = uint64_t{0xff} << 56;

// The state space that a generic address points into.
Space space_of(uint64_t generic_address);
uint64_t window_of(Space space);  // 0 for global and generic
std::string_view space_name(Space space);

// PTX fundamental types. Packed pairs are types of their own, as in the manual.
enum class Type : uint8_t {
    none, pred,
    b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64,
    f16, f16x2, bf16, bf16x2, tf32, f32, f32x2, f64,
    e4m3, e5m2, e2m1, e2m3, e3m2, ue8m0, ue4m3,
    e4m3x2, e5m2x2, e2m1x2, e2m3x2, e3m2x2, ue8m0x2, u16x2, s16x2,
    s4, u4, b1, b4x16, b6x16
};

Type parse_type(std::string_view name);  // "u32" or ".u32"; Type::none when unknown
std::string_view type_name(Type type);
int type_bytes(Type type);  // size of a register of this type; 0 for pred and sub-byte types

// A fault of the program that is emulated. Thrown by semantics, caught once in the launch loop.
struct GuestTrap : std::runtime_error {
    GuestTrap(std::string message, int lane = -1) : std::runtime_error(message), lane(lane) {}
    int lane;  // -1: the whole warp
    // Of a fault in an asynchronous operation: where it was issued. Else the running instruction's.
    bool has_place = false;
    uint32_t inst = 0, warp = 0;  // warp: its Warp::key
};

}  // namespace ww::machine
