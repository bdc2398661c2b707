// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement and Conversion Instructions": addresses (cvta, isspacep, mapa,
// getctarank) and hints to the caches, which this emulator does not have.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"
#include "machine/block.hpp"

namespace ww::isa {
namespace {

// aux: what is added, modulo 2^64.
void run_add_aux(Warp& w, const Inst& in) {
    alignas(64) uint64_t d_scratch[kLanes], a_scratch[kLanes];
    uint64_t* d = w.out<uint64_t>(in[0][0], d_scratch);
    const uint64_t* a = w.in<uint64_t>(in[1][0], a_scratch);
    for (int lane = 0; lane < kLanes; ++lane) d[lane] = a[lane] + in.aux;
    w.commit<uint64_t>(in[0][0], d, d_scratch);
}

template <bool ToGeneric>
void bind_cvta(const Match& match, Binding& binding) {
    if (match.get(".size") == ".u32") {
        binding.error = "generic addresses have 64 bits here";
        return;
    }
    if (!check_value(match, 0, 8, binding)) return;
    const uint64_t window = machine::window_of(Match::space(match.get(".space")));
    binding.aux = ToGeneric ? window : 0 - window;
    binding.run = run_add_aux;
    // A 32-bit source register (an address in .shared is often one) is widened first.
    if (!check_value(match, 1, 4, binding)) binding.run = nullptr;
}

// aux: the Space.
void run_isspacep(Warp& w, const Inst& in) {
    alignas(64) uint64_t scratch[kLanes];
    const uint64_t* a = w.in<uint64_t>(in[1][0], scratch);
    const Space space = static_cast<Space>(in.aux);
    LaneMask bits = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const Space found = machine::space_of(a[lane]);
        // The window of kernel parameters lies in the window of .global.
        const bool is = found == space || (space == Space::global && found == Space::param);
        bits |= LaneMask{is} << lane;
    }
    w.set_predicate(in[0][0], bits);
}

void bind_isspacep(const Match& match, Binding& binding) {
    if (!check_predicate(match, 0, binding) || !check_value(match, 1, 4, binding)) return;
    binding.aux = static_cast<uint64_t>(Match::space(match.get(".space")));
    binding.run = run_isspacep;
}

// ---- other blocks of the cluster ----
constexpr uint64_t kOffsetMask = (uint64_t{1} << machine::kRankShift) - 1;

// in: d, a, b. The generic form keeps the window's bits.
template <class T>
void run_mapa(Warp& w, const Inst& in) {
    alignas(64) T d_scratch[kLanes], a_scratch[kLanes];
    alignas(64) uint32_t b_scratch[kLanes];
    T* d = w.out<T>(in[0][0], d_scratch);
    const T* a = w.in<T>(in[1][0], a_scratch);
    const uint32_t* rank = w.in<uint32_t>(in[2][0], b_scratch);
    const size_t blocks = w.block->cluster.blocks.size();
    for (int lane = 0; lane < kLanes; ++lane) {
        if ((w.active >> lane & 1) && rank[lane] >= blocks)
            throw machine::GuestTrap("mapa of block rank " + std::to_string(rank[lane]) + " in a cluster of " +
                                         std::to_string(blocks) + (blocks == 1 ? " block" : " blocks"),
                                     lane);
        const uint64_t window = uint64_t{a[lane]} & machine::kWindowMask, offset = uint64_t{a[lane]} & kOffsetMask;
        d[lane] = static_cast<T>(window | (blocks == 1 ? offset : machine::cluster_address(rank[lane], offset)));
    }
    w.commit<T>(in[0][0], d, d_scratch);
}

template <class T>
void run_getctarank(Warp& w, const Inst& in) {
    alignas(64) uint32_t d_scratch[kLanes];
    alignas(64) T a_scratch[kLanes];
    uint32_t* d = w.out<uint32_t>(in[0][0], d_scratch);
    const T* a = w.in<T>(in[1][0], a_scratch);
    for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t named = static_cast<uint32_t>(uint64_t{a[lane]} >> machine::kRankShift & 0xff);
        d[lane] = named ? named - 1 : w.block->rank;
    }
    w.commit<uint32_t>(in[0][0], d, d_scratch);
}

void bind_mapa(const Match& match, Binding& binding) {
    const bool wide = match.type() == Type::u64;
    if (!check_value(match, 0, wide ? 8 : 4, binding) ||
        !check_value(match, 1, wide ? 8 : 4, binding))
        return;
    if (check_value(match, 2, 4, binding))
        binding.run = wide ? run_mapa<uint64_t> : run_mapa<uint32_t>;
}

void bind_getctarank(const Match& match, Binding& binding) {
    const bool wide = match.type() == Type::u64;
    if (check_value(match, 0, 4, binding) && check_value(match, 1, wide ? 8 : 4, binding))
        binding.run = wide ? run_getctarank<uint64_t> : run_getctarank<uint32_t>;
}

// ---- hints ----
// A cache hint changes no value: nothing to do.
void run_hint(Warp&, const Inst&) {}
void bind_hint(const Match&, Binding& binding) { binding.run = run_hint; }

// The policy is opaque to the program; here it only has to be a number.
void run_createpolicy(Warp& w, const Inst& in) {
    alignas(64) uint64_t scratch[kLanes];
    uint64_t* d = w.out<uint64_t>(in[0][0], scratch);
    for (int lane = 0; lane < kLanes; ++lane) d[lane] = in.aux;
    w.commit<uint64_t>(in[0][0], d, scratch);
}
void bind_createpolicy(const Match& match, Binding& binding) {
    if (!check_value(match, 0, 8, binding)) return;
    const std::string_view priority = match.get(".primary_priority");
    binding.aux = priority == ".L2::evict_first" ? 1 : priority == ".L2::evict_last" ? 2 : 3;
    binding.run = run_createpolicy;
}

#define WW_DM "data-movement-and-conversion-instructions-"
// clang-format off
constexpr std::string_view kSpaces =
    ".space = .const .global .local .shared .shared::cta .shared::cluster .param .param::entry; .size = .u32 .u64";
constexpr std::string_view kPolicy =
    ".primary_priority = .L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged; "
    ".secondary_priority = .L2::evict_first .L2::evict_unchanged";
constexpr Row kRows[] = {
    {"cvta.space.size d, a", kSpaces, {20, 20}, WW_DM "cvta", bind_cvta<true>},
    {"cvta.to.space.size d, a", kSpaces, {20, 20}, WW_DM "cvta", bind_cvta<false>},
    {"isspacep.space p, a", kSpaces, {20, 20}, WW_DM "isspacep", bind_isspacep},
    {"mapa{.space}.type d, a, b", ".space = .shared::cluster; .type = .u32 .u64", {78, 90}, WW_DM "mapa", bind_mapa},
    {"getctarank{.space}.type d, a", ".space = .shared::cluster; .type = .u32 .u64", {78, 90}, WW_DM "getctarank",
     bind_getctarank},
    {"prefetch{.space}.level [a]", ".space = .global .local; .level = .L1 .L2", {20, 20}, WW_DM "prefetch-prefetchu", bind_hint},
    {"prefetch.global.level::eviction_priority [a]",
     ".level::eviction_priority = .L2::evict_last .L2::evict_normal", {74, 80}, WW_DM "prefetch-prefetchu", bind_hint},
    {"prefetchu.L1 [a]", "", {20, 20}, WW_DM "prefetch-prefetchu", bind_hint},
    {"prefetch{.tensormap_space}.tensormap [a]", ".tensormap_space = .const .param .param::entry", {80, 90}, WW_DM "prefetch-prefetchu",
     bind_hint},
    {"applypriority{.global}.level::eviction_priority [a], size", ".level::eviction_priority = .L2::evict_normal", {74, 80},
     WW_DM "applypriority", bind_hint},
    // The bytes become indeterminate; keeping them is one of the allowed outcomes.
    {"discard{.global}.level [a], size", ".level = .L2", {74, 80}, WW_DM "discard", bind_hint},
    {"createpolicy.fractional.primary_priority{.secondary_priority}.b64 d{, fraction}", kPolicy, {74, 80},
     WW_DM "createpolicy", bind_createpolicy},
    {"createpolicy.range{.global}.primary_priority{.secondary_priority}.b64 d, [a], primary_size, total_size", kPolicy, {74, 80},
     WW_DM "createpolicy", bind_createpolicy},
    {"createpolicy.cvt.L2.b64 d, access-property", "", {74, 80}, WW_DM "createpolicy", bind_createpolicy},
};
// clang-format on

}  // namespace

std::span<const Row> address_rows() { return kRows; }

}  // namespace ww::isa
