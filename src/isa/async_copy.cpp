// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Data Movement": cp.async without .bulk, and its groups. The copy is performed at
// issue, the earliest moment the manual allows; so a wait has nothing to wait for.
#include "isa/isa.hpp"
#include "isa/memory_ops.hpp"

namespace ww::isa {
namespace {

// extra of the aux.
enum class Source : uint8_t { whole, sized, ignorable };

// Zero-filled copies read only src-size bytes: lane by lane, since the sizes may differ.
void copy_partly(Warp& w, const Inst& in, const uint64_t* from, uint8_t* const* to,
                 const uint32_t* size) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!to[lane]) continue;
        if (size[lane] > aux.element_bytes)
            throw machine::GuestTrap("src-size " + std::to_string(size[lane]) +
                                         " of cp.async is larger than its cp-size " +
                                         std::to_string(aux.element_bytes),
                                     lane);
        if (from[lane] % aux.element_bytes != 0)
            throw machine::GuestTrap("misaligned source of cp.async: must be a multiple of " +
                                         std::to_string(aux.element_bytes),
                                     lane);
        uint8_t bytes[16] = {};
        if (size[lane] != 0)
            std::memcpy(bytes,
                        w.access_lane(Space::global, from[lane], size[lane], Access::read, lane),
                        size[lane]);
        std::memcpy(to[lane], bytes, aux.element_bytes);
    }
}

template <int Bytes>
void copy_whole(Warp& w, const Inst& in, const uint64_t* from, uint8_t* const* to) {
    alignas(64) uint8_t* pointer[kLanes];
    w.access(in, Space::global, from, Bytes, Access::read, pointer);
    if (w.active == kAllLanes && is_contiguous(pointer, Bytes) && is_contiguous(to, Bytes)) {
        std::memcpy(to[0], pointer[0], Bytes * kLanes);
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane)
        if (to[lane]) std::memcpy(to[lane], pointer[lane], Bytes);
}

// in: [dst], [src], cp-size, src-size or ignore-src, cache-policy
void run_cp_async(Warp& w, const Inst& in) {
    const MemoryAux aux = MemoryAux::unpack(in.aux);
    alignas(64) uint64_t to_address[kLanes], from[kLanes];
    alignas(64) uint8_t* to[kLanes];
    w.addresses(in[0], to_address);
    w.addresses(in[1], from);
    w.access(in, Space::shared, to_address, aux.element_bytes, Access::write, to);
    alignas(64) uint32_t scratch[kLanes], size[kLanes];
    switch (static_cast<Source>(aux.extra)) {
        case Source::sized:
            return copy_partly(w, in, from, to, w.in<uint32_t>(in[3][0], scratch));
        case Source::ignorable: {
            const LaneMask ignored = w.predicate(in[3][0]);
            for (int lane = 0; lane < kLanes; ++lane)
                size[lane] = (ignored >> lane & 1) ? 0 : aux.element_bytes;
            return copy_partly(w, in, from, to, size);
        }
        case Source::whole:
            break;
    }
    switch (aux.element_bytes) {
        case 4:
            return copy_whole<4>(w, in, from, to);
        case 8:
            return copy_whole<8>(w, in, from, to);
        default:
            return copy_whole<16>(w, in, from, to);
    }
}

void bind_cp_async(const Match& match, Binding& binding) {
    const OperandInfo& size = match.operands[2];
    const bool fits =
        size.immediate &&
        (size.value == 16 || (match.has(".ca") && (size.value == 4 || size.value == 8)));
    if (!fits) {
        binding.error =
            match.has(".ca") ? "cp-size must be 4, 8 or 16" : "cp-size of cp.async.cg must be 16";
        return;
    }
    // With a cache hint, a single operand more is the policy.
    const bool policy_only =
        match.has(".level::cache_hint") && match.operands[4].kind == OperandInfo::Kind::absent;
    const OperandInfo source = policy_only ? OperandInfo{} : match.operands[3];
    const Source form = source.kind == OperandInfo::Kind::absent      ? Source::whole
                        : source.kind == OperandInfo::Kind::predicate ? Source::ignorable
                                                                      : Source::sized;
    if (form == Source::sized && !check_value(match, 3, 4, binding)) return;
    binding.aux = MemoryAux{.space = Space::shared,
                            .element_bytes = static_cast<uint8_t>(size.value),
                            .extra = static_cast<uint8_t>(form)}
                      .pack();
    binding.run = run_cp_async;
}

void run_nothing_pending(Warp&, const Inst&) {}
void bind_group(const Match&, Binding& binding) { binding.run = run_nothing_pending; }
void bind_wait_group(const Match& match, Binding& binding) {
    if (!match.operands[0].immediate)
        binding.error = "the number of groups must be an immediate";
    else
        binding.run = run_nothing_pending;
}

#define WW_DM "data-movement-and-conversion-instructions-"
#define WW_MODIFIERS                                                         \
    ".shared = .shared .shared::cta; .level::cache_hint = .L2::cache_hint; " \
    ".level::prefetch_size = .L2::64B .L2::128B .L2::256B"
// clang-format off
constexpr Row kRows[] = {
    {"cp.async.ca.shared.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy}",
     WW_MODIFIERS, {70, 80}, WW_DM "cp-async", bind_cp_async},
    {"cp.async.cg.shared.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy}",
     WW_MODIFIERS, {70, 80}, WW_DM "cp-async", bind_cp_async},
    {"cp.async.commit_group", "", {70, 80}, WW_DM "cp-async-commit-group", bind_group},
    {"cp.async.wait_group n", "", {70, 80}, WW_DM "cp-async-wait-group", bind_wait_group},
    {"cp.async.wait_all", "", {70, 80}, WW_DM "cp-async-wait-group", bind_group},
    {"cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]", ".shared = .shared .shared::cta", {70, 80},
     "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive"},
};
// clang-format on

}  // namespace

std::span<const Row> async_copy_rows() { return kRows; }

}  // namespace ww::isa
