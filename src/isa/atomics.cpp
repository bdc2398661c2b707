// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Parallel Synchronization and Communication Instructions": atom and red. Lanes take
// their turn in ascending order; blocks run on several host threads, so each update is a host
// atomic. Order and scope modifiers have no effect: host atomics are as strong as any of them.
#include "isa/atomic_ops.hpp"
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"

namespace ww::isa {
namespace {

using namespace atomic;

// Position of d (or -1 for red), then of the address and of the values.
template <bool Returns>
struct Positions {
    static constexpr int d = 0, a = Returns ? 1 : 0, b = a + 1, c = b + 1;
};

constexpr int kMaxElements = 8;

// element_bytes * elements bytes a lane, each element by itself.
template <class Op, class T, bool Returns>
void run_atomic(Warp& w, const Inst& in) {
    using P = Positions<Returns>;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    // d may share its registers with b: all of b is read before the first result is written.
    alignas(64) T b_scratch[kMaxElements][kLanes], old[kMaxElements][kLanes] = {};
    const T* values[kMaxElements];
    for (int element = 0; element < aux.elements; ++element)
        values[element] = w.in<T>(in[P::b][element], b_scratch[element]);
    w.addresses(in[P::a], address);
    w.access(in, aux.space, address, static_cast<uint32_t>(sizeof(T)) * aux.elements,
             Access::atomic, pointer);
    for (size_t element = 0; element < aux.elements; ++element) {
        const T* b = values[element];
        for (int lane = 0; lane < kLanes; ++lane) {
            if (!pointer[lane]) continue;
            uint8_t* at = pointer[lane] + sizeof(T) * element;
            if constexpr (std::is_same_v<Op, AddF32>) {
                const Space space =
                    aux.space == Space::generic ? machine::space_of(address[lane]) : aux.space;
                if (space == Space::global) {
                    old[element][lane] =
                        update<T>(at, [&](T value) { return AddF32Flush::apply(value, b[lane]); });
                    continue;
                }
            }
            old[element][lane] = update<T>(at, [&](T value) { return Op::apply(value, b[lane]); });
        }
    }
    if constexpr (Returns)
        for (int element = 0; element < aux.elements; ++element)
            w.commit<T>(in[P::d][element], old[element], old[element]);
}

template <class T>
void run_cas(Warp& w, const Inst& in) {
    using P = Positions<true>;
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint8_t* pointer[kLanes];
    alignas(64) T b_scratch[kLanes], c_scratch[kLanes], old[kLanes] = {};
    w.addresses(in[P::a], address);
    w.access(in, aux.space, address, sizeof(T), Access::atomic, pointer);
    const T* b = w.in<T>(in[P::b][0], b_scratch);
    const T* c = w.in<T>(in[P::c][0], c_scratch);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!pointer[lane]) continue;
        T expected = b[lane];
        compare_exchange<T>(pointer[lane], expected, c[lane]);  // expected becomes what was found
        old[lane] = expected;
    }
    w.commit<T>(in[P::d][0], old, old);
}

// ---- binds ----
template <bool Returns>
bool prepare(const Match& match, int bytes, int elements, Binding& binding) {
    using P = Positions<Returns>;
    const std::string_view space =
        match.get(".space").empty() ? match.get(".global") : match.get(".space");
    binding.aux = MemoryAux{.space = Match::space(space),
                            .element_bytes = static_cast<uint8_t>(bytes),
                            .elements = static_cast<uint8_t>(elements)}
                      .pack();
    binding.ordering = ordering_of(match, {machine::Semantics::relaxed, machine::Scope::gpu});
    binding.ordering.blind = !Returns;
    if (Returns && !check_vector(match, P::d, elements, bytes, binding)) return false;
    return check_vector(match, P::b, elements, bytes, binding);
}

template <class T, bool Returns>
machine::Run choose_integer(std::string_view op) {
    using U = std::make_unsigned_t<T>;
    if (op == ".and") return run_atomic<And, U, Returns>;
    if (op == ".or") return run_atomic<Or, U, Returns>;
    if (op == ".xor") return run_atomic<Xor, U, Returns>;
    if (op == ".exch") return run_atomic<Exchange, U, Returns>;
    if (op == ".add") return run_atomic<Add, U, Returns>;
    if (op == ".min") return run_atomic<Min, T, Returns>;
    if (op == ".max") return run_atomic<Max, T, Returns>;
    if (op == ".inc") return run_atomic<Inc, U, Returns>;
    if (op == ".dec") return run_atomic<Dec, U, Returns>;
    return nullptr;
}

// The combinations that the manual allows, in the order of its table.
bool type_allows(Type type, std::string_view op) {
    const bool bits = op == ".and" || op == ".or" || op == ".xor" || op == ".exch";
    switch (type) {
        case Type::b32:
        case Type::b64:
            return bits;
        case Type::u32:
            return op == ".add" || op == ".min" || op == ".max" || op == ".inc" || op == ".dec" ||
                   op == ".exch";
        case Type::s32:
        case Type::u64:
        case Type::s64:
            return op == ".add" || op == ".min" || op == ".max" || op == ".exch";
        case Type::f32:
        case Type::f64:
            return op == ".add" || op == ".exch";
        default:
            return false;
    }
}

template <bool Returns>
void bind_scalar(const Match& match, Binding& binding) {
    const Type type = match.type();
    const std::string_view op = match.get(".op");
    if (!type_allows(type, op)) {
        binding.error = "there is no atomic " + std::string(op) + " of the type " +
                        std::string(match.get(".type"));
        return;
    }
    if (!prepare<Returns>(match, machine::type_bytes(type), 1, binding)) return;
    const bool is_float = type == Type::f32 || type == Type::f64;
    if (is_float && op == ".add") {
        binding.ordered = true;
        binding.run = type == Type::f32 ? run_atomic<AddF32, uint32_t, Returns>
                                        : run_atomic<AddF64, uint64_t, Returns>;
        return;
    }
    if (type == Type::f32)
        binding.run = choose_integer<uint32_t, Returns>(op);
    else if (type == Type::f64)
        binding.run = choose_integer<uint64_t, Returns>(op);
    else
        with_type<uint32_t, int32_t, uint64_t, int64_t>(
            type, [&]<class T>() { binding.run = choose_integer<T, Returns>(op); });
}

void bind_cas(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    if (!prepare<true>(match, bytes, 1, binding) || !check_vector(match, 3, 1, bytes, binding))
        return;
    switch (bytes) {
        case 2:
            binding.run = run_cas<uint16_t>;
            break;
        case 4:
            binding.run = run_cas<uint32_t>;
            break;
        case 8:
            binding.run = run_cas<uint64_t>;
            break;
        default:
            binding.run = run_cas<Bits128>;
    }
}

void bind_exchange128(const Match& match, Binding& binding) {
    if (prepare<true>(match, 16, 1, binding)) binding.run = run_atomic<Exchange, Bits128, true>;
}

// f16, bf16, f16x2, bf16x2 and the vector forms. An .op that is no set of the row is .add.
template <bool Returns>
void bind_half(const Match& match, Binding& binding) {
    const Type type = match.type();
    const int elements = vector_elements(match.get(".vec"));
    if (!prepare<Returns>(match, machine::type_bytes(type), elements, binding)) return;
    const std::string_view op = match.get(".op").empty() ? ".add" : match.get(".op");
    binding.ordered = op == ".add";
    const auto use = [&]<class Sum, class Low, class High, class T>() {
        binding.run = op == ".add"   ? run_atomic<Sum, T, Returns>
                      : op == ".min" ? run_atomic<Low, T, Returns>
                                     : run_atomic<High, T, Returns>;
    };
    switch (type) {
        case Type::f16:
            use.template operator()<AddF16, MinF16, MaxF16, uint16_t>();
            break;
        case Type::bf16:
            use.template operator()<AddBf16, MinBf16, MaxBf16, uint16_t>();
            break;
        case Type::f16x2:
            use.template operator()<Pair<AddF16>, Pair<MinF16>, Pair<MaxF16>, uint32_t>();
            break;
        case Type::bf16x2:
            use.template operator()<Pair<AddBf16>, Pair<MinBf16>, Pair<MaxBf16>, uint32_t>();
            break;
        default:
            binding.run = run_atomic<AddF32, uint32_t, Returns>;
            break;  // .v2/.v4 of f32
    }
}

#define WW_SCOPES                                                                                \
    ".scope = .cta .cluster .gpu .sys; .space = .global .shared .shared::cta .shared::cluster; " \
    ".level::cache_hint = .L2::cache_hint; "
#define WW_ATOM ".sem = .relaxed .acquire .release .acq_rel; " WW_SCOPES
#define WW_RED ".sem = .relaxed .release; " WW_SCOPES

constexpr std::string_view kAtom = "parallel-synchronization-and-communication-instructions-atom";
constexpr std::string_view kRed = "parallel-synchronization-and-communication-instructions-red";
// clang-format off
constexpr Row kRows[] = {
    {"atom{.sem}{.scope}{.space}.op{.level::cache_hint}.type d, [a], b{, cache-policy}",
     ".op = .and .or .xor .exch .add .inc .dec .min .max; .type = .b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64; " WW_ATOM, {11, 11}, kAtom,
     bind_scalar<true>},
    {"atom{.sem}{.scope}{.space}.cas.type d, [a], b, c", ".type = .b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64; " WW_ATOM, {11, 11}, kAtom,
     bind_cas},
    {"atom{.sem}{.scope}{.space}.cas.type d, [a], b, c", ".type = .b16; " WW_ATOM, {63, 70}, kAtom, bind_cas},
    {"atom{.sem}{.scope}{.space}.cas.type d, [a], b, c", ".type = .b128; " WW_ATOM, {83, 90}, kAtom, bind_cas},
    {"atom{.sem}{.scope}{.space}.exch{.level::cache_hint}.b128 d, [a], b{, cache-policy}", WW_ATOM, {83, 90}, kAtom, bind_exchange128},
    {"atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.type d, [a], b{, cache-policy}", ".type = .f16 .f16x2 .bf16 .bf16x2; " WW_ATOM,
     {62, 60}, kAtom, bind_half<true>},
    {"atom{.sem}{.scope}{.global}.add{.level::cache_hint}.vec.type d, [a], b{, cache-policy}", ".vec = .v2 .v4; .type = .f32; " WW_ATOM,
     {81, 90}, kAtom, bind_half<true>},
    {"atom{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type d, [a], b{, cache-policy}",
     ".op = .add .min .max; .vec = .v2 .v4 .v8; .type = .f16 .bf16; " WW_ATOM, {81, 90}, kAtom, bind_half<true>},
    {"atom{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type d, [a], b{, cache-policy}",
     ".op = .add .min .max; .vec = .v2 .v4; .type = .f16x2 .bf16x2; " WW_ATOM, {81, 90}, kAtom, bind_half<true>},
    {"red{.sem}{.scope}{.space}.op{.level::cache_hint}.type [a], b{, cache-policy}",
     ".op = .and .or .xor .add .inc .dec .min .max; .type = .b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64; " WW_RED, {12, 11}, kRed,
     bind_scalar<false>},
    {"red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.type [a], b{, cache-policy}", ".type = .f16 .f16x2 .bf16 .bf16x2; " WW_RED,
     {62, 60}, kRed, bind_half<false>},
    {"red{.sem}{.scope}{.global}.add{.level::cache_hint}.vec.type [a], b{, cache-policy}", ".vec = .v2 .v4; .type = .f32; " WW_RED,
     {81, 90}, kRed, bind_half<false>},
    {"red{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type [a], b{, cache-policy}",
     ".op = .add .min .max; .vec = .v2 .v4 .v8; .type = .f16 .bf16; " WW_RED, {81, 90}, kRed, bind_half<false>},
    {"red{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type [a], b{, cache-policy}",
     ".op = .add .min .max; .vec = .v2 .v4; .type = .f16x2 .bf16x2; " WW_RED, {81, 90}, kRed, bind_half<false>},
};
// clang-format on

}  // namespace

std::span<const Row> atomics_rows() { return kRows; }

}  // namespace ww::isa
