// SPDX-License-Identifier: Apache-2.0
#include "ladder/image.hpp"

#include <algorithm>

#include "toolchain/found.hpp"

namespace ww::ladder {
namespace {

bool without_fused_multiply_add(const std::vector<std::string>& options) {
    return std::any_of(options.begin(), options.end(), [](const std::string& option) {
        return option == "-fmad=false" || option == "--fmad=false";
    });
}

}  // namespace

device::Image ptx_image(const std::string& name, std::string ptx) {
    return device::Image{.kind = device::Image::Kind::ptx,
                         .name = name + " (PTX)",  // its lines are no source lines
                         .bytes = std::move(ptx)};
}

// A cubin where ptxas is there: what is measured is then what ships, and the choice of --fmad
// reaches the assembler. The driver's own compiler takes the PTX otherwise.
Result<device::Image> image_for(const device::Info& device, device::Image ptx, const std::string& target,
                                const std::vector<std::string>& options) {
    if (device.kind != "cuda" || !toolchain::need_part("ptxas")) return ptx;
    toolchain::AssembleOptions assemble;
    if (without_fused_multiply_add(options)) assemble.options.push_back("--fmad=false");
    WW_TRY(made, toolchain::assemble(ptx.bytes, target, ptx.name, assemble));
    return device::Image{.kind = device::Image::Kind::cubin, .name = ptx.name, .bytes = made.cubin};
}

Result<device::Image> compile_image(const device::Info& device, const toolchain::CompileRequest& request) {
    WW_TRY(compiled, toolchain::compile_ptx(request));
    return image_for(device, ptx_image(request.name, std::move(compiled.ptx)), request.target,
                     request.options);
}

}  // namespace ww::ladder
