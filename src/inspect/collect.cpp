// SPDX-License-Identifier: Apache-2.0
#include "inspect/collect.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"
#include "cubin/cubin.hpp"
#include "ladder/builds.hpp"
#include "port/reader.hpp"
#include "sass/listing.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::inspect {
namespace {

namespace fs = std::filesystem;

Status disassemble(Image& image) {
    const toolchain::Found nvdisasm = toolchain::find_part("nvdisasm");
    if (nvdisasm.origin == toolchain::Origin::missing) {
        image.sass_missing = "nvdisasm is missing; it comes with the CUDA toolkit or the PyPI package "
                             "nvidia-cuda-nvdisasm (WARPWRIGHT_NVDISASM names one elsewhere)";
        return ok();
    }
    WW_TRY(text, toolchain::disassemble(image.cubin, image.source, sass::listing_options()));
    image.sass = std::move(text);
    return ok();
}

Status assemble(Image& image, const toolchain::AssembleOptions& options) {
    WW_TRY(made, toolchain::assemble(image.ptx, image.target, image.source, options));
    image.cubin = made.cubin;
    image.ptxas_log = made.log;
    image.flags.push_back(fmt::format("ptxas {}", join(made.options, " ")));
    return disassemble(image);
}

// NVRTC stops at host code; the message then says who takes it.
Failure with_hint(Diagnostics messages, const toolchain::CompileRequest& request) {
    if (request.source.find("<<<") != std::string::npos || request.source.find("int main(") != std::string::npos)
        messages.push_back({.severity = Severity::note, .file = request.name,
                            .message = "this file has host code, which NVRTC does not take; --frontend nvcc does"});
    return fail(std::move(messages));
}

Result<Image> compile(toolchain::CompileRequest request, const std::string& target, bool nvcc = false) {
    request.target = target;
    const auto made_ptx = nvcc ? toolchain::compile_ptx_nvcc(request) : toolchain::compile_ptx(request);
    if (!made_ptx) return nvcc ? made_ptx.failure() : with_hint(made_ptx.error(), request);
    const toolchain::Compiled& compiled = *made_ptx;
    Image image;
    image.target = target;
    image.source = request.name;
    image.stem = fs::path(request.name).stem().string();
    image.ptx = compiled.ptx;
    image.flags.push_back(fmt::format("{} {}", nvcc ? "nvcc" : "nvrtc", join(compiled.options, " ")));
    WW_TRY(made, assemble(image, ladder::assemble_options(request.options)));
    (void)made;
    return image;
}

Result<Image> from_ptx(const fs::path& path, std::string ptx, const std::string& target,
                       const toolchain::AssembleOptions& options) {
    Image image;
    image.target = target;
    image.source = path.string();
    image.stem = path.stem().string();
    image.ptx = std::move(ptx);
    WW_TRY(made, assemble(image, options));
    (void)made;
    return image;
}

Result<Image> from_cubin(const fs::path& path) {
    Image image;
    WW_TRY(bytes, read_file(path));
    image.cubin = std::move(bytes);
    image.source = path.string();
    image.stem = path.stem().string();
    WW_TRY(read, cubin::read(image.cubin, image.source));
    image.target = read.target;
    image.ptx = read.ptx;
    if (!read.tool_options.empty())
        image.flags.push_back(read.tool + " " + std::string(trim(read.tool_options)));
    // "x.sm_90a.cubin" is x for sm_90a.
    if (image.stem.ends_with("." + image.target))
        image.stem.resize(image.stem.size() - image.target.size() - 1);
    WW_TRY(listed, disassemble(image));
    (void)listed;
    return image;
}

// ".target sm_90a" of PTX text.
Result<std::string> target_of_ptx(std::string_view ptx, const fs::path& path) {
    for (const std::string_view line : split(ptx, '\n'))
        if (const auto words = split_words(line); words.size() > 1 && words[0] == ".target")
            return std::string(words[1].substr(0, words[1].find(',')));
    return fail(Diagnostic{.file = path.string(), .message = "PTX without a .target line"});
}

// The defines in which builds of one entry differ, as ".NAME_VALUE".
std::string variant_of(const ladder::Build& build, const std::vector<ladder::Build>& all) {
    std::string out;
    std::set<std::string> implementations;
    for (const ladder::Build& other : all)
        if (other.entry == build.entry) implementations.insert(other.implementation);
    if (implementations.size() > 1) out += "." + build.implementation;
    for (const auto& [name, value] : build.request.defines) {
        std::set<std::string> values;
        for (const ladder::Build& other : all)
            if (other.entry == build.entry)
                for (const auto& [other_name, other_value] : other.request.defines)
                    if (other_name == name) values.insert(other_value);
        if (values.size() > 1) out += fmt::format(".{}_{}", name, value);
    }
    return out;
}

Result<Image> image_of(const ladder::Build& build, const std::string& target, int trial) {
    using Source = port::KernelImpl::Source;
    if (build.kernel.kind == Source::cubin) return from_cubin(build.kernel.source);
    if (build.kernel.kind == Source::ptx) {
        WW_TRY(ptx, read_file(build.kernel.source));
        return from_ptx(build.kernel.source, std::move(ptx), target, ladder::assemble_options(build.kernel.options));
    }
    toolchain::CompileRequest request = build.request;
    request.trial = trial;
    return compile(std::move(request), target);
}

Result<std::vector<Image>> from_port(const Request& request) {
    WW_TRY(port, port::load_port(request.path));
    WW_TRY(builds, ladder::builds_of(port, request.plans));
    if (builds.empty())
        return fail(Diagnostic{.file = port.file.string(), .message = "no implementation of this port is a kernel"});
    std::vector<Image> out;
    for (const ladder::Build& build : builds) {
        std::vector<std::string> targets = request.targets;
        if (targets.empty()) {
            const std::string& own = build.kernel.target.empty() ? port.target : build.kernel.target;
            targets.push_back(own.empty() ? "sm_90a" : own);
        }
        for (const std::string& target : targets) {
            const std::string stem = build.entry + variant_of(build, builds);
            if (!request.files.empty() && request.files.count(stem + "." + target) == 0) continue;
            WW_TRY(image, image_of(build, target, request.trial));
            image.stem = stem;
            image.entry = build.entry;
            image.implementation = build.implementation;
            image.stages = build.stages;
            image.cases = build.cases;
            image.threads = static_cast<int>(build.threads);
            image.shared_bytes = build.shared_bytes;
            out.push_back(std::move(image));
        }
    }
    return out;
}

Result<std::vector<Image>> from_cuda(const Request& request) {
    toolchain::CompileRequest compile_request;
    WW_TRY(source, read_file(request.path));
    compile_request.source = std::move(source);
    compile_request.name = request.path.string();
    compile_request.defines = request.defines;
    compile_request.include_dirs = request.include_dirs;
    compile_request.options = request.options;
    std::vector<std::string> targets = request.targets;
    if (targets.empty()) targets.push_back("sm_90a");
    std::vector<Image> out;
    for (const std::string& target : targets) {
        WW_TRY(image, compile(compile_request, target, request.nvcc));
        out.push_back(std::move(image));
    }
    return out;
}

Result<std::vector<Image>> images_of(const Request& request) {
    const std::string extension = request.path.extension().string();
    std::error_code code;
    if (!fs::exists(request.path, code)) return fail(fmt::format("{}: no such file or folder", request.path.string()));
    if (fs::is_directory(request.path, code) || extension == ".toml") return from_port(request);
    if (extension == ".cu") return from_cuda(request);
    std::vector<Image> out;
    if (extension == ".ptx") {
        WW_TRY(ptx, read_file(request.path));
        std::vector<std::string> targets = request.targets;
        if (targets.empty()) {
            WW_TRY(own, target_of_ptx(ptx, request.path));
            targets.push_back(own);
        }
        for (const std::string& target : targets) {
            WW_TRY(image, from_ptx(request.path, ptx, target, {.options = request.options}));
            out.push_back(std::move(image));
        }
        return out;
    }
    if (extension == ".cubin") {
        WW_TRY(image, from_cubin(request.path));
        for (const std::string& target : request.targets)
            if (target != image.target)
                return fail(Diagnostic{.file = request.path.string(),
                                       .message = fmt::format("this cubin is for {}, not for {}; leave --target out, "
                                                              "or give its source or PTX",
                                                              image.target, target)});
        out.push_back(std::move(image));
        return out;
    }
    return fail(fmt::format("{}: neither a port (a folder or port.toml) nor .cu, .ptx or .cubin",
                            request.path.string()));
}

}  // namespace

Result<std::vector<Image>> collect(const Request& request) {
    for (const std::string& target : request.targets) {
        WW_TRY(checked, parse_target(target));
        (void)checked;
    }
    WW_TRY(images, images_of(request));
    for (Image& image : images) {
        if (request.threads > 0) image.threads = request.threads;
        if (request.shared_bytes > 0) image.shared_bytes = request.shared_bytes;
    }
    return std::move(images);
}

}  // namespace ww::inspect
