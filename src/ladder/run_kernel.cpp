// SPDX-License-Identifier: Apache-2.0
// Kernel implementations: source -> image -> loaded kernel, and one launch over guarded buffers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "ladder/buffers.hpp"
#include "ladder/builds.hpp"
#include "ladder/compare.hpp"
#include "ladder/image.hpp"
#include "ladder/runner.hpp"
#include "toolchain/compiler_messages.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::ladder {
namespace {

using port::KernelImpl;

Result<device::Image> image_from_file(const std::filesystem::path& path, device::Image::Kind kind) {
    WW_TRY(bytes, read_file(path));
    return device::Image{.kind = kind, .name = path.string(), .bytes = std::move(bytes)};
}

// Copies of a store that the compiler unrolled are one; without line info it is the instruction.
std::string place_of(const device::WriteRecord& record) {
    if (record.source_file.empty())
        return fmt::format("{}|{}|{}", record.kernel, record.ptx_line, record.instruction);
    std::string out = fmt::format("{}:{}", record.source_file, record.source_line);
    for (const device::SourceLine& each : record.call_sites)
        out += fmt::format("|{}:{}", each.file, each.line);
    return out;
}

// Of a stage's other tensors of the same shape, who wrote the traced element.
std::vector<RunResult::Writer> same_element_writers(const device::Device& device, const Buffers& buffers,
                                                    const RunRequest& request) {
    const RunRequest::Trace& trace = *request.trace;
    std::vector<std::string> names = request.stage->outputs;
    if (request.taps)
        names.insert(names.end(), request.stage->taps.begin(), request.stage->taps.end());
    std::vector<RunResult::Writer> out;
    for (const std::string& name : names) {
        if (name == trace.tensor || buffers.shape(name) != buffers.shape(trace.tensor)) continue;
        if (auto record = device.last_write(buffers.address(name, trace.linear)))
            out.push_back({name, trace.linear, std::move(*record)});
    }
    return out;
}

std::vector<RunResult::Writer> other_writers(const device::Device& device, const Buffers& buffers,
                                             const RunRequest& request, int64_t elements) {
    constexpr size_t kPlaces = 6;       // a list that a person reads
    constexpr int64_t kReach = 32'768;  // elements on each side: about a second on the emulator
    const RunRequest::Trace& trace = *request.trace;
    std::vector<RunResult::Writer> out;
    std::set<std::string> places;
    for (int64_t distance = 1; distance <= std::min(kReach, elements); ++distance)
        for (const int64_t linear : {trace.linear - distance, trace.linear + distance}) {
            if (linear < 0 || linear >= elements) continue;
            auto record = device.last_write(buffers.address(trace.tensor, linear));
            if (!record || !places.insert(place_of(*record)).second) continue;
            out.push_back({trace.tensor, linear, std::move(*record)});
            if (out.size() == kPlaces) return out;
        }
    return out.empty() ? same_element_writers(device, buffers, request) : out;
}

// Where the port.toml asked for what the compiler refuses: the option that its message names.
const port::Place& refused_place(const Diagnostics& refused, const KernelImpl& kernel,
                                 const port::Place& implementation) {
    for (const Diagnostic& each : refused) {
        if (each.message.find("gpu-architecture") != std::string::npos &&
            kernel.target_place.source)
            return kernel.target_place;
        for (size_t i = 0; i < kernel.options.size() && i < kernel.option_places.size(); ++i)
            if (each.message.find(kernel.options[i]) != std::string::npos)
                return kernel.option_places[i];
    }
    return kernel.target_place.source ? kernel.target_place : implementation;
}

std::vector<const port::Arg*> args_of(const RunRequest& request, const KernelImpl& kernel) {
    std::vector<const port::Arg*> args;
    for (const port::Arg& arg : kernel.args) args.push_back(&arg);
    if (request.taps)
        for (const port::Arg& arg : kernel.tap_args) args.push_back(&arg);
    return args;
}

// Names for the tensors of a launch that is only checked, not run.
device::Address no_address(const std::string&) { return 512; }

}  // namespace

Result<device::Image> Runner::image_of(const RunRequest& request, const KernelImpl& kernel,
                                       Text& text) const {
    const bool taps = request.taps;
    const auto& path = taps && !kernel.taps_source.empty() ? kernel.taps_source : kernel.source;
    if (kernel.kind == KernelImpl::Source::cubin)
        return image_from_file(path, device::Image::Kind::cubin);
    const device::Info info = device_.info();
    const std::string target = kernel.target.empty() ? info.target : kernel.target;
    if (kernel.kind == KernelImpl::Source::ptx) {
        WW_TRY(ptx, image_from_file(path, device::Image::Kind::ptx));
        text.ptx = ptx.bytes;
        return image_for(info, std::move(ptx), target, kernel.options);
    }
    WW_TRY(compile, compile_request(kernel, *request.scope, target, taps));
    auto compiled = toolchain::compile_ptx(compile);
    if (!compiled)
        return fail(port::placed(compiled.error(),
                                 refused_place(compiled.error(), kernel, request.impl->place)));
    text.ptx = compiled->ptx;
    text.warnings = toolchain::parse_nvrtc_log(compiled->log);
    return image_for(info, ptx_image(compile.name, std::move(compiled->ptx)), target, kernel.options);
}

Result<KernelImpl> Runner::planned(const KernelImpl& kernel, const RunRequest& request) const {
    return plan_kernel(port_, plans_, kernel, request.impl->place, *request.scope,
                       request.stage->name);
}

Status Runner::check_entry(const KernelImpl& kernel, device::ModuleId module,
                           const std::string& image) const {
    const auto known = device_.kernels(module);
    if (!known) return ok();  // device_.kernel() will say what it can
    const std::vector<std::string> names = nearest_first(kernel.entry, *known);
    if (std::find(names.begin(), names.end(), kernel.entry) != names.end()) return ok();
    std::string message = kernel.entry.empty()
                              ? std::string("'entry' is empty")
                              : fmt::format("there is no kernel '{}'", kernel.entry);
    message += fmt::format("; {} has {}", display_path(image),
                           names.empty() ? "no kernel at all" : join(names, ", "));
    for (const std::string& name : names)
        if (!kernel.entry.empty() && name.starts_with("_Z") &&
            name.find(kernel.entry) != std::string::npos)
            message += fmt::format(" ({} may be it: declare the kernel extern \"C\")", name);
    return fail(kernel.entry_place.error(message));
}

Result<std::string> Runner::key_of(const RunRequest& request, const KernelImpl& kernel) const {
    WW_TRY(defines, port::defines_of(kernel, *request.scope));
    std::string key = build_key(kernel, defines);
    if (request.taps) key += "|" + kernel.tap_define + "|" + kernel.taps_source.string();
    return key;
}

Result<const Runner::Loaded*> Runner::load(const RunRequest& request, const KernelImpl& kernel) {
    WW_TRY(key, key_of(request, kernel));
    if (const auto found = kernels_.find(key); found != kernels_.end()) return &found->second;
    Loaded loaded;
    WW_TRY(image, image_of(request, kernel, loaded.text));
    WW_TRY(module, device_.load(image));
    WW_TRY(named, check_entry(kernel, module, image.name));
    (void)named;
    WW_TRY(id, device_.kernel(module, kernel.entry));
    loaded.id = id;
    loaded.image_hash = hash_text(std::as_bytes(std::span(image.bytes)));
    return &kernels_.emplace(std::move(key), std::move(loaded)).first->second;
}

Result<Runner::Ready> Runner::ready(
    const RunRequest& request, const KernelImpl& given,
    const std::function<device::Address(const std::string&)>& address_of) {
    WW_TRY(kernel, planned(given, request));
    WW_TRY(loaded, load(request, kernel));
    WW_TRY(launch, launch_of(request, kernel, address_of));
    WW_TRY(fits, check_fit(request, kernel, loaded->id, launch));
    (void)fits;
    return Ready{.kernel = loaded->id, .launch = std::move(launch), .entry = kernel.entry,
                 .image_hash = loaded->image_hash};
}

const Runner::Text* Runner::text_of(const RunRequest& request, const KernelImpl& kernel) const {
    const auto key = key_of(request, kernel);
    const auto found = key ? kernels_.find(key.value()) : kernels_.end();
    return found == kernels_.end() || found->second.text.ptx.empty() ? nullptr : &found->second.text;
}

Result<device::Launch> Runner::launch_of(
    const RunRequest& request, const KernelImpl& kernel,
    const std::function<device::Address(const std::string&)>& address_of) const {
    WW_TRY(size, port::launch_size(kernel, *request.scope));
    const auto dim = [](const std::array<uint32_t, 3>& d) { return device::Dim3{d[0], d[1], d[2]}; };
    device::Launch launch;
    launch.grid = dim(size.grid);
    launch.block = dim(size.block);
    launch.cluster = dim(size.cluster);
    launch.dynamic_shared_bytes = size.shared_bytes;
    launch.cooperative = kernel.cooperative;
    for (const port::Arg* arg : args_of(request, kernel)) {
        WW_TRY(value, argument(*arg, *request.scope, address_of));
        launch.arguments.push_back(std::move(value));
    }
    return launch;
}

Failure Runner::failure_at(FailureKind otherwise, const std::string& stage,
                           const Diagnostics& diagnostics) const {
    const bool wrong_input =
        std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& each) {
            return each.severity == Severity::error && each.file == port_.file.string();
        });
    return failure_of(wrong_input ? FailureKind::arguments : otherwise, stage, diagnostics);
}

std::optional<Failure> Runner::prepare(const RunRequest& request) {
    const std::string& stage = request.stage->name;
    if (const auto* library = std::get_if<port::LibraryImpl>(&request.impl->value)) {
        const auto found = find_library(libraries_, library->symbol, library->path);
        if (!found)
            return failure_of(FailureKind::arguments, stage,
                              port::placed(found.error(), request.impl->place));
    }
    if (const auto* given = std::get_if<KernelImpl>(&request.impl->value)) {
        const auto kernel = planned(*given, request);
        if (!kernel) return failure_of(FailureKind::arguments, stage, kernel.error());
        const auto loaded = load(request, *kernel);
        if (!loaded) return failure_at(FailureKind::compile, stage, loaded.error());
    }
    return std::nullopt;
}

Status Runner::check_fit(const RunRequest& request, const KernelImpl& kernel,
                         device::KernelId loaded, const device::Launch& launch) const {
    WW_TRY(params, device_.params(loaded));
    const std::vector<const port::Arg*> args = args_of(request, kernel);
    for (size_t i = 0; i < std::min(params.size(), args.size()); ++i) {
        const Status fits = device::check_argument(kernel.entry, params[i], i, launch.arguments[i]);
        if (!fits) return fail(port::placed(fits.error(), args[i]->place));
    }
    const Status fits = device_.check(loaded, launch);
    if (fits) return ok();
    // Is it the dynamic shared memory? Its size has a place of its own.
    device::Launch without = launch;
    without.dynamic_shared_bytes = 0;
    const port::Place& shared = kernel.shared_bytes.place();
    const bool blame_shared = shared.source && device_.check(loaded, without);
    return fail(port::placed(fits.error(), blame_shared ? shared : request.impl->place));
}

std::optional<Failure> Runner::check_launch(const RunRequest& request) {
    if (auto failure = prepare(request)) return failure;
    const auto* given = std::get_if<KernelImpl>(&request.impl->value);
    if (!given) return std::nullopt;
    const auto check = [&]() -> Status {
        WW_TRY(kernel, planned(*given, request));
        WW_TRY(loaded, load(request, kernel));
        WW_TRY(launch, launch_of(request, kernel, no_address));
        return check_fit(request, kernel, loaded->id, launch);
    };
    if (const Status status = check(); !status)
        return failure_of(FailureKind::arguments, request.stage->name,
                          port::placed(status.error(), request.impl->place));
    return std::nullopt;
}

RunResult Runner::run_kernel(const RunRequest& request, const KernelImpl& given) {
    RunResult result;
    Buffers buffers(device_, request.poison);
    std::optional<Intrusion> intrusion;
    const auto launch = [&]() -> Status {
        const port::Stage& stage = *request.stage;
        for (const std::string& name : stage.inputs) {
            WW_TRY(added, buffers.add_input(request.inputs->at(name)));
            (void)added;
        }
        std::vector<std::string> written = stage.outputs;
        written.insert(written.end(), stage.scratch.begin(), stage.scratch.end());
        if (request.taps) written.insert(written.end(), stage.taps.begin(), stage.taps.end());
        for (const std::string& name : written) {
            WW_TRY(shape, layout(name, request));
            WW_TRY(added, buffers.add_output(name, shape));
            (void)added;
        }
        WW_TRY(what, ready(request, given,
                           [&](const std::string& name) { return buffers.address(name); }));
        WW_TRY(report, device_.launch(what.kernel, what.launch));
        result.seconds = report.seconds;
        if (on_printf_ && !report.printf_output.empty()) on_printf_(report.printf_output);
        WW_TRY(found, buffers.intrusion());
        intrusion = found;
        for (const std::string& name : stage.outputs) {
            WW_TRY(tensor, buffers.read(name));
            result.outputs.emplace(name, std::move(tensor));
        }
        for (const std::string& name : request.taps ? stage.taps : std::vector<std::string>{}) {
            WW_TRY(tensor, buffers.read(name));
            result.taps.emplace(name, std::move(tensor));
        }
        if (request.timed == 0) return ok();
        WW_TRY(times, device_.time_launches(what.kernel, what.launch, request.timed));
        result.times = std::move(times);
        return ok();
    };
    device_.trace_writes(request.trace.has_value());
    const Status status = launch();
    if (!status) {
        result.failure = failure_at(FailureKind::stopped, request.stage->name, status.error());
        result.failure->waits = device_.take_waits();
    } else if (intrusion) {
        result.failure = failure_of(
            intrusion->is_input ? FailureKind::input_modified : FailureKind::out_of_bounds,
            request.stage->name, {Diagnostic{.message = intrusion->message}});
    }
    if (request.trace) {
        if (intrusion)
            result.written_by = device_.last_write(intrusion->address);
        else if (status && !request.trace->tensor.empty())
            result.written_by =
                device_.last_write(buffers.address(request.trace->tensor, request.trace->linear));
        if (status && !intrusion && request.trace->others)
            if (const auto shape = layout(request.trace->tensor, request))
                result.other_writers =
                    other_writers(device_, buffers, request, shape->elements);
    }
    device_.trace_writes(false);
    return result;
}

}  // namespace ww::ladder
