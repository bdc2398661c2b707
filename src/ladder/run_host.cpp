// SPDX-License-Identifier: Apache-2.0
// Library and process implementations, and what all kinds share.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "ladder/runner.hpp"
#include "ladder/seconds.hpp"
#include "port/safetensors.hpp"
#include "toolchain/process.hpp"

namespace ww::ladder {
namespace {

// Everything a command must know besides the tensors.
std::map<std::string, std::string> metadata_of(const RunRequest& request) {
    std::map<std::string, std::string> out;
    out["stage"] = request.stage->name;
    out["taps"] = std::to_string(static_cast<int>(request.taps));
    for (const auto& [name, value] : request.scope->integers) {
        out["axis:" + name] = std::to_string(value);
        out["scalar:" + name] = std::to_string(value);
    }
    for (const auto& [name, value] : request.scope->reals)
        out["scalar:" + name] = fmt::format("{}", value);
    return out;
}

std::string last_lines(std::string_view text, size_t count) {
    const auto lines = split(trim(text), '\n');
    const size_t first = lines.size() > count ? lines.size() - count : 0;
    std::string out;
    for (size_t i = first; i < lines.size(); ++i) out += std::string(lines[i]) + "\n";
    return std::string(trim(out));
}

// The tensors that a command was to write, with the types and shapes that they were to have.
Status take_results(const port::SafetensorsFile& file, TensorMap& wanted) {
    for (auto& [name, tensor] : wanted) {
        const port::Tensor* written = file.find(name);
        if (!written) return fail(fmt::format("the command did not write tensor {}", name));
        if (written->layout.dtype != tensor.layout.dtype ||
            written->layout.shape != tensor.layout.shape)
            return fail(fmt::format("the command wrote {} as {}; it is to be {}", name,
                                    written->layout.text(), tensor.layout.text()));
        for (int64_t i = 0; i < tensor.layout.elements; ++i) tensor.set_code(i, written->code(i));
    }
    return ok();
}

}  // namespace

Failure failure_of(FailureKind kind, const std::string& stage, const Diagnostics& diagnostics) {
    Failure failure{.kind = kind, .stage = stage, .diagnostics = diagnostics};
    failure.message = diagnostics.empty() ? std::string(name(kind)) : diagnostics.front().message;
    return failure;
}

bool Runner::has_taps(const port::StageImpl& impl, const port::Stage& stage) const {
    const auto* kernel = std::get_if<port::KernelImpl>(&impl.value);
    return kernel && (!kernel->tap_args.empty() || !kernel->plan.empty()) && !stage.taps.empty();
}

Result<port::Layout> Runner::layout(const std::string& tensor, const RunRequest& request) const {
    const port::TensorSpec* spec = port_.tensor(tensor);
    WW_CHECK(spec != nullptr, tensor);
    if (request.in_double && port::info(port::dtype_of(*spec, *request.scope)).is_float)
        return port::layout_of(*spec, *request.scope, port::Dtype::f64);
    return port::layout_of(*spec, *request.scope);
}

Result<TensorMap> Runner::make_results(const std::vector<std::string>& names,
                                       const RunRequest& request) const {
    TensorMap out;
    for (const std::string& name : names) {
        WW_TRY(shape, layout(name, request));
        WW_TRY(tensor, port::Tensor::zeros(name, shape));
        std::fill(tensor.bytes.begin(), tensor.bytes.end(), static_cast<std::byte>(request.poison));
        out.emplace(name, std::move(tensor));
    }
    return out;
}

RunResult Runner::run_library(const RunRequest& request, const port::LibraryImpl& library) {
    RunResult result;
    const auto start = std::chrono::steady_clock::now();
    LibraryCall call{.scope = request.scope, .folder = port_.folder, .device = &device_};
    const auto call_it = [&]() -> Status {
        const auto function = find_library(libraries_, library.symbol, library.path);
        call.fits = function.has_value();
        if (!function) return function.failure();
        WW_TRY(outputs, make_results(request.stage->outputs, request));
        result.outputs = std::move(outputs);
        if (request.taps) {
            WW_TRY(taps, make_results(request.stage->taps, request));
            result.taps = std::move(taps);
        }
        for (const std::string& name : request.stage->inputs)
            call.inputs[name] = &request.inputs->at(name);
        for (const port::Tensor* tensor : request.given) call.inputs[tensor->name] = tensor;
        for (auto& [name, tensor] : result.outputs) call.outputs[name] = &tensor;
        for (auto& [name, tensor] : result.taps) call.taps[name] = &tensor;
        return (*function)(call);
    };
    const Status status = call_it();
    if (!status && call.fits)
        result.failure = failure_of(FailureKind::stopped, request.stage->name, status.error());
    else if (!status)
        result.failure = failure_of(FailureKind::arguments, request.stage->name,
                                    port::placed(status.error(), request.impl->place));
    result.seconds = seconds_since(start);
    return result;
}

RunResult Runner::run_process(const RunRequest& request, const port::ProcessImpl& process) {
    RunResult result;
    const auto start = std::chrono::steady_clock::now();
    const auto run_it = [&]() -> Status {
        WW_TRY(folder, toolchain::TemporaryFolder::make());
        const auto in = folder.path() / "in.safetensors", out = folder.path() / "out.safetensors";
        port::SafetensorsFile file{.metadata = metadata_of(request)};
        for (const std::string& name : request.stage->inputs)
            file.tensors.push_back(request.inputs->at(name));
        WW_TRY(written, port::write_safetensors(in, file));
        (void)written;
        toolchain::Command command;
        for (std::string argument : process.argv) {
            const std::pair<std::string_view, std::string> names[] = {
                {"{in}", in.string()}, {"{out}", out.string()}, {"{port}", port_.folder.string()}};
            for (const auto& [key, value] : names)
                for (size_t at = argument.find(key); at != std::string::npos;
                     at = argument.find(key, at + value.size()))
                    argument.replace(at, key.size(), value);
            command.argv.push_back(std::move(argument));
        }
        command.folder = port_.folder;
        command.timeout = std::chrono::milliseconds(static_cast<int64_t>(process.timeout_s * 1000));
        WW_TRY(finished, toolchain::run_process(command));
        if (finished.exit_code != 0)
            return fail(fmt::format("the command ended with code {}: {}", finished.exit_code,
                                    last_lines(finished.err, 5)));
        if (!std::filesystem::exists(out)) return fail("the command ended well, but wrote no {out}");
        WW_TRY(back, port::read_safetensors(out));
        WW_TRY(outputs, make_results(request.stage->outputs, request));
        result.outputs = std::move(outputs);
        WW_TRY(taken, take_results(back, result.outputs));
        (void)taken;
        if (!request.taps) return ok();
        WW_TRY(taps, make_results(request.stage->taps, request));
        result.taps = std::move(taps);
        return take_results(back, result.taps);
    };
    const Status status = run_it();
    if (!status)
        result.failure = failure_of(FailureKind::stopped, request.stage->name, status.error());
    result.seconds = seconds_since(start);
    return result;
}

RunResult Runner::run(const RunRequest& request) {
    if (!request.races) return run_once(request);
    device_.check_races(request.races);
    (void)device_.take_races();
    RunResult result = run_once(request);
    device_.check_races(std::nullopt);
    result.races = device_.take_races();
    return result;
}

RunResult Runner::run_once(const RunRequest& request) {
    if (const auto* kernel = std::get_if<port::KernelImpl>(&request.impl->value))
        return run_kernel(request, *kernel);
    if (const auto* library = std::get_if<port::LibraryImpl>(&request.impl->value))
        return run_library(request, *library);
    return run_process(request, std::get<port::ProcessImpl>(request.impl->value));
}

}  // namespace ww::ladder
