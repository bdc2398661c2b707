// SPDX-License-Identifier: Apache-2.0
#include "port/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

namespace ww::port {
namespace {

// Bytes up to the last element, or nothing when that is more than kMaxTensorBytes.
std::optional<int64_t> extent_bytes(const Layout& layout) {
    int64_t last = 0;
    for (size_t i = 0; i < layout.rank(); ++i) {
        int64_t reach = 0;
        if (__builtin_mul_overflow(layout.shape[i] - 1, layout.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || last >= 2 * kMaxTensorBytes)
            return std::nullopt;
    }
    const int64_t bytes = ((last + 1) * info(layout.dtype).bits + 7) / 8;
    if (bytes > kMaxTensorBytes) return std::nullopt;
    return bytes;
}

bool is_dense(const Layout& layout) {
    int64_t expected = 1;
    for (size_t i = layout.rank(); i-- > 0;) {
        if (layout.shape[i] > 1 && layout.strides[i] != expected) return false;
        expected *= layout.shape[i];
    }
    return true;
}

}  // namespace

Result<Layout> make_layout(Dtype dtype, std::vector<int64_t> shape,
                           std::optional<std::vector<int64_t>> strides) {
    Layout layout{.dtype = dtype, .shape = std::move(shape)};
    if (layout.rank() > kMaxRank)
        return fail(
            fmt::format("{} dimensions; at most {} are supported", layout.rank(), kMaxRank));
    if (strides && strides->size() != layout.rank())
        return fail(fmt::format("{} strides for {} dimensions", strides->size(), layout.rank()));
    for (const int64_t extent : layout.shape) {
        if (extent < 1) return fail(fmt::format("an extent of {}; it must be at least 1", extent));
        // Also bounds broadcast tensors, whose bytes are few: loops run over the elements.
        if (__builtin_mul_overflow(layout.elements, extent, &layout.elements) ||
            layout.elements > 2 * kMaxTensorBytes)
            return fail("more than 2^41 elements");
    }
    if (strides) {
        layout.strides = std::move(*strides);
    } else {
        layout.strides.assign(layout.rank(), 1);
        for (size_t i = layout.rank(); i-- > 1;)
            layout.strides[i - 1] = layout.strides[i] * layout.shape[i];
    }
    for (const int64_t stride : layout.strides)
        if (stride < 0) return fail(fmt::format("a stride of {}; it must be at least 0", stride));
    const auto bytes = extent_bytes(layout);
    if (!bytes) return fail(fmt::format("a tensor of more than 2^40 bytes: {}", layout.text()));
    layout.bytes = *bytes;
    layout.dense = is_dense(layout);
    return layout;
}

int64_t Layout::offset(std::span<const int64_t> coordinates) const {
    WW_CHECK(coordinates.size() == rank(), "coordinates of another rank");
    int64_t out = 0;
    for (size_t i = 0; i < rank(); ++i) out += coordinates[i] * strides[i];
    return out;
}

int64_t Layout::offset_of(int64_t linear) const {
    if (dense) return linear;
    int64_t out = 0;
    for (size_t i = rank(); i-- > 0;) {
        out += linear % shape[i] * strides[i];
        linear /= shape[i];
    }
    return out;
}

std::vector<int64_t> Layout::coordinates(int64_t linear) const {
    std::vector<int64_t> out(rank());
    for (size_t i = rank(); i-- > 0;) {
        out[i] = linear % shape[i];
        linear /= shape[i];
    }
    return out;
}

bool Layout::may_overlap() const {
    std::vector<std::pair<int64_t, int64_t>> dimensions;  // stride, extent
    for (size_t i = 0; i < rank(); ++i)
        if (shape[i] > 1) dimensions.emplace_back(strides[i], shape[i]);
    std::sort(dimensions.begin(), dimensions.end());
    int64_t reach = 0;  // of the dimensions with smaller strides
    for (const auto& [stride, extent] : dimensions) {
        if (stride <= reach) return true;
        reach += (extent - 1) * stride;
    }
    return false;
}

std::string Layout::text() const {
    return fmt::format("{} {}", name(dtype), coordinates_text(shape));
}

Result<Tensor> Tensor::zeros(std::string name, Layout layout) {
    Tensor tensor{.name = std::move(name), .layout = std::move(layout)};
    try {
        tensor.bytes.resize(static_cast<size_t>(tensor.layout.bytes));
    } catch (const std::bad_alloc&) {
        return fail(
            fmt::format("no memory for tensor '{}': {} bytes", tensor.name, tensor.layout.bytes));
    }
    return tensor;
}

uint64_t Tensor::code(int64_t linear) const {
    const int64_t offset = layout.offset_of(linear);
    const uint32_t bits = info(layout.dtype).bits;
    if (bits == 4) {
        const auto byte = std::to_integer<uint64_t>(bytes[static_cast<size_t>(offset / 2)]);
        return offset % 2 == 0 ? byte & 0xf : byte >> 4;
    }
    uint64_t code = 0;
    std::memcpy(&code, bytes.data() + offset * (bits / 8), bits / 8);
    return code;
}

void Tensor::set_code(int64_t linear, uint64_t code) {
    const int64_t offset = layout.offset_of(linear);
    const uint32_t bits = info(layout.dtype).bits;
    if (bits == 4) {
        std::byte& byte = bytes[static_cast<size_t>(offset / 2)];
        const auto nibble = static_cast<std::byte>(code & 0xf);
        byte = offset % 2 == 0 ? (byte & std::byte{0xf0}) | nibble
                               : (byte & std::byte{0x0f}) | (nibble << 4);
        return;
    }
    std::memcpy(bytes.data() + offset * (bits / 8), &code, bits / 8);
}

double Tensor::get(std::span<const int64_t> coordinates) const {
    int64_t linear = 0;
    WW_CHECK(coordinates.size() == layout.rank(), "coordinates of another rank");
    for (size_t i = 0; i < coordinates.size(); ++i)
        linear = linear * layout.shape[i] + coordinates[i];
    return get(linear);
}

Result<Tensor> row_major(const Tensor& tensor) {
    if (tensor.layout.dense) return tensor;
    WW_TRY(layout, make_layout(tensor.layout.dtype, tensor.layout.shape));
    WW_TRY(out, Tensor::zeros(tensor.name, std::move(layout)));
    for (int64_t i = 0; i < out.layout.elements; ++i) out.set_code(i, tensor.code(i));
    return std::move(out);
}

ByteRange byte_range(const Layout& layout, int64_t linear) {
    const int64_t bits = info(layout.dtype).bits;
    const int64_t offset = layout.offset_of(linear);
    return ByteRange{.first = offset * bits / 8, .count = std::max<int64_t>(bits / 8, 1)};
}

std::optional<std::vector<int64_t>> coordinates_at(const Layout& layout, int64_t byte) {
    std::vector<size_t> dimensions(layout.rank());
    std::iota(dimensions.begin(), dimensions.end(), size_t{0});
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [&](size_t a, size_t b) { return layout.strides[a] > layout.strides[b]; });
    int64_t left = byte * 8 / info(layout.dtype).bits;
    std::vector<int64_t> out(layout.rank());
    for (const size_t i : dimensions) {
        if (layout.strides[i] == 0) continue;  // all its elements lie in one place
        out[i] = std::min(left / layout.strides[i], layout.shape[i] - 1);
        left -= out[i] * layout.strides[i];
    }
    if (byte < 0 || left != 0) return std::nullopt;
    return out;
}

std::string code_text(Dtype dtype, uint64_t code) {
    return fmt::format("0x{:0{}x}", code, info(dtype).bits / 4);
}

std::string coordinates_text(std::span<const int64_t> coordinates) {
    std::string out = "[";
    for (size_t i = 0; i < coordinates.size(); ++i)
        out += fmt::format("{}{}", i == 0 ? "" : ", ", coordinates[i]);
    return out + "]";
}

}  // namespace ww::port
