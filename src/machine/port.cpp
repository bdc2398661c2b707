// SPDX-License-Identifier: Apache-2.0
// The memory port of a warp: every access of guest code is checked here.
#include <fmt/format.h>

#include "machine/block.hpp"
#include "machine/program.hpp"

namespace ww::machine {
namespace {

constexpr uint64_t kAllValid = 0x0101010101010101u;

template <int Bytes>
bool valid_bytes(const uint8_t* valid) {
    if constexpr (Bytes < 8) {
        uint32_t bits = 0;
        std::memcpy(&bits, valid, Bytes);
        return bits == (kAllValid & (~uint64_t{0} >> (64 - 8 * Bytes)));
    } else {
        uint64_t all = kAllValid;
        for (int i = 0; i < Bytes; i += 8) {
            uint64_t bits;
            std::memcpy(&bits, valid + i, 8);
            all &= bits;
        }
        return all == kAllValid;
    }
}

bool valid_range(const uint8_t* valid, uint64_t bytes) { return !std::memchr(valid, 0, bytes); }

// The same for a whole row of lanes: a multiple of 32 bytes, so that no call is needed.
bool valid_row(const uint8_t* valid, uint64_t bytes) {
    uint64_t all[4] = {kAllValid, kAllValid, kAllValid, kAllValid};
    for (uint64_t i = 0; i < bytes; i += sizeof all) {
        uint64_t bits[4];
        std::memcpy(bits, valid + i, sizeof bits);
        for (int k = 0; k < 4; ++k) all[k] &= bits[k];
    }
    return (all[0] & all[1] & all[2] & all[3]) == kAllValid;
}

void set_valid_row(uint8_t* valid, uint64_t bytes) {
    const uint64_t ones[4] = {kAllValid, kAllValid, kAllValid, kAllValid};
    for (uint64_t i = 0; i < bytes; i += sizeof ones) std::memcpy(valid + i, ones, sizeof ones);
}

std::string_view access_name(Access kind) {
    return kind == Access::read ? "read" : kind == Access::write ? "write" : "atomic";
}

[[noreturn]] void fault(std::string_view what, Space space, uint64_t address, uint64_t bytes, Access kind, int lane,
                        const std::string& detail) {
    throw GuestTrap(fmt::format("{} {} {} of {} byte{} at {:#x}{}{}", what, space_name(space), access_name(kind),
                                bytes, bytes == 1 ? "" : "s", address, detail.empty() ? "" : ": ", detail),
                    lane);
}

// " (issued by warp 3 at kernel.ptx:12)": only the emulator knows the text.
std::string place_text(const Grid* grid, const AsyncOperation& operation) {
    return grid->describe_inst ? fmt::format(" (issued by warp {}: {})", operation.warp % kWarpsOfBlock, grid->describe_inst(operation.inst->index))
                               : std::string();
}

// A read of bytes of which at least one was never written.
[[noreturn]] void refuse_unwritten(const Warp& warp, Space space, const Region& region, uint64_t offset, uint64_t bytes,
                                   Access kind, int lane) {
    uint64_t first = offset;
    while (region.valid[first]) ++first;
    const uint64_t at = region.base + first;
    if (const AsyncOperation* writer = space == Space::shared ? warp.block->cluster.async.writer_of(cluster_offset(warp.block->rank, first)) : nullptr)
        throw GuestTrap(fmt::format("{} of {} bytes of shared memory at {:#x} before the asynchronous operation that "
                                    "writes byte {} has completed{}: wait for it first",
                                    access_name(kind), bytes, region.base + offset, first,
                                    place_text(warp.grid, *writer)),
                        lane);
    if (space != Space::global)
        fault("uninitialised", space, region.base + offset, bytes, kind, lane,
              fmt::format("{}, byte {} of {}, was never written", region.name, first, region.size));
    const GlobalMemory& global = *warp.grid->global;
    if (global.in_guard(at)) fault("out-of-bounds", space, region.base + offset, bytes, kind, lane, global.describe(at));
    fault("uninitialised", space, region.base + offset, bytes, kind, lane, global.describe(at) + " was never written");
}

// Offsets into the region, for the lanes of an access; all bounds, alignment and validity checks.
class Checker {
  public:
    Checker(const Warp& warp, Space space, uint32_t bytes, Access kind)
        : warp_(warp), space_(space), bytes_(bytes), kind_(kind) {}

    void lanes(const Region& region, const uint64_t* address, uint64_t window, LaneMask lanes, uint8_t** pointer) {
        const int first = __builtin_ctz(lanes);
        uint64_t misaligned = 0;
        for (int i = 0; i < kLanes; ++i) misaligned |= (lanes >> i & 1) ? address[i] & (bytes_ - 1) : 0;
        if (misaligned) refuse_misaligned(address, lanes);
        if (kind_ != Access::read && !region.writable)
            fault("write to read-only", space_, address[first], bytes_, kind_, first, region.name);
        uint64_t unlike = lanes ^ kAllLanes;
        for (int i = 0; i < kLanes; ++i) unlike |= address[i] ^ address[0];
        if (!unlike && kind_ == Access::read) {  // one address for all, as of kernel parameters
            scattered(region, address, window, 1, pointer);
            for (int i = 1; i < kLanes; ++i) pointer[i] = pointer[0];
            return;
        }
        scattered(region, address, window, lanes, pointer);
    }

  private:
    void scattered(const Region& region, const uint64_t* address, uint64_t window, LaneMask lanes, uint8_t** pointer) {
        switch (bytes_) {
            case 1: return scattered_of<1>(region, address, window, lanes, pointer);
            case 2: return scattered_of<2>(region, address, window, lanes, pointer);
            case 4: return scattered_of<4>(region, address, window, lanes, pointer);
            case 8: return scattered_of<8>(region, address, window, lanes, pointer);
            case 16: return scattered_of<16>(region, address, window, lanes, pointer);
            case 32: return scattered_of<32>(region, address, window, lanes, pointer);
            default: WW_CHECK(false, "an access is 1, 2, 4, 8, 16 or 32 bytes");
        }
    }

    template <int Bytes>
    void scattered_of(const Region& region, const uint64_t* address, uint64_t window, LaneMask lanes,
                      uint8_t** pointer) {
        for (LaneMask left = lanes; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            const uint64_t at = address[lane] - window;
            bounds(region, at, lane);
            const uint64_t offset = at - region.base;
            pointer[lane] = region.data + offset;
            if (!region.valid) continue;
            if (kind_ == Access::write)
                std::memset(region.valid + offset, 1, Bytes);
            else if (!valid_bytes<Bytes>(region.valid + offset))
                initialised(region, offset, lane);
        }
    }

    void bounds(const Region& region, uint64_t at, int lane) {
        if (region.contains(at, bytes_)) return;
        std::string detail = fmt::format("{} has {} bytes", region.name, region.size);
        if (space_ == Space::global) detail = warp_.grid->global->describe(at);
        fault("out-of-bounds", space_, at, bytes_, kind_, lane, detail);
    }

    void initialised(const Region& region, uint64_t offset, int lane) {
        refuse_unwritten(warp_, space_, region, offset, bytes_, kind_, lane);
    }

    void refuse_misaligned(const uint64_t* address, LaneMask lanes) {
        for (int i = 0; i < kLanes; ++i)
            if ((lanes >> i & 1) && (address[i] & (bytes_ - 1)))
                fault("misaligned", space_, address[i], bytes_, kind_, i,
                      fmt::format("must be a multiple of {}", bytes_));
    }

    const Warp& warp_;
    Space space_;
    uint32_t bytes_;
    Access kind_;
};

Region local_region(const Warp& warp, int lane) {
    const uint64_t from = warp.local_bytes * static_cast<uint64_t>(lane);
    return Region{.size = warp.local_bytes,
                  .data = warp.local_data + from,
                  .valid = warp.local_valid + from,
                  .name = "local memory of a thread"};
}

const Region& global_region(Warp& warp, uint64_t address, uint64_t bytes, Access kind, int lane) {
    if (warp.last_global && warp.last_global->contains(address, bytes)) return *warp.last_global;
    const Region* region = warp.grid->global->find(address, bytes);
    if (!region)
        fault("out-of-bounds", Space::global, address, bytes, kind, lane, warp.grid->global->describe(address));
    warp.last_global = region;
    return *region;
}

// The shared memory that an address names: 0 the own block's, else that of rank named - 1.
const Region& block_named(const Warp& warp, uint64_t named, uint64_t address, int lane) {
    const Cluster& cluster = warp.block->cluster;
    if (named == 0) return warp.block->shared;
    if (named > cluster.blocks.size())
        throw GuestTrap(fmt::format("out-of-bounds shared address {:#x}: the cluster has {} blocks", address, cluster.blocks.size()), lane);
    return cluster.blocks[named - 1]->shared;
}

}  // namespace

uint8_t* Warp::row(Space space, const uint64_t* address, uint32_t bytes, Access kind) {
    if (active != kAllLanes) return nullptr;
    const uint64_t start = address[0];
    uint64_t unlike = start & (bytes - 1);
    for (uint64_t i = 0; i < kLanes; ++i) unlike |= address[i] ^ (start + i * bytes);
    if (unlike) return nullptr;
    const Space here = space == Space::generic ? space_of(start) : space;
    const uint64_t at = space == Space::generic ? start - window_of(here) : start;
    const uint64_t total = uint64_t{bytes} * kLanes;
    const Region* region = nullptr;
    switch (here) {
        case Space::shared: region = &block->shared; break;
        case Space::constant: region = &grid->constant; break;
        case Space::param: region = &grid->params; break;
        case Space::local: return nullptr;
        default:
            region = last_global;
            if (!region || !region->contains(at, total)) region = grid->global->find(at, total);
            if (region) last_global = region;
    }
    if (!region || !region->contains(at, total)) return nullptr;
    const uint64_t offset = at - region->base;
    if (kind == Access::write) {
        if (!region->writable) return nullptr;
        if (region->valid) set_valid_row(region->valid + offset, total);
    } else if (kind == Access::atomic || (region->valid && !valid_row(region->valid + offset, total))) {
        return nullptr;
    }
    return region->data + offset;
}

void Warp::access(const Inst& inst, Space space, const uint64_t* address, uint32_t bytes, Access kind,
                  uint8_t** pointer) {
    if (uint8_t* first = row(space, address, bytes, kind)) {
        for (uint64_t i = 0; i < kLanes; ++i) pointer[i] = first + i * bytes;
        if (sink) notify(inst, space, address, bytes, kind);
        return;
    }
    if (active != kAllLanes) std::memset(pointer, 0, sizeof(uint8_t*) * kLanes);
    LaneMask left = active;
    while (left) {
        const int first = __builtin_ctz(left);
        const Space here = space == Space::generic ? space_of(address[first]) : space;
        const uint64_t window = space == Space::generic ? window_of(here) : 0;
        Checker checker(*this, here, bytes, kind);
        LaneMask lanes = left;
        if (space == Space::generic) {
            uint64_t other = 0;
            for (int i = 0; i < kLanes; ++i) other |= (left >> i & 1) ? (address[i] ^ window) & kWindowMask : 0;
            if (other)
                for (int i = 0; i < kLanes; ++i)
                    if ((address[i] & kWindowMask) != (address[first] & kWindowMask)) lanes &= ~(LaneMask{1} << i);
        }
        switch (here) {
            case Space::shared: {
                // In a cluster an address may name another block; lanes that name other ones wait.
                const uint64_t named = block->cluster.blocks.size() > 1 ? (address[first] - window) >> kRankShift : 0;
                for (int i = first + 1; block->cluster.blocks.size() > 1 && i < kLanes; ++i)
                    if ((address[i] - window) >> kRankShift != named) lanes &= ~(LaneMask{1} << i);
                checker.lanes(block_named(*this, named, address[first], first), address, window + (named << kRankShift), lanes, pointer);
                break;
            }
            case Space::constant: checker.lanes(grid->constant, address, window, lanes, pointer); break;
            case Space::param: checker.lanes(grid->params, address, window, lanes, pointer); break;
            case Space::local:
                for (LaneMask some = lanes; some; some &= some - 1) {
                    const int lane = __builtin_ctz(some);
                    checker.lanes(local_region(*this, lane), address, window, LaneMask{1} << lane, pointer);
                }
                break;
            default: {
                const Region& region = global_region(*this, address[first], bytes, kind, first);
                // Lanes in other allocations have their own turn of the loop.
                bool outside = false;
                for (int i = 0; i < kLanes; ++i) outside |= (lanes >> i & 1) && !region.contains(address[i], bytes);
                for (int i = 0; outside && i < kLanes; ++i)
                    if (!region.contains(address[i], bytes)) lanes &= ~(LaneMask{1} << i);
                checker.lanes(region, address, 0, lanes, pointer);
            }
        }
        left &= ~lanes;
    }
    if (sink && active) notify(inst, space, address, bytes, kind);
}

void Warp::notify(const Inst& inst, Space space, const uint64_t* address, uint32_t bytes, Access kind) const {
    uint64_t generic[kLanes];
    const uint64_t window = space == Space::generic ? 0 : window_of(space);
    for (int i = 0; i < kLanes; ++i) generic[i] = address[i] + window;
    sink->memory(MemoryEvent{*this, inst, kind, generic, bytes, active});
}

uint8_t* Warp::access_lane(Space space, uint64_t address, uint64_t bytes, Access kind, int lane) {
    const Space here = space == Space::generic ? space_of(address) : space;
    const uint64_t at = space == Space::generic ? address - window_of(here) : address;
    Region local;
    const Region* region = nullptr;
    switch (here) {
        case Space::shared: region = &block->shared; break;
        case Space::constant: region = &grid->constant; break;
        case Space::param: region = &grid->params; break;
        case Space::local: region = &(local = local_region(*this, lane)); break;
        default: region = &global_region(*this, at, bytes, kind, lane);
    }
    if (!region->contains(at, bytes))
        fault("out-of-bounds", here, at, bytes, kind, lane, fmt::format("{} has {} bytes", region->name, region->size));
    const uint64_t offset = at - region->base;
    if (kind != Access::read && !region->writable)
        fault("write to read-only", here, at, bytes, kind, lane, region->name);
    if (region->valid && kind == Access::write) std::memset(region->valid + offset, 1, bytes);
    if (region->valid && kind != Access::write && !valid_range(region->valid + offset, bytes))
        refuse_unwritten(*this, here, *region, offset, bytes, kind, lane);
    return region->data + offset;
}

MemoryRange Warp::range(Space space, uint64_t address, uint64_t bytes, uint32_t align, Access kind, int lane) {
    const Space here = space == Space::generic ? space_of(address) : space;
    const uint64_t at = space == Space::generic ? address - window_of(here) : address;
    if (here != Space::shared && here != Space::global)
        throw GuestTrap(fmt::format("an asynchronous operation takes shared or global memory, not {} memory", space_name(here)), lane);
    if (at % align != 0)
        fault("misaligned", here, at, bytes, kind, lane, fmt::format("must be a multiple of {}", align));
    if (here == Space::global) {
        const Region& region = global_region(*this, at, bytes, kind, lane);
        if (kind != Access::read && !region.writable) fault("write to read-only", here, at, bytes, kind, lane, region.name);
        return {.region = &region, .offset = at - region.base, .bytes = bytes, .space = here};
    }
    const uint64_t named = at >> kRankShift, offset = at & ((1u << kRankShift) - 1);
    const Region& region = block_named(*this, named, at, lane);
    const uint32_t rank = named ? static_cast<uint32_t>(named - 1) : block->rank;
    if (!region.contains(offset, bytes))
        fault("out-of-bounds", here, at, bytes, kind, lane, fmt::format("{} has {} bytes", region.name, region.size));
    return {.region = &region, .offset = offset, .bytes = bytes, .space = here, .rank = rank, .remote = rank != block->rank};
}

void AsyncAccess::check(const MemoryRange& range, Access kind) const {
    if (range.valid() && !valid_range(range.valid(), range.bytes))
        refuse_unwritten(warp, range.space, *range.region, range.offset, range.bytes, kind, lane);
}

void AsyncAccess::notify(const MemoryRange& range, Access kind) const {
    if (!warp.sink) return;
    uint64_t address[kLanes] = {};
    address[lane] = range.generic();
    warp.sink->memory({warp, inst, kind, address, static_cast<uint32_t>(range.bytes), LaneMask{1} << lane, agent, operation});
}

void AsyncAccess::notify(std::span<const uint64_t> pieces, uint32_t bytes, Access kind) const {
    if (warp.sink && !pieces.empty())
        warp.sink->memory({warp, inst, kind, pieces.data(), bytes, LaneMask{1} << lane, agent, operation, static_cast<uint32_t>(pieces.size())});
}

void AsyncAccess::read(const MemoryRange& range, void* to) const {
    check(range, Access::read);
    std::memcpy(to, range.data(), range.bytes);
    notify(range, Access::read);
}

void AsyncAccess::write(const MemoryRange& range, const void* from) const {
    std::memcpy(range.data(), from, range.bytes);
    if (range.valid()) std::memset(range.valid(), 1, range.bytes);
    notify(range, Access::write);
}

}  // namespace ww::machine
