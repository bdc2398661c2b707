// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_variants.hpp"

#include <fmt/format.h>

#include <exception>
#include <system_error>

#include "base/files.hpp"
#include "sage3/sage3_sources.hpp"
#include "toolchain/found.hpp"

namespace ww::sage3 {
namespace {

std::string key_of(const Step& step, const std::string& target) {
    std::string key = target;
    (key += '|') += step.source;
    for (const auto& [name, value] : step.defines) ((key += '|') += name) += '=' + value;
    return key;
}

// As a user of the library can act on it.
Status check_compiler() {
    const toolchain::Found nvrtc = toolchain::find_part("nvrtc");
    if (nvrtc.origin != toolchain::Origin::missing) return ok();
    return fail(fmt::format(
        "NVRTC, which compiles the kernels at first use, was not found{}: install it (pip install "
        "nvidia-cuda-nvrtc, or a CUDA 13 toolkit) or set WARPWRIGHT_NVRTC to the path of libnvrtc.so.13",
        nvrtc.path.empty() ? "" : fmt::format(" at {} (WARPWRIGHT_NVRTC)", nvrtc.path.string())));
}

}  // namespace

Result<toolchain::CompileRequest> Variants::request_for(const Step& step, const std::string& target) const {
    toolchain::CompileRequest request;
    request.target = target;
    request.defines = step.defines;
    if (folder_.empty()) {
        request.name = std::string(step.source);
        request.source = std::string(embedded_source(step.source));
        WW_CHECK(!request.source.empty(), "no such source in the library: " + request.name);
        request.line_info = false;
        request.cuda_headers = false;
        return request;
    }
    request.name = (folder_ / step.source).string();
    WW_TRY(source, read_file(request.name));
    request.source = std::move(source);
    return request;
}

Result<uint64_t> Variants::load(const Step& step, const std::string& target) {
    WW_TRY(found, check_compiler());
    (void)found;
    WW_TRY(request, request_for(step, target));
    return backend_.load(request);
}

// Ready, being made by another thread, or made now.
Variants::Loaded Variants::module(const Step& step, const std::string& target, const std::string& key) {
    std::promise<Result<uint64_t>> promise;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
        modules_.emplace(key, promise.get_future().share());
    }
    Result<uint64_t> loaded = fail("");
    try {
        loaded = load(step, target);
    } catch (const std::exception& error) {  // the other threads wait for an answer, too
        loaded = fail(error.what());
    }
    const std::lock_guard lock(mutex_);
    const Loaded out = modules_.at(key);
    promise.set_value(loaded);
    if (!loaded) modules_.erase(key);  // what was missing may be there at the next call
    return out;
}

Result<uint64_t> Variants::kernel(const std::string& module_key, uint64_t module, const Step& step) {
    const std::string key = module_key + '|' + std::string(step.entry);
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
    }
    WW_TRY(kernel, backend_.kernel(module, std::string(step.entry)));
    const std::lock_guard lock(mutex_);
    return kernels_.emplace(key, kernel).first->second;
}

// Those of a plan that nobody has made yet, by a thread each but the first, for NVRTC takes half a second or more for one. Without
// threads the caller makes them all.
std::vector<std::future<void>> Variants::make_beside(const Plan& plan, const std::vector<std::string>& keys,
                                                     const std::string& target) {
    std::map<std::string_view, const Step*> missing;
    {
        const std::lock_guard lock(mutex_);
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i] != keys[0] && !modules_.contains(keys[i])) missing.emplace(keys[i], &plan.steps[i]);
    }
    std::vector<std::future<void>> out;
    try {
        for (const auto& [key, step] : missing)
            out.push_back(std::async(std::launch::async, [this, key = std::string(key), step, &target] { module(*step, target, key); }));
    } catch (const std::system_error&) {
    }
    return out;
}

Result<std::vector<uint64_t>> Variants::kernels(const Plan& plan, const std::string& target) {
    std::vector<std::string> keys;
    for (const Step& step : plan.steps) keys.push_back(key_of(step, target));
    const std::vector<std::future<void>> beside = make_beside(plan, keys, target);  // their end is waited for in any case
    std::vector<uint64_t> out;
    for (size_t i = 0; i < keys.size(); ++i) {
        const Loaded loaded = module(plan.steps[i], target, keys[i]);
        if (!loaded.get()) return loaded.get().failure();
        WW_TRY(made, kernel(keys[i], *loaded.get(), plan.steps[i]));
        out.push_back(made);
    }
    return out;
}

}  // namespace ww::sage3
