// SPDX-License-Identifier: Apache-2.0
// A tensor in host memory: dtype, shape, strides and the bytes. Sizes are bounded and checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "port/dtype.hpp"

namespace ww::port {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;
constexpr size_t kMaxRank = 8;

struct Layout {
    Dtype dtype = Dtype::f32;
    std::vector<int64_t> shape;    // every extent is at least 1
    std::vector<int64_t> strides;  // elements; 0 or more
    int64_t elements = 1;          // product of the shape
    int64_t bytes = 0;             // up to the last byte that an element lies in
    bool dense = true;             // row-major without gaps: offset_of(i) is i

    size_t rank() const { return shape.size(); }
    // Position of the element in units of elements (nibbles for 4-bit types).
    int64_t offset(std::span<const int64_t> coordinates) const;
    int64_t offset_of(int64_t linear) const;  // linear: row-major index in the shape
    std::vector<int64_t> coordinates(int64_t linear) const;
    bool may_overlap() const;  // two elements may share storage (a stride of 0, say)
    std::string text() const;  // "bf16 [2, 3, 128]"
};

// Row-major strides when none are given. Fails when the rank, an extent, a stride or the bytes are
// out of bounds.
Result<Layout> make_layout(Dtype dtype, std::vector<int64_t> shape,
                           std::optional<std::vector<int64_t>> strides = std::nullopt);

struct Tensor {
    std::string name;
    Layout layout;
    std::vector<std::byte> bytes;

    static Result<Tensor> zeros(std::string name, Layout layout);

    uint64_t code(int64_t linear) const;
    void set_code(int64_t linear, uint64_t code);
    double get(int64_t linear) const { return decode(layout.dtype, code(linear)); }
    double get(std::span<const int64_t> coordinates) const;
    void set(int64_t linear, double value) { set_code(linear, encode(layout.dtype, value)); }
};

// The same elements without gaps.
Result<Tensor> row_major(const Tensor& tensor);

// Bytes [first, last] that hold the element: for asking a device who wrote it.
struct ByteRange {
    int64_t first = 0, count = 0;
};
ByteRange byte_range(const Layout& layout, int64_t linear);

// The element that a byte lies in (the first of two 4-bit ones), or nothing: a gap between strides.
std::optional<std::vector<int64_t>> coordinates_at(const Layout& layout, int64_t byte);

// The bits of an element as "0x3f80"; coordinates as "[0, 3, 17]".
std::string code_text(Dtype dtype, uint64_t code);
std::string coordinates_text(std::span<const int64_t> coordinates);

}  // namespace ww::port
