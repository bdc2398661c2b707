// SPDX-License-Identifier: Apache-2.0
#include "machine/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <utility>

namespace ww::machine {
namespace {

uint8_t* reserve(uint64_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WW_CHECK(at != MAP_FAILED, "cannot reserve address space for the emulated device memory");
    return static_cast<uint8_t*>(at);
}

// The ranges of a device that is gone, for the next one: making and removing a range costs more than
// a small launch.
struct Ranges {
    uint8_t* data = nullptr;
    uint8_t* valid = nullptr;
};
std::mutex spare_mutex;
Ranges spare;

Ranges take_ranges(uint64_t bytes) {
    if (const std::lock_guard lock(spare_mutex); spare.data) return std::exchange(spare, {});
    return {reserve(bytes), reserve(bytes)};
}

// used: how much of them was ever mapped. Its pages go back now, so that the next owner finds zeros.
void give_ranges(Ranges ranges, uint64_t bytes, uint64_t used) {
    const std::lock_guard lock(spare_mutex);
    bool clean = !spare.data;
    for (uint8_t* at : {ranges.data, ranges.valid})
        clean = clean && (used == 0 || (::madvise(at, used, MADV_DONTNEED) == 0 && ::mprotect(at, used, PROT_NONE) == 0));
    if (clean) {
        spare = ranges;
        return;
    }
    ::munmap(ranges.data, bytes);
    ::munmap(ranges.valid, bytes);
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
constexpr uint64_t kPage = 4096;
constexpr uint64_t kNear = 2 * kPage;  // an address this near to an allocation is described by it

}  // namespace

GlobalMemory::GlobalMemory() {
    const Ranges ranges = take_ranges(kReserve);
    data_ = ranges.data;
    valid_ = ranges.valid;
}

GlobalMemory::~GlobalMemory() { give_ranges({data_, valid_}, kReserve, next_); }

Result<uint64_t> GlobalMemory::allocate(uint64_t bytes, MemoryLabel label, bool initialised) {
    if (bytes == 0) return fail("cannot allocate 0 bytes of device memory");
    const uint64_t mapped = bytes > kReserve ? bytes : round_up(bytes, kPage);
    if (mapped > kReserve - kPage || next_ > kReserve - kPage - mapped)
        return fail(fmt::format("out of emulated device memory: {} bytes asked, {} of {} in use", bytes,
                                next_, kReserve));
    Region region{.base = kBase + next_,
                  .size = bytes,
                  .data = data_ + next_,
                  .valid = valid_ + next_,
                  .name = label.name};
    if (::mprotect(region.data, mapped, PROT_READ | PROT_WRITE) != 0 ||
        ::mprotect(region.valid, mapped, PROT_READ | PROT_WRITE) != 0)
        return fail(fmt::format("the host has no memory for {} bytes of device memory", bytes));
    if (initialised) std::memset(region.valid, 1, bytes);
    next_ += mapped + kPage;
    const uint64_t address = region.base;
    if (label.bytes == 0) label.bytes = bytes - label.offset;
    live_.emplace(address, Allocation{std::move(region), std::move(label)});
    return address;
}

Status GlobalMemory::release(uint64_t address) {
    const auto it = live_.find(address);
    if (it == live_.end())
        return fail(fmt::format("release of {:#x}, which is not an allocation: {}", address, describe(address)));
    const Region& region = it->second.region;
    const uint64_t mapped = round_up(region.size, kPage);
    for (uint8_t* at : {region.data, region.valid}) {
        ::madvise(at, mapped, MADV_DONTNEED);
        ::mprotect(at, mapped, PROT_NONE);
    }
    released_.insert(live_.extract(it));
    return ok();
}

const Region* GlobalMemory::find(uint64_t address, uint64_t bytes) const {
    auto it = live_.upper_bound(address);
    if (it == live_.begin()) return nullptr;
    --it;
    const Region& region = it->second.region;
    return region.contains(address, bytes) ? &region : nullptr;
}

bool GlobalMemory::in_guard(uint64_t address) const {
    const auto next = live_.upper_bound(address);
    if (next == live_.begin()) return false;
    const auto& [region, label] = std::prev(next)->second;
    return address - region.base < region.size && address - region.base - label.offset >= label.bytes;
}

std::string GlobalMemory::describe(uint64_t address) const {
    const auto name = [](const Allocation& a) {
        return a.label.name.empty() ? fmt::format("allocation {:#x}", a.region.base) : a.label.name;
    };
    const auto start = [](const Allocation& a) { return a.region.base + a.label.offset; };
    const auto inside = [&](const Allocation& a, std::string_view state) {
        const uint64_t byte = address - start(a);
        std::string text = fmt::format("{}{}, byte {} of {}", state, name(a), byte, a.label.bytes);
        if (a.label.place) text += fmt::format(" ({})", a.label.place(byte));
        return text;
    };
    for (const auto* allocations : {&live_, &released_}) {
        const auto next = allocations->upper_bound(address);
        if (next == allocations->begin()) continue;
        const Allocation& a = std::prev(next)->second;
        if (address - start(a) < a.label.bytes)
            return inside(a, allocations == &released_ ? "the released " : "");
    }
    // The nearest one before or behind; the address may be in a guard zone of either.
    const Allocation *before = nullptr, *behind = nullptr;
    for (auto it = live_.upper_bound(address); it != live_.begin() && !before;) {
        --it;
        if (start(it->second) <= address) before = &it->second;
        else behind = &it->second;
    }
    if (const auto next = live_.upper_bound(address); !behind && next != live_.end()) behind = &next->second;
    const uint64_t past = before ? address - start(*before) - before->label.bytes : UINT64_MAX;
    const uint64_t to = behind ? start(*behind) - address : UINT64_MAX;
    if (past <= to && past < kNear)
        return fmt::format("{} bytes past the end of {} of {} bytes", past, name(*before), before->label.bytes);
    if (to < kNear) return fmt::format("{} bytes before {} of {} bytes", to, name(*behind), behind->label.bytes);
    return fmt::format("{:#x} is in no allocation", address);
}

}  // namespace ww::machine
