// SPDX-License-Identifier: Apache-2.0
#include "ladder/image.hpp"

#include "ladder/builds.hpp"
#include "toolchain/found.hpp"

namespace ww::ladder {

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
    WW_TRY(made, toolchain::assemble(ptx.bytes, target, ptx.name, assemble_options(options)));
    return device::Image{.kind = device::Image::Kind::cubin, .name = ptx.name, .bytes = made.cubin};
}

Result<device::Image> compile_image(const device::Info& device, const toolchain::CompileRequest& request) {
    WW_TRY(compiled, toolchain::compile_ptx(request));
    return image_for(device, ptx_image(request.name, std::move(compiled.ptx)), request.target,
                     request.options);
}

}  // namespace ww::ladder
