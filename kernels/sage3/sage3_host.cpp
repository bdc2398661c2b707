// SPDX-License-Identifier: Apache-2.0
// sage3.h: checks, workspace, launches of the plan's steps, and errors as codes with a message.
#include "sage3/sage3_host.hpp"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <memory>
#include <vector>

#include "base/files.hpp"
#include "device/scoped_memory.hpp"
#include "ladder/image.hpp"
#include "sage3/sage3_plan.hpp"

struct ww_sage3 {
    std::unique_ptr<ww::device::Device> owned;
    ww::device::Device* device = nullptr;
    std::filesystem::path kernels;
    std::map<std::string, ww::device::KernelId> loaded;  // by source, entry and defines
    std::vector<ww::device::ModuleId> modules;           // that they are from
    std::string message;

    ~ww_sage3() {  // the device may live on
        for (const ww::device::ModuleId each : modules) (void)device->unload(each);
    }
};

namespace ww::sage3 {
namespace {

using device::Address;

// A step's buffers by name: the caller's, and the workspace for as long as the call lasts.
class Buffers {
  public:
    explicit Buffers(device::Device& device) : workspace_(device) {}
    void add(std::string_view name, const void* memory) {
        addresses_[name] = reinterpret_cast<Address>(memory);
    }
    Status allocate(std::string_view name, uint64_t bytes) {
        WW_TRY(address, workspace_.allocate(fmt::format("workspace '{}'", name), bytes));
        addresses_[name] = address;
        return ok();
    }
    Address at(std::string_view name) const {
        const auto found = addresses_.find(name);
        WW_CHECK(found != addresses_.end(), std::string(name));
        return found->second;
    }

  private:
    device::ScopedMemory workspace_;
    std::map<std::string_view, Address> addresses_;
};

Failure invalid(std::string_view argument, const std::string& what) {
    return fail(fmt::format("{} {}", argument, what));
}

Status check_pointers(const ww_sage3_problem& problem) {
    for (const auto& [name, data, align] :
         {std::tuple{"q", static_cast<const void*>(problem.q.data), 2u},
          {"k", problem.k.data, 2u}, {"v", problem.v.data, 2u}, {"o", problem.o.data, 2u},
          {"lse", problem.lse, 4u}}) {
        if (!data && name != std::string_view("lse")) return invalid(name, "is null");
        if (reinterpret_cast<uintptr_t>(data) % align != 0)
            return invalid(name, fmt::format("is {}: not aligned to {} bytes", data, align));
    }
    return ok();
}

Strides strides_of(const ww_sage3_tensor& tensor) { return {tensor.batch, tensor.head, tensor.token}; }

Request request_of(const ww_sage3_problem& p) {
    Request out;
    out.problem = {.b = p.batches, .h = p.heads, .h_kv = p.kv_heads, .lq = p.queries, .lk = p.keys,
                   .d = p.head_dim, .scale = static_cast<double>(p.scale),
                   .causal = static_cast<Causal>(p.causal)};
    out.type = static_cast<Type>(p.type);
    out.q = strides_of(p.q), out.k = strides_of(p.k), out.v = strides_of(p.v), out.o = strides_of(p.o);
    return out;
}

Result<device::KernelId> load(ww_sage3& handle, const Step& step) {
    std::string key = fmt::format("{}|{}", step.source, step.entry);
    for (const auto& [name, value] : step.defines) key += fmt::format("|{}={}", name, value);
    if (const auto found = handle.loaded.find(key); found != handle.loaded.end()) return found->second;
    const device::Info info = handle.device->info();
    toolchain::CompileRequest request;
    request.name = (handle.kernels / step.source).string();
    WW_TRY(source, read_file(request.name));
    request.source = std::move(source);
    request.target = info.target;
    request.defines = step.defines;
    WW_TRY(image, ladder::compile_image(info, request));
    WW_TRY(module, handle.device->load(image));
    handle.modules.push_back(module);
    WW_TRY(kernel, handle.device->kernel(module, std::string(step.entry)));
    handle.loaded.emplace(std::move(key), kernel);
    return kernel;
}

device::Argument argument_of(const Argument& argument, const Buffers& buffers) {
    if (const auto* buffer = std::get_if<Buffer>(&argument))
        return device::Argument::of(buffers.at(buffer->name));
    return std::visit([](const auto& value) { return device::Argument::of(value); }, argument);
}

Status run(ww_sage3& handle, const Plan& plan, const ww_sage3_problem& problem) {
    std::vector<device::KernelId> kernels;
    for (const Step& step : plan.steps) {  // all compile before any runs
        WW_TRY(kernel, load(handle, step));
        kernels.push_back(kernel);
    }
    Buffers buffers(*handle.device);
    for (const auto& [name, memory] :
         {std::pair{"q", problem.q.data}, {"k", problem.k.data}, {"v", problem.v.data},
          {"o", problem.o.data}, {"lse", problem.lse}})
        buffers.add(name, memory);
    std::vector<Workspace> needed = plan.workspace;
    if (!problem.lse)
        needed.push_back({"lse", static_cast<uint64_t>(problem.batches * problem.heads * problem.queries) * 4});
    for (const Workspace& each : needed) {
        WW_TRY(allocated, buffers.allocate(each.name, each.bytes));
        (void)allocated;
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
        const Step& step = plan.steps[i];
        device::Launch launch;
        launch.grid.x = step.grid;
        launch.block.x = step.block;
        for (const Argument& each : step.arguments) launch.arguments.push_back(argument_of(each, buffers));
        WW_TRY(report, handle.device->launch(kernels[i], launch));
        (void)report;
    }
    return ok();
}

std::string text_of(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& each : diagnostics) out += (out.empty() ? "" : "\n") + (each.file.empty() ? each.message : format(each));
    return out;
}

ww_sage3_status finish(ww_sage3* handle, ww_sage3_status code, std::string message) {
    handle->message = std::move(message);
    return code;
}

// Nothing is thrown into C.
template <class F>
ww_sage3_status guarded(ww_sage3* handle, F body) {
    if (!handle) return WW_SAGE3_INVALID;
    handle->message.clear();
    try {
        return body();
    } catch (const std::exception& error) {
        return finish(handle, WW_SAGE3_FAILED, error.what());
    }
}

// body(device) is a Status.
template <class F>
ww_sage3_status on_device(ww_sage3* handle, F body) {
    return guarded(handle, [&] {
        if (!handle->device) return finish(handle, WW_SAGE3_NO_DEVICE, "the handle has no device");
        const Status status = body(*handle->device);
        return status ? WW_SAGE3_OK : finish(handle, WW_SAGE3_FAILED, text_of(status.error()));
    });
}

}  // namespace

ww_sage3* wrap(device::Device& device, std::filesystem::path kernels) {
    auto* handle = new ww_sage3;
    handle->device = &device;
    handle->kernels = std::move(kernels);
    return handle;
}

}  // namespace ww::sage3

using namespace ww::sage3;

ww_sage3_status ww_sage3_open(const char* device, ww_sage3** handle) {
    if (!handle) return WW_SAGE3_INVALID;
    *handle = new ww_sage3;
    return guarded(*handle, [&] {
        (*handle)->kernels = WW_SAGE3_FOLDER;
        const std::string_view name = device ? device : "";
        if (name == "emulator") {
            (*handle)->owned = ww::device::open_emulated({.target = "sm_120a"});
        } else if (name == "cuda") {
            auto opened = ww::device::open_cuda();
            if (!opened) return finish(*handle, WW_SAGE3_NO_DEVICE, text_of(opened.error()));
            const ww::device::Info info = opened.value()->info();
            if (info.sm / 10 != 12)
                return finish(*handle, WW_SAGE3_NO_DEVICE,
                              fmt::format("{} is {}: these kernels need sm_120 or sm_121", info.name, info.target));
            (*handle)->owned = std::move(opened).value();
        } else {
            return finish(*handle, WW_SAGE3_INVALID,
                          fmt::format("device is '{}': \"emulator\" or \"cuda\" is due", name));
        }
        (*handle)->device = (*handle)->owned.get();
        return WW_SAGE3_OK;
    });
}

void ww_sage3_close(ww_sage3* handle) { delete handle; }

const char* ww_sage3_message(const ww_sage3* handle) {
    return handle ? handle->message.c_str() : "the handle is null";
}

ww_sage3_status ww_sage3_attention(ww_sage3* handle, const ww_sage3_problem* problem) {
    return guarded(handle, [&] {
        if (!problem) return finish(handle, WW_SAGE3_INVALID, "problem is null");
        if (!handle->device) return finish(handle, WW_SAGE3_NO_DEVICE, "the handle has no device");
        if (const ww::Status sound = check_pointers(*problem); !sound)
            return finish(handle, WW_SAGE3_INVALID, text_of(sound.error()));
        const auto plan = ww::sage3::plan(request_of(*problem));
        if (!plan) return finish(handle, WW_SAGE3_INVALID, text_of(plan.error()));
        const ww::Status done = run(*handle, *plan, *problem);
        return done ? WW_SAGE3_OK : finish(handle, WW_SAGE3_FAILED, text_of(done.error()));
    });
}

ww_sage3_status ww_sage3_allocate(ww_sage3* handle, uint64_t bytes, void** memory) {
    if (!memory) return guarded(handle, [&] { return finish(handle, WW_SAGE3_INVALID, "memory is null"); });
    return on_device(handle, [&](ww::device::Device& device) -> ww::Status {
        WW_TRY(address, device.allocate(bytes));
        *memory = reinterpret_cast<void*>(address);
        return ww::ok();
    });
}

ww_sage3_status ww_sage3_release(ww_sage3* handle, void* memory) {
    return on_device(handle, [&](auto& device) { return device.release(reinterpret_cast<Address>(memory)); });
}

ww_sage3_status ww_sage3_copy_in(ww_sage3* handle, void* to, const void* from, uint64_t bytes) {
    return on_device(handle, [&](auto& device) {
        return device.copy_in(reinterpret_cast<Address>(to), {static_cast<const std::byte*>(from), bytes});
    });
}

ww_sage3_status ww_sage3_copy_out(ww_sage3* handle, void* to, const void* from, uint64_t bytes) {
    return on_device(handle, [&](auto& device) {
        return device.copy_out({static_cast<std::byte*>(to), bytes}, reinterpret_cast<Address>(from));
    });
}
