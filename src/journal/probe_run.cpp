// SPDX-License-Identifier: Apache-2.0
#include "journal/probe_run.hpp"

#include <fmt/format.h>

#include "base/target.hpp"
#include "base/text.hpp"
#include "device/device.hpp"
#include "ladder/builds.hpp"
#include "sass/listing.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::journal {
namespace {

// A probe is small: one that does not end is told within seconds.
constexpr uint64_t kBudget = uint64_t{1} << 26;

Result<std::string> ptx_of(const ProbeFile& probe, const std::string& target) {
    if (probe.is_ptx()) return probe.text;
    toolchain::CompileRequest request;
    request.source = probe.text;
    request.name = probe.path.string();
    request.target = target;
    request.options = probe.options;
    WW_TRY(compiled, toolchain::compile_ptx(request));
    return compiled.ptx;
}

Result<std::string> cubin_of(const ProbeFile& probe, const std::string& target) {
    WW_TRY(ptx, ptx_of(probe, target));
    WW_TRY(made, toolchain::assemble(ptx, target, probe.path.string(), ladder::assemble_options(probe.options)));
    return made.cubin;
}

ProbeRun skipped(std::string why, bool hardware = false) {
    ProbeRun out;
    out.skipped = std::move(why);
    out.needs_hardware = hardware;
    return out;
}

bool is_missing(const std::string& part) { return toolchain::find_part(part).origin == toolchain::Origin::missing; }

// What a look needs of the toolchain and is not there.
std::string missing_part(const ProbeFile& probe, bool on_cuda) {
    std::vector<std::string> needed;
    if (!probe.is_ptx()) needed.emplace_back("nvrtc");
    if (probe.look != Look::run || on_cuda) needed.emplace_back("ptxas");
    if (probe.look == Look::sass) needed.emplace_back("nvdisasm");
    for (const std::string& part : needed)
        if (is_missing(part)) return part + " is missing (warpwright doctor)";
    return "";
}

Result<ProbeRun> look_at_sass(const ProbeFile& probe, const std::string& target) {
    WW_TRY(cubin, cubin_of(probe, target));
    WW_TRY(text, toolchain::disassemble(cubin, probe.path.string(), sass::listing_options()));
    WW_TRY(listing, sass::read_listing(std::move(text), probe.path.string()));
    ProbeRun out;
    out.device = fmt::format("ptxas ({})", target);
    for (const std::string& opcode : probe.opcodes) {
        int count = 0;
        for (const sass::Function& function : listing.functions)
            for (const sass::Instruction& each : function.instructions)
                count += each.opcode == opcode || each.opcode.starts_with(opcode + ".");
        out.printed += fmt::format("{} {}\n", opcode, count);
    }
    return out;
}

ProbeRun look_whether_it_compiles(const ProbeFile& probe, const std::string& target) {
    ProbeRun out;
    out.device = fmt::format("ptxas ({})", target);
    const auto cubin = cubin_of(probe, target);
    out.printed = fmt::format("{}: compiles\n", target);
    if (cubin) return out;
    for (const Diagnostic& each : cubin.error())
        if (each.severity == Severity::error) {
            out.printed = fmt::format("{}: refused: {}\n", target, each.message);
            break;
        }
    return out;
}

Result<device::KernelId> only_kernel(device::Device& device, device::ModuleId module, const ProbeFile& probe) {
    if (!probe.entry.empty()) return device.kernel(module, probe.entry);
    WW_TRY(names, device.kernels(module));
    if (names.size() == 1) return device.kernel(module, names[0]);
    return fail(Diagnostic{.file = probe.path.string(),
                           .message = names.empty() ? std::string("it has no kernel (no __global__ function)")
                                                    : fmt::format("it has {} kernels: choose one with '// probe: entry NAME': {}",
                                                                  names.size(), join(names, ", "))});
}

Result<std::string> launch(device::Device& device, device::KernelId kernel, const ProbeFile& probe) {
    device::Launch launch;
    launch.grid = {probe.grid[0], probe.grid[1], probe.grid[2]};
    launch.block = {probe.block[0], probe.block[1], probe.block[2]};
    launch.cluster = {probe.cluster[0], probe.cluster[1], probe.cluster[2]};
    launch.dynamic_shared_bytes = probe.shared_bytes;
    std::vector<device::Address> addresses;
    for (const ProbeBuffer& buffer : probe.buffers) {
        WW_TRY(address, device.allocate(buffer.bytes.size(), {.name = "buffer '" + buffer.name + "'"}));
        WW_TRY(copied, device.copy_in(address, buffer.bytes));
        (void)copied;
        addresses.push_back(address);
        launch.arguments.push_back(device::Argument::of(address));
    }
    WW_TRY(report, device.launch(kernel, launch));
    std::string out = report.printf_output;
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    for (size_t i = 0; i < probe.buffers.size(); ++i) {
        ProbeBuffer buffer = probe.buffers[i];
        if (!buffer.out) continue;
        WW_TRY(copied, device.copy_out(buffer.bytes, addresses[i]));
        (void)copied;
        out += buffer_text(buffer);
    }
    return out;
}

Result<ProbeRun> launch_on(device::Device& device, const ProbeFile& probe, const std::string& target, bool cubin) {
    device::Image image;
    image.name = probe.path.string();
    if (cubin) {
        WW_TRY(bytes, cubin_of(probe, target));
        image.kind = device::Image::Kind::cubin;
        image.bytes = std::move(bytes);
    } else {
        WW_TRY(ptx, ptx_of(probe, target));
        image.bytes = std::move(ptx);
    }
    WW_TRY(module, device.load(image));
    WW_TRY(kernel, only_kernel(device, module, probe));
    ProbeRun out;
    WW_TRY(printed, launch(device, kernel, probe));
    out.printed = std::move(printed);
    out.device = fmt::format("{} ({})", device.info().name, target);
    return out;
}

}  // namespace

Result<ProbeRun> run_probe(const ProbeFile& probe, const ProbeOptions& options) {
    const std::string target = options.target.empty() ? probe.target : options.target;
    WW_TRY(wanted, parse_target(target));
    if (std::string part = missing_part(probe, options.on_cuda); !part.empty()) return skipped(std::move(part));
    if (probe.look == Look::sass) return look_at_sass(probe, target);
    if (probe.look == Look::compile) return look_whether_it_compiles(probe, target);
    if (!options.on_cuda && !probe.needs_cuda) {
        const auto device = device::open_emulated({.target = target, .instruction_budget = kBudget, .async = {AsyncPolicy::Kind::lazy}});
        return launch_on(*device, probe, target, false);
    }
    const auto gpu = device::open_cuda();
    if (!gpu) return skipped("it needs a GPU: " + gpu.error().front().message, true);
    const device::Info info = (*gpu)->info();
    if (!wanted.is_within(info.sm)) return skipped(fmt::format("it is for {}, and {} is {}", target, info.name, info.target), true);
    return launch_on(**gpu, probe, wanted.suffix ? info.target : target, true);
}

std::string toolchain_text() {
    std::string out;
    for (const toolchain::Found& part : toolchain::survey())
        if (part.component == "nvrtc" || part.component == "ptxas")
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", part.component, part.version.empty() ? "missing" : part.version);
    return out;
}

}  // namespace ww::journal
