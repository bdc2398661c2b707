// SPDX-License-Identifier: Apache-2.0
// asm_info: what the compiler made of each kernel, as one struct that text and JSON print.
// docs/asm.md explains its fields.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cubin/cubin.hpp"
#include "cubin/occupancy.hpp"
#include "inspect/collect.hpp"
#include "sass/analysis.hpp"
#include "toolchain/ptxas_report.hpp"

namespace ww::inspect {

struct KernelInfo {
    std::string name, demangled, target;
    std::shared_ptr<const Image> image;
    cubin::Kernel resources;  // its views point into image
    std::optional<toolchain::PtxasFunction> ptxas;  // nothing: the cubin was given, ptxas not run
    int threads = 0;           // of a block, for the occupancy
    std::string threads_from;  // "launch", "launch bounds" or "assumed"
    std::optional<cubin::Occupancy> occupancy;
    std::string occupancy_missing;
    // Of the listing; nothing where there is none.
    std::shared_ptr<const sass::Listing> listing;
    const sass::Function* function = nullptr;
    std::optional<sass::Analysis> analysis;
    std::optional<sass::Rates> rates;
    std::string rates_missing;
};

struct AsmInfo {
    std::vector<KernelInfo> kernels;
    std::string ptxas_version, nvdisasm_version, nvrtc_version;  // empty: not found
};

Result<AsmInfo> asm_info(const Request& request);

// What one loop executes and what bounds it, as to_text says it; index: as asm_info numbers them.
std::string loop_summary(const KernelInfo& kernel, int index);

std::string to_json(const AsmInfo& info);
std::string to_text(const AsmInfo& info);
// <stem>.<target>.ptx, .cubin and .sass of every image, and asm_info.json.
Status write_files(const AsmInfo& info, const std::filesystem::path& folder);

}  // namespace ww::inspect
