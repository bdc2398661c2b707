// SPDX-License-Identifier: Apache-2.0
#include "machine/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

namespace ww::machine {
namespace {

uint8_t* reserve(uint64_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WW_CHECK(at != MAP_FAILED, "cannot reserve address space for the emulated device memory");
    return static_cast<uint8_t*>(at);
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
constexpr uint64_t kPage = 4096;
constexpr uint64_t kNear = 2 * kPage;  // an address this near to an allocation is described by it

}  // namespace

GlobalMemory::GlobalMemory() : data_(reserve(kReserve)), valid_(reserve(kReserve)) {}

GlobalMemory::~GlobalMemory() {
    ::munmap(data_, kReserve);
    ::munmap(valid_, kReserve);
}

Result<uint64_t> GlobalMemory::allocate(uint64_t bytes, std::string name, bool initialised) {
    if (bytes == 0) return fail("cannot allocate 0 bytes of device memory");
    const uint64_t mapped = bytes > kReserve ? bytes : round_up(bytes, kPage);
    if (mapped > kReserve - kPage || next_ > kReserve - kPage - mapped)
        return fail(fmt::format("out of emulated device memory: {} bytes asked, {} of {} in use", bytes,
                                next_, kReserve));
    Region region{.base = kBase + next_,
                  .size = bytes,
                  .data = data_ + next_,
                  .valid = valid_ + next_,
                  .name = std::move(name)};
    if (::mprotect(region.data, mapped, PROT_READ | PROT_WRITE) != 0 ||
        ::mprotect(region.valid, mapped, PROT_READ | PROT_WRITE) != 0)
        return fail(fmt::format("the host has no memory for {} bytes of device memory", bytes));
    if (initialised) std::memset(region.valid, 1, bytes);
    next_ += mapped + kPage;
    const uint64_t address = region.base;
    live_.emplace(address, std::move(region));
    return address;
}

Status GlobalMemory::release(uint64_t address) {
    const auto it = live_.find(address);
    if (it == live_.end())
        return fail(fmt::format("release of {:#x}, which is not an allocation: {}", address, describe(address)));
    const uint64_t mapped = round_up(it->second.size, kPage);
    for (uint8_t* at : {it->second.data, it->second.valid}) {
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
    return it->second.contains(address, bytes) ? &it->second : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
    const auto label = [](const Region& region) {
        return fmt::format("{} {:#x} of {} bytes", region.name.empty() ? "allocation" : region.name,
                           region.base, region.size);
    };
    for (const auto* regions : {&live_, &released_}) {
        const auto next = regions->upper_bound(address);
        if (next == regions->begin()) continue;
        const Region& region = std::prev(next)->second;
        if (const uint64_t from = address - region.base; from < region.size)
            return fmt::format("{:#x} is byte {} of {}{}", address, from,
                               regions == &released_ ? "the released " : "", label(region));
    }
    const auto next = live_.upper_bound(address);
    const uint64_t before = next == live_.end() ? UINT64_MAX : next->second.base - address;
    const Region* previous = next == live_.begin() ? nullptr : &std::prev(next)->second;
    const uint64_t past = previous ? address - previous->base - previous->size : UINT64_MAX;
    if (past <= before && past < kNear)
        return fmt::format("{:#x} is {} bytes past the end of {}", address, past, label(*previous));
    if (before < kNear) return fmt::format("{:#x} is {} bytes before {}", address, before, label(next->second));
    return fmt::format("{:#x} is in no allocation", address);
}

}  // namespace ww::machine
