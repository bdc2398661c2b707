// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement and Conversion Instructions": mov, ld, st and addresses. Conversions
// are in convert.cpp.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"

namespace ww::isa {
namespace {

struct Copy {
    template <class T>
    static T apply(T a) { return a; }
};

// Element type T of a vector of Inst[0]; pointers come checked.
template <class T>
void run_load(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[kLanes];
    w.addresses(in[1], address);
    w.access(in, aux.space, address, aux.element_bytes * aux.elements, machine::Access::read, pointer);
    for (int element = 0; element < aux.elements; ++element) {
        T* d = w.out<T>(in[0][element], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            if (pointer[lane]) std::memcpy(&d[lane], pointer[lane] + sizeof(T) * static_cast<size_t>(element), sizeof(T));
        w.commit<T>(in[0][element], d, scratch);
    }
}

template <class T>
void run_store(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[kLanes];
    w.addresses(in[0], address);
    w.access(in, aux.space, address, aux.element_bytes * aux.elements, machine::Access::write, pointer);
    for (int element = 0; element < aux.elements; ++element) {
        const T* value = w.in<T>(in[1][element], scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            if (pointer[lane]) std::memcpy(pointer[lane] + sizeof(T) * static_cast<size_t>(element), &value[lane], sizeof(T));
    }
}

int vector_elements(const Match& match) {
    const std::string_view vec = match.get(".vec");
    return vec.empty() ? 1 : vec[2] - '0';
}

// The data operand is at `data`, the address at the other position.
template <bool Load>
void bind_memory(const Match& match, Binding& binding) {
    MemoryAux aux{.space = Match::space(match.get(".ss")), .elements = static_cast<uint8_t>(vector_elements(match))};
    aux.element_bytes = static_cast<uint8_t>(machine::type_bytes(match.type()));
    if (!check_vector(match, Load ? 0 : 1, aux.elements, Load ? aux.element_bytes : 0, binding)) return;
    binding.aux = aux.pack();
    const bool found = with_type<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float, double>(
        match.type(), [&]<class T>() { binding.run = Load ? run_load<T> : run_store<T>; });
    if (!found) binding.error = "type " + std::string(match.get(".type")) + " has no semantics";
}

#define WW_LDST_TYPES ".type = .b8 .b16 .b32 .b64 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64; .vec = .v2 .v4 .v8"
constexpr Row kRows[] = {
    {"mov.type d, a", ".type = .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64", {10},
     "data-movement-and-conversion-instructions-mov",
     bind_same<Copy, 1, uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t, float, double>},
    {"ld{.ss}{.vec}.type d, [a]", ".ss = .const .global .local .param .shared .shared::cta; " WW_LDST_TYPES, {10},
     "data-movement-and-conversion-instructions-ld", bind_memory<true>},
    {"st{.ss}{.vec}.type [a], b", ".ss = .global .local .param .shared .shared::cta; " WW_LDST_TYPES, {10},
     "data-movement-and-conversion-instructions-st", bind_memory<false>},
};

}  // namespace

std::span<const Row> data_movement_rows() { return kRows; }

}  // namespace ww::isa
