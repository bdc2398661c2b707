// SPDX-License-Identifier: Apache-2.0
#include "ladder/buffers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::ladder {
namespace {

std::vector<std::byte> room(uint64_t bytes) { return std::vector<std::byte>(bytes); }

}  // namespace

Buffers::~Buffers() {
    for (const Buffer& buffer : buffers_) (void)device_.release(buffer.base);
}

Result<Buffers::Buffer*> Buffers::allocate(const std::string& name, const port::Layout& layout) {
    const auto bytes = static_cast<uint64_t>(layout.bytes);
    const uint64_t padded = (bytes + 511) / 512 * 512;  // the zone behind starts at the last byte
    const auto place = [layout](uint64_t byte) {
        const auto at = port::coordinates_at(layout, static_cast<int64_t>(byte));
        return at ? "element " + port::coordinates_text(*at) : std::string("between its elements");
    };
    WW_TRY(base, device_.allocate(padded + 2 * kGuardBytes,
                                  {.name = fmt::format("tensor '{}'", name),
                                   .offset = kGuardBytes,
                                   .bytes = bytes,
                                   .place = place}));
    buffers_.push_back(Buffer{.name = name, .layout = layout, .base = base, .bytes = bytes});
    WW_TRY(filled, device_.fill(base, poison_, padded + 2 * kGuardBytes, false));
    (void)filled;
    return &buffers_.back();
}

Status Buffers::add_input(const port::Tensor& pristine) {
    WW_TRY(buffer, allocate(pristine.name, pristine.layout));
    buffer->pristine = &pristine;
    return device_.copy_in(buffer->base + kGuardBytes, pristine.bytes);
}

Status Buffers::add_output(const std::string& name, const port::Layout& layout) {
    WW_TRY(buffer, allocate(name, layout));
    (void)buffer;
    return ok();
}

Status Buffers::poison(const std::string& name) {
    const Buffer& buffer = find(name);
    WW_CHECK(!buffer.pristine, name);
    return device_.fill(buffer.base + kGuardBytes, poison_, buffer.bytes, false);
}

const Buffers::Buffer& Buffers::find(const std::string& name) const {
    const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                    [&](const Buffer& each) { return each.name == name; });
    WW_CHECK(found != buffers_.end(), name);
    return *found;
}

device::Address Buffers::address(const std::string& name) const {
    return find(name).base + kGuardBytes;
}

device::Address Buffers::address(const std::string& name, int64_t linear) const {
    const Buffer& buffer = find(name);
    return buffer.base + kGuardBytes +
           static_cast<uint64_t>(port::byte_range(buffer.layout, linear).first);
}

Result<std::optional<Intrusion>> Buffers::check_guards(const Buffer& buffer) const {
    const uint64_t end = kGuardBytes + buffer.bytes;
    const uint64_t total = (buffer.bytes + 511) / 512 * 512 + 2 * kGuardBytes;
    std::vector<std::byte> before = room(kGuardBytes), after = room(total - end);
    WW_TRY(copied_before, device_.copy_out(before, buffer.base));
    WW_TRY(copied_after, device_.copy_out(after, buffer.base + end));
    (void)copied_before, (void)copied_after;
    const auto bad = [&](std::byte value) { return value != static_cast<std::byte>(poison_); };
    const auto low = std::find_if(before.begin(), before.end(), bad);
    if (low != before.end()) {
        const auto at = static_cast<uint64_t>(low - before.begin());
        return std::optional<Intrusion>(Intrusion{
            .message = fmt::format("a write {} bytes before tensor {}", kGuardBytes - at, buffer.name),
            .address = buffer.base + at});
    }
    const auto high = std::find_if(after.begin(), after.end(), bad);
    if (high != after.end()) {
        const auto at = static_cast<uint64_t>(high - after.begin());
        return std::optional<Intrusion>(Intrusion{
            .message = fmt::format("a write {} bytes behind the end of tensor {}", at, buffer.name),
            .address = buffer.base + end + at});
    }
    return std::optional<Intrusion>();
}

Result<std::optional<Intrusion>> Buffers::check_input(const Buffer& buffer) const {
    if (!buffer.pristine) return std::optional<Intrusion>();
    std::vector<std::byte> now = room(buffer.bytes);
    WW_TRY(copied, device_.copy_out(now, buffer.base + kGuardBytes));
    (void)copied;
    const auto [here, there] = std::mismatch(now.begin(), now.end(), buffer.pristine->bytes.begin());
    if (here == now.end()) return std::optional<Intrusion>();
    const auto at = static_cast<uint64_t>(here - now.begin());
    return std::optional<Intrusion>(Intrusion{
        .message = fmt::format("input {} was modified, first at byte {}", buffer.name, at),
        .address = buffer.base + kGuardBytes + at,
        .is_input = true});
}

Result<std::optional<Intrusion>> Buffers::intrusion() const {
    for (const Buffer& buffer : buffers_) {
        WW_TRY(guard, check_guards(buffer));
        if (guard) return guard;
        WW_TRY(input, check_input(buffer));
        if (input) return input;
    }
    return std::optional<Intrusion>();
}

Result<port::Tensor> Buffers::read(const std::string& name) const {
    const Buffer& buffer = find(name);
    WW_TRY(tensor, port::Tensor::zeros(name, buffer.layout));
    WW_TRY(copied, device_.copy_out(tensor.bytes, buffer.base + kGuardBytes));
    (void)copied;
    return std::move(tensor);
}

}  // namespace ww::ladder
