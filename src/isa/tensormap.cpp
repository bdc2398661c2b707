// SPDX-License-Identifier: Apache-2.0
// tensormap.replace and tensormap.cp_fenceproxy: fields of the 128 bytes of a tensor map, in the
// encoding of our own (src/machine/tensor_map.hpp). Whether the fields go together is checked where
// the map is used: a program may replace them in any order.
#include <algorithm>
#include <cstddef>

#include "isa/bulk_ops.hpp"
#include "isa/whole_warp.hpp"
#include "machine/tensor_map.hpp"

namespace ww::isa {
namespace {

using machine::EncodedTensorMap;
using machine::kMaxTensorRank;
using machine::kTensorMapBytes;
using machine::TensorSwizzle;

enum class Field : uint8_t {
    global_address, rank, elemtype, interleave_layout, swizzle_mode, swizzle_atomicity, fill_mode,
    box_dim, global_dim, global_stride, element_stride
};
constexpr std::string_view kFields[] = {
    ".global_address", ".rank", ".elemtype", ".interleave_layout", ".swizzle_mode", ".swizzle_atomicity", ".fill_mode",
    ".box_dim", ".global_dim", ".global_stride", ".element_stride"};

// What a field of the third kind may be set to: below this.
uint64_t values_of(Field field) {
    switch (field) {
        case Field::elemtype: return machine::kTensorTypeCount;
        case Field::interleave_layout: return 3;
        case Field::swizzle_mode: return 4;
        case Field::swizzle_atomicity: return 4;
        case Field::fill_mode: return 2;
        default: return 0;
    }
}

// The instruction's numbers of types are not those of CUtensorMapDataType: f32.ftz, f64, bf16.
uint8_t data_type(uint64_t elemtype) {
    constexpr uint8_t kMoved[] = {10, 8, 9};
    return elemtype >= 8 && elemtype <= 10 ? kMoved[elemtype - 8] : static_cast<uint8_t>(elemtype);
}

// The map has mode and atomicity in one; an atomicity without the 128-byte mode waits for it.
constexpr uint8_t kWideMode = static_cast<uint8_t>(TensorSwizzle::bytes128);
void set_swizzle(EncodedTensorMap& map, uint8_t mode, uint8_t atomicity) {
    map.atomicity = atomicity;
    map.swizzle = mode == kWideMode ? static_cast<uint8_t>(kWideMode + atomicity) : mode;
}

// Values that are too large stay so, and are refused where the map is used.
template <class T>
T clamped(uint64_t value) {
    return static_cast<T>(std::min<uint64_t>(value, static_cast<T>(~T{0})));
}

void replace(EncodedTensorMap& map, Field field, uint32_t ordinal, uint64_t value) {
    switch (field) {
        case Field::global_address: map.address = value; break;
        case Field::rank: map.rank = clamped<uint8_t>(value + 1); break;
        case Field::elemtype: map.data_type = data_type(value); break;
        case Field::interleave_layout: map.interleave = static_cast<uint8_t>(value); break;
        case Field::swizzle_mode: set_swizzle(map, static_cast<uint8_t>(value), map.swizzle > kWideMode ? map.swizzle - kWideMode : map.atomicity); break;
        case Field::swizzle_atomicity: set_swizzle(map, std::min(map.swizzle, kWideMode), static_cast<uint8_t>(value)); break;
        case Field::fill_mode: map.oob_fill = static_cast<uint8_t>(value); break;
        case Field::box_dim: map.box[ordinal] = clamped<uint16_t>(value); break;
        case Field::global_dim: map.last_index[ordinal] = static_cast<uint32_t>(value - 1); break;
        case Field::global_stride: map.strides[ordinal] = value; break;
        case Field::element_stride: map.element_strides[ordinal] = clamped<uint8_t>(value); break;
    }
}

// aux of tensormap.replace
struct ReplaceAux {
    Space space = Space::generic;
    Field field = Field::rank;
    uint8_t ordinal = 0, value_at = 1;  // value_at: position of the new value
    bool wide = false;
    uint64_t pack() const {
        return static_cast<uint64_t>(space) | static_cast<uint64_t>(field) << 8 | uint64_t{ordinal} << 16 |
               uint64_t{value_at} << 24 | uint64_t{wide} << 32;
    }
    static ReplaceAux unpack(uint64_t aux) {
        return {static_cast<Space>(aux & 0xff), static_cast<Field>(aux >> 8 & 0xff), static_cast<uint8_t>(aux >> 16),
                static_cast<uint8_t>(aux >> 24), (aux >> 32 & 1) != 0};
    }
};

// in: [addr], new-value, or [addr], ord, new-value
void run_replace(Warp& w, const Inst& in) {
    const ReplaceAux aux = ReplaceAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes], scratch64[kLanes];
    alignas(64) uint32_t scratch32[kLanes];
    w.addresses(in[0], address);
    const uint64_t* wide = aux.wide ? w.in<uint64_t>(in[aux.value_at][0], scratch64) : nullptr;
    const uint32_t* narrow = aux.wide ? nullptr : w.in<uint32_t>(in[aux.value_at][0], scratch32);
    for (LaneMask left = w.active; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const MemoryRange at = w.range(aux.space, address[lane], kTensorMapBytes, machine::kTensorMapAlign, Access::write, lane);
        const AsyncAccess by{w, in, Agent::thread, 0, lane};
        uint8_t bytes[kTensorMapBytes];
        by.read(at, bytes);
        EncodedTensorMap map;
        std::memcpy(&map, bytes, sizeof map);
        if (map.magic != EncodedTensorMap::kMagic)
            throw GuestTrap("there is no tensor map at this address: tensormap.replace changes fields of one that "
                            "cuTensorMapEncodeTiled made and the program copied here",
                            lane);
        replace(map, aux.field, aux.ordinal, wide ? wide[lane] : narrow[lane]);
        std::memcpy(bytes, &map, sizeof map);
        by.write(at, bytes);
    }
}

// in: [dst], [src], size. The warp copies as one; lanes that name the same places do it once.
void run_copy(Warp& w, const Inst& in) {
    if (!whole_warp(w, "tensormap.cp_fenceproxy")) return;
    alignas(64) uint64_t to[kLanes], from[kLanes];
    w.addresses(in[0], to);
    w.addresses(in[1], from);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (lane > 0 && to[lane] == to[lane - 1] && from[lane] == from[lane - 1]) continue;
        const AsyncAccess by{w, in, Agent::thread, 0, lane};
        uint8_t bytes[kTensorMapBytes];
        by.read(w.range(Space::shared, from[lane], kTensorMapBytes, machine::kTensorMapAlign, Access::read, lane), bytes);
        by.write(w.range(Space::global, to[lane], kTensorMapBytes, machine::kTensorMapAlign, Access::write, lane), bytes);
    }
}

}  // namespace

void bind_tensormap_replace(const Match& match, Binding& binding) {
    ReplaceAux aux{.space = match.get(".ss").empty() ? Space::generic : Match::space(match.get(".ss"))};
    const auto field = std::find(std::begin(kFields), std::end(kFields), match.get(".field"));
    aux.field = static_cast<Field>(field - std::begin(kFields));
    aux.wide = match.get(".type") == ".b64";
    const bool takes_wide = aux.field == Field::global_address || aux.field == Field::global_stride;
    if (aux.wide != takes_wide) {
        binding.error = std::string(match.get(".field")) + " takes a value of type " + (takes_wide ? ".b64" : ".b32");
        return;
    }
    if (aux.field >= Field::box_dim) {
        aux.value_at = 2;
        const uint64_t most = kMaxTensorRank - (aux.field == Field::global_stride ? 2 : 1);
        if (!match.operands[1].immediate || match.operands[1].value > most) {
            binding.error = "ord must be an immediate from 0 to " + std::to_string(most);
            return;
        }
        aux.ordinal = static_cast<uint8_t>(match.operands[1].value);
    }
    if (!check_value(match, aux.value_at, aux.wide ? 8 : 4, binding)) return;
    const OperandInfo& value = match.operands[aux.value_at];
    if (const uint64_t count = values_of(aux.field); count != 0 && (!value.immediate || value.value >= count)) {
        binding.error = "the new value of " + std::string(match.get(".field")) + " must be an immediate from 0 to " + std::to_string(count - 1);
        return;
    }
    binding.aux = aux.pack();
    binding.run = run_replace;
}

void bind_tensormap_copy(const Match& match, Binding& binding) {
    if (match.operands[2].immediate && match.operands[2].value == kTensorMapBytes) binding.run = run_copy;
    else binding.error = "the size must be the immediate 128";
}

}  // namespace ww::isa
