// SPDX-License-Identifier: Apache-2.0
// One argument of port.toml as the bytes that the kernel's parameter receives.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ladder/runner.hpp"

namespace ww::ladder {
namespace {

// CUtensorMapDataType by the names of port.toml.
struct TensorMapType {
    std::string_view name;
    uint32_t value;
};
constexpr std::array<TensorMapType, 12> kTensorMapTypes = {{
    {"u8", 0}, {"u16", 1}, {"u32", 2}, {"i32", 3}, {"u64", 4}, {"i64", 5},
    {"f16", 6}, {"f32", 7}, {"f64", 8}, {"bf16", 9}, {"tf32", 11}, {"16u4", 13},
}};

// The name that a tensor's own type goes by in a tensor map.
std::string_view tensor_map_name(port::Dtype dtype) {
    switch (dtype) {
        case port::Dtype::e2m1: return "16u4";
        case port::Dtype::i16: return "u16";
        case port::Dtype::f64: case port::Dtype::f32: case port::Dtype::f16:
        case port::Dtype::bf16: case port::Dtype::tf32: case port::Dtype::i32:
        case port::Dtype::u16: case port::Dtype::u32: case port::Dtype::i64:
        case port::Dtype::u64: return port::name(dtype);
        default: return "u8";
    }
}

Result<std::vector<int64_t>> values(const std::vector<port::Expr>& exprs, const port::Scope& scope) {
    std::vector<int64_t> out;
    for (const port::Expr& expr : exprs) {
        WW_TRY(value, expr.eval_between(scope.integers, 0, int64_t{1} << 40, "a tensor map's size"));
        out.push_back(value);
    }
    return out;
}

Result<device::TensorMapTiled> tiled(const port::TensorMapArg& arg, const port::Layout& layout,
                                     const port::Scope& scope, device::Address address) {
    device::TensorMapTiled map;
    const std::string_view type =
        arg.data_type.empty() ? tensor_map_name(layout.dtype) : std::string_view(arg.data_type);
    const auto row = std::find_if(kTensorMapTypes.begin(), kTensorMapTypes.end(),
                                  [&](const TensorMapType& each) { return each.name == type; });
    if (row == kTensorMapTypes.end())
        return fail(fmt::format("no tensor map has the type {}", type));
    map.data_type = row->value;
    map.address = address;
    map.interleave = arg.interleave;
    map.swizzle = arg.swizzle;
    map.l2_promotion = arg.l2_promotion;
    map.oob_fill = arg.oob_fill;
    std::vector<int64_t> sizes = layout.shape, strides = layout.strides;
    if (arg.sizes) {
        WW_TRY(given, values(*arg.sizes, scope));
        sizes = given;
    }
    if (arg.strides) {
        WW_TRY(given, values(*arg.strides, scope));
        strides = given;
    }
    WW_TRY(box, values(arg.box, scope));
    WW_TRY(steps, values(arg.element_strides, scope));
    if (box.size() != sizes.size() || strides.size() != sizes.size() ||
        (!steps.empty() && steps.size() != sizes.size()))
        return fail(fmt::format("tensor map of {}: sizes, strides and box have {}, {} and {} axes",
                                arg.tensor, sizes.size(), strides.size(), box.size()));
    // The driver counts axes from the innermost one, and takes its stride for granted.
    for (size_t i = sizes.size(); i-- > 0;) {
        map.sizes.push_back(static_cast<uint64_t>(sizes[i]));
        map.box.push_back(static_cast<uint32_t>(box[i]));
        map.element_strides.push_back(steps.empty() ? 1 : static_cast<uint32_t>(steps[i]));
        if (i + 1 < sizes.size())
            map.strides.push_back(static_cast<uint64_t>(strides[i]) * port::info(layout.dtype).bits / 8);
    }
    return map;
}

}  // namespace

Result<device::Argument> Runner::argument(
    const port::Arg& arg, const port::Scope& scope,
    const std::function<device::Address(const std::string&)>& address_of) const {
    if (const auto* tensor = std::get_if<port::TensorArg>(&arg.value))
        return device::Argument::of(address_of(tensor->tensor));
    if (const auto* scalar = std::get_if<port::ScalarArg>(&arg.value)) {
        WW_TRY(bytes, port::scalar_bytes(*scalar, scope));
        // A scalar is aligned to its size.
        const auto align = static_cast<uint32_t>(bytes.size());
        return device::Argument{.bytes = std::move(bytes), .align = align};
    }
    const auto& map = std::get<port::TensorMapArg>(arg.value);
    const port::TensorSpec* spec = port_.tensor(map.tensor);
    WW_CHECK(spec != nullptr, map.tensor);
    WW_TRY(layout, port::layout_of(*spec, scope));
    WW_TRY(description, tiled(map, layout, scope, address_of(map.tensor)));
    const auto encoded = device_.encode_tensor_map(description);
    if (encoded) {
        auto out = device::Argument::of(encoded.value());
        out.align = 64;  // of CUtensorMap
        return out;
    }
    return fail(port::placed(encoded.error(), arg.place));
}

}  // namespace ww::ladder
