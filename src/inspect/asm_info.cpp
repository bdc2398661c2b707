// SPDX-License-Identifier: Apache-2.0
#include "inspect/asm_info.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "base/files.hpp"
#include "toolchain/found.hpp"

namespace ww::inspect {
namespace {

constexpr int kAssumedThreads = 128;

std::string demangle(const std::string& name) {
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

void add_occupancy(KernelInfo& info, int sm) {
    info.threads_from = "launch";
    info.threads = info.image->threads;
    if (info.threads == 0 && info.resources.max_threads > 0) {
        info.threads = info.resources.max_threads;
        info.threads_from = "launch bounds";
    } else if (info.threads == 0) {
        info.threads = kAssumedThreads;
        info.threads_from = "assumed";
    }
    auto made = cubin::occupancy(sm, {.threads = info.threads,
                                      .registers = info.resources.registers,
                                      .shared_bytes = info.resources.static_shared_bytes +
                                                      info.image->shared_bytes});
    if (made)
        info.occupancy = std::move(*made);
    else
        info.occupancy_missing = made.error().front().message;
}

Status add_kernels(std::shared_ptr<const Image> image, AsmInfo& out) {
    WW_TRY(cubin, cubin::read(image->cubin, image->source));
    std::shared_ptr<const sass::Listing> listing;
    if (!image->sass.empty()) {
        WW_TRY(read, sass::read_listing(image->sass, image->stem + ".sass"));
        listing = std::make_shared<const sass::Listing>(std::move(read));
    }
    const auto ptxas = toolchain::parse_ptxas_report(image->ptxas_log);
    const auto rates = sass::rates_of(image->target);
    for (const cubin::Kernel& kernel : cubin.kernels) {
        if (!kernel.entry) continue;
        // A port's build is for one kernel; what else its source holds has builds of its own.
        if (!image->entry.empty() && kernel.name != image->entry) continue;
        KernelInfo info;
        info.name = std::string(kernel.name);
        info.demangled = demangle(info.name);
        info.target = image->target;
        info.image = image;
        info.resources = kernel;
        if (const auto found = ptxas.find(info.name); found != ptxas.end()) info.ptxas = found->second;
        add_occupancy(info, cubin.sm);
        if (rates)
            info.rates = *rates;
        else
            info.rates_missing = rates.error().front().message;
        info.listing = listing;
        if (listing) info.function = listing->find(kernel.name);
        if (info.function) info.analysis = sass::analyse(*info.function, info.rates);
        out.kernels.push_back(std::move(info));
    }
    return ok();
}

}  // namespace

Result<AsmInfo> asm_info(const Request& request) {
    WW_TRY(images, collect(request));
    AsmInfo out;
    out.ptxas_version = toolchain::ask_part("ptxas").version;
    out.nvdisasm_version = toolchain::ask_part("nvdisasm").version;
    out.nvrtc_version = toolchain::ask_part("nvrtc").version;
    for (Image& image : images) {
        WW_TRY(added, add_kernels(std::make_shared<const Image>(std::move(image)), out));
        (void)added;
    }
    if (out.kernels.empty())
        return fail(Diagnostic{.file = request.path.string(), .message = "it has no kernel (no .entry)"});
    return out;
}

Status write_files(const AsmInfo& info, const std::filesystem::path& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) return fail(fmt::format("{}: cannot make the folder: {}", folder.string(), code.message()));
    std::set<const Image*> done;
    for (const KernelInfo& kernel : info.kernels) {
        const Image& image = *kernel.image;
        if (!done.insert(&image).second) continue;
        const std::string stem = (folder / (image.stem + "." + image.target)).string();
        for (const auto& [extension, text] :
             {std::pair{".ptx", &image.ptx}, std::pair{".cubin", &image.cubin}, std::pair{".sass", &image.sass}}) {
            if (text->empty()) continue;
            WW_TRY(written, write_file(stem + extension, *text));
            (void)written;
        }
    }
    return write_file(folder / "asm_info.json", to_json(info) + "\n");
}

}  // namespace ww::inspect
