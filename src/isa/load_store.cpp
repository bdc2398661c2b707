// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement and Conversion Instructions": ld, ld.global.nc, ldu and st in all
// their forms. Memory order, scope, cache and eviction modifiers are read and have no effect: the
// accesses of this emulator happen one by one, in program order, and it has no caches.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"

namespace ww::isa {
namespace {

// One element a lane.
template <class T>
void run_load(Warp& w, const Inst& in) {
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[kLanes];
    w.addresses(in[1], address);
    const Space space = MemoryAux::unpack(in.aux).space;
    T* d = w.out<T>(in[0][0], scratch);
    if (const uint8_t* row = w.access_row(space, address, sizeof(T), Access::read)) {
        std::memcpy(d, row, sizeof(T) * kLanes);
        return w.commit<T>(in[0][0], d, scratch);
    }
    w.access(in, space, address, sizeof(T), Access::read, pointer);
    if (w.active != kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane)
            if (pointer[lane]) std::memcpy(&d[lane], pointer[lane], sizeof(T));
    } else {
        for (int lane = 0; lane < kLanes; ++lane) std::memcpy(&d[lane], pointer[lane], sizeof(T));
    }
    w.commit<T>(in[0][0], d, scratch);
}

template <class T>
void run_store(Warp& w, const Inst& in) {
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[kLanes];
    w.addresses(in[0], address);
    const Space space = MemoryAux::unpack(in.aux).space;
    const T* value = w.in<T>(in[1][0], scratch);
    if (uint8_t* row = w.access_row(space, address, sizeof(T), Access::write)) {
        std::memcpy(row, value, sizeof(T) * kLanes);
        return;
    }
    w.access(in, space, address, sizeof(T), Access::write, pointer);
    if (w.active != kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane)
            if (pointer[lane]) std::memcpy(pointer[lane], &value[lane], sizeof(T));
    } else {
        for (int lane = 0; lane < kLanes; ++lane)
            std::memcpy(pointer[lane], &value[lane], sizeof(T));
    }
}

// Vectors: one access a lane, Count elements each.
template <class T, int Count>
void run_load_vector(Warp& w, const Inst& in) {
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[Count][kLanes];
    w.addresses(in[1], address);
    w.access(in, MemoryAux::unpack(in.aux).space, address, sizeof(T) * Count, Access::read,
             pointer);
    T* d[Count];
    for (int e = 0; e < Count; ++e) d[e] = w.out<T>(in[0][e], scratch[e]);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!pointer[lane]) continue;
        T element[Count];
        std::memcpy(element, pointer[lane], sizeof element);
        for (int e = 0; e < Count; ++e) d[e][lane] = element[e];
    }
    for (int e = 0; e < Count; ++e) w.commit<T>(in[0][e], d[e], scratch[e]);
}

template <class T, int Count>
void run_store_vector(Warp& w, const Inst& in) {
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[Count][kLanes];
    w.addresses(in[0], address);
    w.access(in, MemoryAux::unpack(in.aux).space, address, sizeof(T) * Count, Access::write,
             pointer);
    const T* value[Count];
    for (int e = 0; e < Count; ++e) value[e] = w.in<T>(in[1][e], scratch[e]);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!pointer[lane]) continue;
        T element[Count];
        for (int e = 0; e < Count; ++e) element[e] = value[e][lane];
        std::memcpy(pointer[lane], element, sizeof element);
    }
}

// Vectors of 32 bytes may skip elements with '_': those bytes are neither read nor written, so
// every other element is an access of its own. The whole vector's alignment holds all the same.
void check_alignment(const Warp& w, const uint64_t* address, uint64_t bytes) {
    for (int lane = 0; lane < kLanes; ++lane)
        if ((w.active >> lane & 1) && address[lane] % bytes != 0)
            throw machine::GuestTrap(
                "misaligned vector access of " + std::to_string(bytes) + " bytes", lane);
}

template <class T>
void run_load_elements(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T value[kLanes] = {};
    w.addresses(in[1], address);
    check_alignment(w, address, sizeof(T) * aux.elements);
    for (int e = 0; e < aux.elements; ++e) {
        if (in[0][e].bank != machine::Bank::none) {
            w.access(in, aux.space, address, sizeof(T), Access::read, pointer);
            for (int lane = 0; lane < kLanes; ++lane)
                if (pointer[lane]) std::memcpy(&value[lane], pointer[lane], sizeof(T));
            w.commit<T>(in[0][e], value, value);
        }
        for (uint64_t& a : address) a += sizeof(T);
    }
}

template <class T>
void run_store_elements(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T scratch[kLanes];
    w.addresses(in[0], address);
    check_alignment(w, address, sizeof(T) * aux.elements);
    for (int e = 0; e < aux.elements; ++e) {
        if (in[1][e].bank != machine::Bank::none) {
            const T* value = w.in<T>(in[1][e], scratch);
            w.access(in, aux.space, address, sizeof(T), Access::write, pointer);
            for (int lane = 0; lane < kLanes; ++lane)
                if (pointer[lane]) std::memcpy(pointer[lane], &value[lane], sizeof(T));
        }
        for (uint64_t& a : address) a += sizeof(T);
    }
}

template <class T, bool Load>
machine::Run choose(int elements) {
    switch (elements) {
        case 1:
            return Load ? run_load<T> : run_store<T>;
        case 2:
            return Load ? run_load_vector<T, 2> : run_store_vector<T, 2>;
        default:
            break;
    }
    if constexpr (sizeof(T) <= 8) {
        const bool wide = elements * sizeof(T) == 32;
        if (wide) return Load ? run_load_elements<T> : run_store_elements<T>;
        if (elements == 4) return Load ? run_load_vector<T, 4> : run_store_vector<T, 4>;
    }
    return nullptr;
}

// A name says itself where it lives: without a state space in the opcode, and for .param, which in
// a function is memory of the frame.
Space space_of_access(const Match& match, size_t address) {
    const Space space =
        Match::space(match.get(".ss").empty() ? match.get(".global") : match.get(".ss"));
    const Space symbol = match.operands[address].space;
    const bool ask = space == Space::generic || space == Space::param;
    return ask && symbol != Space::generic ? symbol : space;
}

template <bool Load>
void bind_memory(const Match& match, Binding& binding) {
    using machine::type_bytes;
    const int elements = vector_elements(match.get(".vec"));
    const int bytes = type_bytes(match.type());
    if (!check_vector(match, Load ? 0 : 1, elements, bytes, binding)) return;
    binding.aux = MemoryAux{.space = space_of_access(match, Load ? 1 : 0),
                            .element_bytes = static_cast<uint8_t>(bytes),
                            .elements = static_cast<uint8_t>(elements)}
                      .pack();
    binding.ordering = ordering_of(match, {});
    if (match.type() == Type::b128)
        binding.run = elements == 1 ? choose<Bits128, Load>(1) : nullptr;
    else
        with_type<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float,
                  double>(match.type(),
                          [&]<class T>() { binding.run = choose<T, Load>(elements); });
    if (!binding.run)
        binding.error = "there is no vector of " + std::to_string(elements) + " elements of " +
                        std::string(match.get(".type"));
}

#define WW_TYPES                                                                                   \
    ".type = .b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64; .vec = "    \
    ".v2 .v4 .v8; "                                                                                \
    ".level1::eviction_priority = .L1::evict_normal .L1::evict_unchanged .L1::evict_first "        \
    ".L1::evict_last .L1::no_allocate; "                                                           \
    ".level2::eviction_priority = .L2::evict_normal .L2::evict_first .L2::evict_last; "            \
    ".level::cache_hint = .L2::cache_hint; .level::prefetch_size = .L2::64B .L2::128B .L2::256B; " \
    ".scope = .cta .cluster .gpu .sys; "
#define WW_LOAD_SPACES                                                                    \
    ".ss = .const .global .local .param .param::entry .param::func .shared .shared::cta " \
    ".shared::cluster; " WW_TYPES
#define WW_STORE_SPACES \
    ".ss = .global .local .param .param::func .shared .shared::cta .shared::cluster; " WW_TYPES
#define WW_EVICTION "{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"

constexpr std::string_view kLd = "data-movement-and-conversion-instructions-ld";
constexpr std::string_view kNc = "data-movement-and-conversion-instructions-ld-global-nc";
constexpr std::string_view kSt = "data-movement-and-conversion-instructions-st";

// clang-format off
constexpr Row kRows[] = {
    {"ld{.weak}{.ss}{.cop}{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}",
     ".cop = .ca .cg .cs .lu .cv; " WW_LOAD_SPACES, {10}, kLd, bind_memory<true>},
    {"ld{.weak}{.ss}" WW_EVICTION "{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}",
     WW_LOAD_SPACES, {74, 70}, kLd, bind_memory<true>},
    {"ld.volatile{.ss}{.level::prefetch_size}{.vec}.type d, [a]", WW_LOAD_SPACES, {11}, kLd, bind_memory<true>},
    {"ld.relaxed.scope{.ss}" WW_EVICTION "{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}",
     WW_LOAD_SPACES, {60, 70}, kLd, bind_memory<true>},
    {"ld.acquire.scope{.ss}" WW_EVICTION "{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}",
     WW_LOAD_SPACES, {60, 70}, kLd, bind_memory<true>},
    {"ld.mmio.sem.sys{.global}.type d, [a]", ".sem = .relaxed .acquire; " WW_TYPES, {82, 70}, kLd, bind_memory<true>},
    {"ld{.ss}.type.proxy::readonly d, [a]", WW_LOAD_SPACES, {94, 90}, kLd, bind_memory<true>},
    {"ld.global{.cop}.nc{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}",
     ".cop = .ca .cg .cs; " WW_TYPES, {31, 32}, kNc, bind_memory<true>},
    {"ld.global.nc" WW_EVICTION "{.level::prefetch_size}{.vec}.type d, [a]{, cache-policy}", WW_TYPES, {74, 70}, kNc,
     bind_memory<true>},
    {"ldu{.ss}{.vec}.type d, [a]", ".ss = .global; " WW_TYPES, {20}, "data-movement-and-conversion-instructions-ldu",
     bind_memory<true>},
    {"st{.weak}{.ss}{.cop}{.level::cache_hint}{.vec}.type [a], b{, cache-policy}",
     ".cop = .wb .cg .cs .wt; " WW_STORE_SPACES, {10}, kSt, bind_memory<false>},
    {"st{.weak}{.ss}" WW_EVICTION "{.vec}.type [a], b{, cache-policy}", WW_STORE_SPACES, {74, 70}, kSt, bind_memory<false>},
    {"st.volatile{.ss}{.vec}.type [a], b", WW_STORE_SPACES, {11}, kSt, bind_memory<false>},
    {"st.relaxed.scope{.ss}" WW_EVICTION "{.vec}.type [a], b{, cache-policy}", WW_STORE_SPACES, {60, 70}, kSt,
     bind_memory<false>},
    {"st.release.scope{.ss}" WW_EVICTION "{.vec}.type [a], b{, cache-policy}", WW_STORE_SPACES, {60, 70}, kSt,
     bind_memory<false>},
    {"st.mmio.sem.sys{.global}.type [a], b", ".sem = .relaxed .release; " WW_TYPES, {82, 70}, kSt, bind_memory<false>},
};
// clang-format on

}  // namespace

std::span<const Row> load_store_rows() { return kRows; }

}  // namespace ww::isa
