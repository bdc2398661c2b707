// SPDX-License-Identifier: Apache-2.0
#include "machine/types.hpp"

#include <array>

namespace ww::machine {
namespace {

struct TypeRow {
    Type type;
    std::string_view name;
    int bytes;
};

constexpr std::array kTypes = {
    TypeRow{Type::pred, "pred", 0},      TypeRow{Type::b8, "b8", 1},
    TypeRow{Type::b16, "b16", 2},        TypeRow{Type::b32, "b32", 4},
    TypeRow{Type::b64, "b64", 8},        TypeRow{Type::b128, "b128", 16},
    TypeRow{Type::u8, "u8", 1},          TypeRow{Type::u16, "u16", 2},
    TypeRow{Type::u32, "u32", 4},        TypeRow{Type::u64, "u64", 8},
    TypeRow{Type::s8, "s8", 1},          TypeRow{Type::s16, "s16", 2},
    TypeRow{Type::s32, "s32", 4},        TypeRow{Type::s64, "s64", 8},
    TypeRow{Type::f16, "f16", 2},        TypeRow{Type::f16x2, "f16x2", 4},
    TypeRow{Type::bf16, "bf16", 2},      TypeRow{Type::bf16x2, "bf16x2", 4},
    TypeRow{Type::tf32, "tf32", 4},      TypeRow{Type::f32, "f32", 4},
    TypeRow{Type::f32x2, "f32x2", 8},    TypeRow{Type::f64, "f64", 8},
    TypeRow{Type::e4m3, "e4m3", 1},      TypeRow{Type::e5m2, "e5m2", 1},
    TypeRow{Type::e2m1, "e2m1", 0},      TypeRow{Type::e2m3, "e2m3", 0},
    TypeRow{Type::e3m2, "e3m2", 0},      TypeRow{Type::ue8m0, "ue8m0", 1},
    TypeRow{Type::ue4m3, "ue4m3", 1},    TypeRow{Type::e4m3x2, "e4m3x2", 2},
    TypeRow{Type::e5m2x2, "e5m2x2", 2},  TypeRow{Type::e2m1x2, "e2m1x2", 1},
    TypeRow{Type::e2m3x2, "e2m3x2", 2},  TypeRow{Type::e3m2x2, "e3m2x2", 2},
    TypeRow{Type::ue8m0x2, "ue8m0x2", 2}, TypeRow{Type::u16x2, "u16x2", 4},
    TypeRow{Type::s16x2, "s16x2", 4},    TypeRow{Type::s4, "s4", 0},
    TypeRow{Type::u4, "u4", 0},          TypeRow{Type::b1, "b1", 0},
    TypeRow{Type::b4x16, "b4x16", 8},    TypeRow{Type::b6x16, "b6x16", 12},
};

}  // namespace

Space space_of(uint64_t address) {
    switch (address & kWindowMask) {
        case kSharedWindow: return Space::shared;
        case kLocalWindow: return Space::local;
        case kConstantWindow: return Space::constant;
        case kParamWindow: return Space::param;
        default: return Space::global;
    }
}

uint64_t window_of(Space space) {
    switch (space) {
        case Space::shared: return kSharedWindow;
        case Space::local: return kLocalWindow;
        case Space::constant: return kConstantWindow;
        case Space::param: return kParamWindow;
        default: return 0;
    }
}

std::string_view space_name(Space space) {
    constexpr std::string_view kNames[] = {"generic", "global", "shared", "local", "const", "param"};
    return kNames[static_cast<int>(space)];
}

Type parse_type(std::string_view name) {
    if (!name.empty() && name[0] == '.') name.remove_prefix(1);
    for (const TypeRow& row : kTypes)
        if (row.name == name) return row.type;
    return Type::none;
}

std::string_view type_name(Type type) {
    for (const TypeRow& row : kTypes)
        if (row.type == type) return row.name;
    return "none";
}

int type_bytes(Type type) {
    for (const TypeRow& row : kTypes)
        if (row.type == type) return row.bytes;
    return 0;
}

}  // namespace ww::machine
