// SPDX-License-Identifier: Apache-2.0
// The products of sums.hpp on a device: a block and warp for each, operands as the instruction's
// fragments.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ladder/image.hpp"
#include "silicon/sums.hpp"

namespace ww::silicon {
namespace {

constexpr int kLanes = 32, kWordsOut = 4;

// in: a0..a3, b0, b1, scales of a, of b, c0..c3 of each lane; out: d0..d3.
constexpr const char* kKernel = R"(
.version 8.7
.target {0}
.address_size 64
.visible .entry block_scaled_sums(.param .u64 in, .param .u64 out)
{{
    .reg .b32 a<4>, b<2>, sa, sb, lane, block, number;
    .reg .f32 c<4>, d<4>;
    .reg .b64 from, to, offset;
    mov.u32 lane, %tid.x;
    mov.u32 block, %ctaid.x;
    mad.lo.u32 number, block, 32, lane;
    ld.param.u64 from, [in];
    mul.wide.u32 offset, number, 48;
    add.u64 from, from, offset;
    ld.param.u64 to, [out];
    mul.wide.u32 offset, number, 16;
    add.u64 to, to, offset;
    ld.global.v4.b32 {{a0, a1, a2, a3}}, [from];
    ld.global.v4.b32 {{b0, b1, sa, sb}}, [from+16];
    ld.global.v4.f32 {{c0, c1, c2, c3}}, [from+32];
    mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3
        {{d0, d1, d2, d3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, {{c0, c1, c2, c3}}, sa, {{0, 0}}, sb, {{0, 0}};
    st.global.v4.f32 [to], {{d0, d1, d2, d3}};
    ret;
}}
)";

uint32_t word(const uint8_t* at) {
    uint32_t out = 0;
    std::memcpy(&out, at, sizeof out);
    return out;
}

// Lane 4g + t: rows g and g + 8 of a, column g of b, columns 2t and 2t + 1 of c. The scales of rows
// g and g + 8 are read from lanes 4g and 4g + 1, those of column g from lane 4g.
void append_fragments(const Product& product, std::vector<uint32_t>& out) {
    constexpr int kRowBytes = kDepth / 2, kScales = kDepth / kGroup;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; ++i)
            out.push_back(word(
                &product.a[static_cast<size_t>((g + i % 2 * 8) * kRowBytes + i / 2 * 16 + 4 * t)]));
        for (int i = 0; i < 2; ++i)
            out.push_back(word(&product.b[static_cast<size_t>(g * kRowBytes + i * 16 + 4 * t)]));
        out.push_back(t < 2 ? word(&product.scale_a[static_cast<size_t>((g + 8 * t) * kScales)])
                            : 0);
        out.push_back(t < 1 ? word(&product.scale_b[static_cast<size_t>(g * kScales)]) : 0);
        for (int i = 0; i < 4; ++i)
            out.push_back(
                product.c[static_cast<size_t>((g + i / 2 * 8) * kColumns + 2 * t + i % 2)]);
    }
}

Outputs outputs_of(const uint32_t* fragments) {
    Outputs out{};
    for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < kWordsOut; ++i)
            out[static_cast<size_t>((lane / 4 + i / 2 * 8) * kColumns + 2 * (lane % 4) + i % 2)] =
                fragments[lane * kWordsOut + i];
    return out;
}

}  // namespace

Result<std::vector<Outputs>> run_products(device::Device& device) {
    const device::Info info = device.info();
    std::vector<Product> products = random_products();
    products.insert(products.begin(), graded_product());
    std::vector<uint32_t> in, out(products.size() * kLanes * kWordsOut);
    for (const Product& product : products) append_fragments(product, in);
    WW_TRY(image,
           ladder::image_for(
               info, ladder::ptx_image("block_scaled_sums", fmt::format(kKernel, info.target)),
               info.target, {}));
    WW_TRY(module, device.load(image));
    WW_TRY(kernel, device.kernel(module, "block_scaled_sums"));
    WW_TRY(from, device.allocate(in.size() * sizeof(uint32_t), {.name = "operands"}));
    WW_TRY(to, device.allocate(out.size() * sizeof(uint32_t), {.name = "results"}));
    WW_TRY(given, device.copy_in(from, std::as_bytes(std::span(in))));
    device::Launch launch;
    launch.grid.x = static_cast<uint32_t>(products.size());
    launch.block.x = kLanes;
    launch.arguments = {device::Argument::of(from), device::Argument::of(to)};
    WW_TRY(report, device.launch(kernel, launch));
    WW_TRY(taken, device.copy_out(std::as_writable_bytes(std::span(out)), to));
    WW_TRY(from_free, device.release(from));
    WW_TRY(to_free, device.release(to));
    WW_TRY(unloaded, device.unload(module));
    (void)given, (void)report, (void)taken, (void)from_free, (void)to_free, (void)unloaded;
    std::vector<Outputs> measured;
    for (size_t i = 0; i < products.size(); ++i)
        measured.push_back(outputs_of(&out[i * kLanes * kWordsOut]));
    return measured;
}

}  // namespace ww::silicon
