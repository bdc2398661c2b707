// SPDX-License-Identifier: Apache-2.0
// sage3.h: checks, the layout of the workspace, launches of the plan's steps, and errors as codes with a
// message.
#include "sage3/sage3_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sage3/sage3_backend.hpp"
#include "sage3/sage3_plan.hpp"
#include "sage3/sage3_variants.hpp"

struct sage3 {
    sage3(std::unique_ptr<ww::sage3::Backend> made, std::filesystem::path folder)
        : backend(std::move(made)), variants(*backend, std::move(folder)) {}

    std::unique_ptr<ww::sage3::Backend> backend;
    ww::sage3::Variants variants;
};

namespace ww::sage3 {
namespace {

using device::Address;

constexpr uint64_t kWorkspaceAlign = 256;

thread_local std::string message;

std::string text_of(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& each : diagnostics)
        out += (out.empty() ? "" : "\n") + (each.file.empty() ? each.message : format(each));
    return out;
}

sage3_status finish(sage3_status code, std::string text) {
    message = std::move(text);
    return code;
}

sage3_status finish(sage3_status code, const Diagnostics& why) { return finish(code, text_of(why)); }

// Nothing is thrown into C.
template <class F>
sage3_status guarded(F body) {
    message.clear();
    try {
        return body();
    } catch (const std::exception& error) {
        return finish(SAGE3_FAILED, error.what());
    }
}

// body(back end) is a Status.
template <class F>
sage3_status on_backend(::sage3* handle, F body) {
    return guarded([&] {
        if (!handle) return finish(SAGE3_INVALID, "handle is null");
        const Status status = body(*handle->backend);
        return status ? SAGE3_OK : finish(SAGE3_FAILED, status.error());
    });
}

struct Pointer {
    std::string_view argument;
    const void* data;
    uint64_t align;
};

// lse, mask and starts are among them where they are wanted.
std::vector<Pointer> pointers_of(const sage3_problem& problem) {
    std::vector<Pointer> out = {{"q", problem.q.data, 2}, {"k", problem.k.data, 2},
                                {"v", problem.v.data, 2}, {"o", problem.o.data, 2}};
    if (problem.lse) out.push_back({"lse", problem.lse, 4});
    if (problem.mask_type != SAGE3_NO_MASK)
        out.push_back({mask_name(static_cast<Mask>(problem.mask_type)), problem.mask.data,
                       problem.mask_type == SAGE3_MASK_BYTES ? 1u : problem.mask_type == SAGE3_MASK_OF_TYPE ? 2u : 4u});
    if (problem.sequences != 0) {
        out.push_back({"q_starts", problem.q_starts, 4});
        out.push_back({"k_starts", problem.k_starts, 4});
    }
    return out;
}

Status check_alignment(const Pointer& pointer) {
    if (!pointer.data) return fail(fmt::format("{} is null", pointer.argument));
    if (reinterpret_cast<uintptr_t>(pointer.data) % pointer.align == 0) return ok();
    return fail(fmt::format("{} is {}: not aligned to {} bytes", pointer.argument, pointer.data, pointer.align));
}

Strides strides_of(const sage3_tensor& tensor) { return {tensor.batch, tensor.head, tensor.token}; }

// -1: no bound. Others below 0 are refused by the plan.
int64_t window_of(const sage3_problem& p, int64_t keys) {
    return (p.flags & SAGE3_WINDOW) == 0 || keys == -1 ? kUnbounded : keys;
}

// What C callers put into an enumeration may be any number, which C++ may not read as one.
template <class Enumeration>
uint32_t number_of(const Enumeration& given) {
    uint32_t out = 0;
    static_assert(sizeof given == sizeof out);
    std::memcpy(&out, &given, sizeof out);
    return out;
}

// What is asked for, on whatever GPU; it is sound.
Result<Request> request_of(const sage3_problem* p) {
    if (!p) return fail("problem is null");
    if (p->struct_bytes != sizeof(sage3_problem))
        return fail(fmt::format("struct_bytes is {}: sizeof(sage3_problem), {}, is due", p->struct_bytes,
                                sizeof(sage3_problem)));
    constexpr uint32_t kFlags = SAGE3_WINDOW | SAGE3_GLOBAL_Q_MEAN | SAGE3_SMOOTH_V | SAGE3_EXACT_FP4;
    if ((p->flags & ~kFlags) != 0)
        return fail(fmt::format("flags is {}: {} has no meaning", p->flags, p->flags & ~kFlags));
    Request out;
    out.problem = {.b = p->batches, .h = p->heads, .h_kv = p->kv_heads, .lq = p->queries, .lk = p->keys,
                   .d = p->head_dim, .scale = static_cast<double>(p->scale),
                   .causal = static_cast<Causal>(number_of(p->causal)), .left = window_of(*p, p->window_left),
                   .right = window_of(*p, p->window_right), .mask = static_cast<Mask>(number_of(p->mask_type)),
                   .global_mean = (p->flags & SAGE3_GLOBAL_Q_MEAN) != 0,
                   .smooth_v = (p->flags & SAGE3_SMOOTH_V) != 0, .packed = p->sequences,
                   .longest_q = p->longest_queries, .longest_k = p->longest_keys};
    out.type = static_cast<Type>(number_of(p->type));
    out.q = strides_of(p->q), out.k = strides_of(p->k), out.v = strides_of(p->v), out.o = strides_of(p->o);
    if (number_of(p->mask_type) != SAGE3_NO_MASK) out.mask = strides_of(p->mask);
    out.lse = p->lse != nullptr;
    out.path = (p->flags & SAGE3_EXACT_FP4) != 0 ? Path::exact : Path::int8;
    WW_TRY(sound, check(out));
    (void)sound;
    return out;
}

Result<Plan> plan_for(Request request, const Entered& entered) {
    request.multiprocessors = entered.multiprocessors;
    if (entered.target != "sm_90a") request.path = Path::fp4;
    return plan(request);
}

// Where each buffer of the plan lies in the caller's workspace.
class Layout {
  public:
    explicit Layout(const Plan& plan) {
        for (const Workspace& each : plan.workspace) add(each.name, each.bytes);
    }
    uint64_t bytes() const { return bytes_; }
    std::optional<uint64_t> offset(std::string_view name) const {
        for (const auto& [each, at] : offsets_)
            if (each == name) return at;
        return std::nullopt;
    }

  private:
    void add(std::string_view name, uint64_t bytes) {
        offsets_.emplace_back(name, bytes_);
        bytes_ += (bytes + kWorkspaceAlign - 1) / kWorkspaceAlign * kWorkspaceAlign;
    }

    std::vector<std::pair<std::string_view, uint64_t>> offsets_;
    uint64_t bytes_ = 0;
};

// What is enough on any of these GPUs.
Result<uint64_t> workspace_due(const Request& request, const std::vector<std::string>& targets) {
    uint64_t out = 0;
    for (const std::string& target : targets) {
        WW_TRY(plan, plan_for(request, Entered{.target = target}));
        out = std::max(out, Layout(plan).bytes());
    }
    return out;
}

// One call of sage3_attention() whose arguments are sound.
class Call {
  public:
    Call(const sage3_problem& problem, const Layout& layout, void* workspace)
        : problem_(problem), layout_(layout), workspace_(reinterpret_cast<Address>(workspace)) {}

    device::Launch launch(const Step& step) const {
        device::Launch out;
        out.grid.x = step.grid;
        out.block.x = step.block;
        out.cluster.x = step.cluster;
        out.dynamic_shared_bytes = step.dynamic_shared_bytes;
        for (const Argument& each : step.arguments) out.arguments.push_back(argument(each));
        return out;
    }

  private:
    device::Argument argument(const Argument& argument) const {
        if (const auto* buffer = std::get_if<Buffer>(&argument))
            return device::Argument::of(address(buffer->name));
        return std::visit([](const auto& value) { return device::Argument::of(value); }, argument);
    }
    Address address(std::string_view name) const {
        if (const std::optional<uint64_t> offset = layout_.offset(name)) return workspace_ + *offset;
        for (const Pointer& each : pointers_of(problem_))
            if (each.argument == name) return reinterpret_cast<Address>(each.data);
        check_failed("buffer", __FILE__, __LINE__, std::string(name));
    }

    const sage3_problem& problem_;
    const Layout& layout_;
    Address workspace_;
};

sage3_status prepare(::sage3& handle, const sage3_problem* problem) {
    const Result<Request> request = request_of(problem);
    if (!request) return finish(SAGE3_INVALID, request.error());
    const Result<Entered> entered = handle.backend->enter(problem->q.data);
    if (!entered) return finish(SAGE3_NO_DEVICE, entered.error());
    const Result<Plan> plan = plan_for(*request, *entered);
    if (!plan) return finish(SAGE3_INVALID, plan.error());
    const auto kernels = handle.variants.kernels(*plan, entered->target);
    if (!kernels) return finish(SAGE3_FAILED, kernels.error());
    for (const uint64_t each : *kernels)
        if (const Status loaded = handle.backend->prepare(each); !loaded)
            return finish(SAGE3_FAILED, loaded.error());
    return SAGE3_OK;
}

// Everything that can be refused is refused before the first launch.
sage3_status attention(::sage3& handle, const sage3_problem* problem, void* workspace, uint64_t workspace_bytes,
                       void* stream) {
    const Result<Request> request = request_of(problem);
    if (!request) return finish(SAGE3_INVALID, request.error());
    std::vector<Pointer> pointers = pointers_of(*problem);
    pointers.push_back({"workspace", workspace, kWorkspaceAlign});
    for (const Pointer& each : pointers)
        if (const Status sound = check_alignment(each); !sound) return finish(SAGE3_INVALID, sound.error());
    Backend& backend = *handle.backend;
    const Result<Entered> entered = backend.enter(problem->q.data);
    if (!entered) return finish(SAGE3_NO_DEVICE, entered.error());
    const Result<Plan> plan = plan_for(*request, *entered);
    if (!plan) return finish(SAGE3_INVALID, plan.error());
    const Layout layout(*plan);
    if (workspace_bytes < layout.bytes())
        return finish(SAGE3_INVALID, fmt::format("workspace_bytes is {}: {} are due (sage3_workspace_bytes)",
                                                 workspace_bytes, layout.bytes()));
    for (const Pointer& each : pointers)
        if (const Status usable = backend.check_memory(*entered, each.argument, each.data); !usable)
            return finish(SAGE3_INVALID, usable.error());
    const auto kernels = handle.variants.kernels(*plan, entered->target);
    if (!kernels) return finish(SAGE3_FAILED, kernels.error());
    const Call call(*problem, layout, workspace);
    for (size_t i = 0; i < kernels->size(); ++i) {
        const Step& step = plan->steps[i];
        const Status launched = backend.launch((*kernels)[i], call.launch(step), stream);
        if (!launched)
            return finish(SAGE3_FAILED, fmt::format("{}: {}", step.entry, text_of(launched.error())));
    }
    return SAGE3_OK;
}

}  // namespace

::sage3* handle_on(std::unique_ptr<Backend> backend, std::filesystem::path kernels) {
    return new ::sage3(std::move(backend), std::move(kernels));
}

}  // namespace ww::sage3

using namespace ww::sage3;

sage3_status sage3_open(const char* device, sage3** handle) {
    return guarded([&] {
        if (!handle) return finish(SAGE3_INVALID, "handle is null");
        *handle = nullptr;
        const std::string_view name = device ? device : "";
        if (name != "cuda" && name != "emulator")
            return finish(SAGE3_INVALID, fmt::format("device is '{}': \"cuda\" is due", name));
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
            return finish(SAGE3_NO_DEVICE, "this processor lacks AVX2 or FMA: x86-64-v3 is needed");
        auto opened = name == "cuda" ? open_cuda_backend() : open_emulator_backend();
        if (!opened) return finish(SAGE3_NO_DEVICE, opened.error());
        *handle = handle_on(std::move(opened).value(), {});
        return SAGE3_OK;
    });
}

void sage3_close(sage3* handle) { delete handle; }

const char* sage3_message() { return message.c_str(); }

const char* sage3_version() { return WW_VERSION; }

sage3_status sage3_workspace_bytes(sage3* handle, const sage3_problem* problem, uint64_t* bytes) {
    return guarded([&] {
        if (!handle) return finish(SAGE3_INVALID, "handle is null");
        if (!bytes) return finish(SAGE3_INVALID, "bytes is null");
        const ww::Result<Request> request = request_of(problem);
        if (!request) return finish(SAGE3_INVALID, request.error());
        const ww::Result<uint64_t> due = workspace_due(*request, handle->backend->targets());
        if (!due) return finish(SAGE3_INVALID, due.error());
        *bytes = *due;
        return SAGE3_OK;
    });
}

sage3_status sage3_prepare(sage3* handle, const sage3_problem* problem) {
    return guarded([&] {
        if (!handle) return finish(SAGE3_INVALID, "handle is null");
        return prepare(*handle, problem);
    });
}

sage3_status sage3_attention(sage3* handle, const sage3_problem* problem, void* workspace,
                             uint64_t workspace_bytes, void* stream) {
    return guarded([&] {
        if (!handle) return finish(SAGE3_INVALID, "handle is null");
        return attention(*handle, problem, workspace, workspace_bytes, stream);
    });
}

sage3_status sage3_allocate(sage3* handle, uint64_t bytes, void** memory) {
    if (!memory) return guarded([] { return finish(SAGE3_INVALID, "memory is null"); });
    return on_backend(handle, [&](Backend& backend) -> ww::Status {
        WW_TRY(allocated, backend.allocate(bytes));
        *memory = allocated;
        return ww::ok();
    });
}

sage3_status sage3_release(sage3* handle, void* memory) {
    return on_backend(handle, [&](Backend& backend) { return backend.release(memory); });
}

sage3_status sage3_copy_in(sage3* handle, void* to, const void* from, uint64_t bytes) {
    return on_backend(handle, [&](Backend& backend) { return backend.copy_in(to, from, bytes); });
}

sage3_status sage3_copy_out(sage3* handle, void* to, const void* from, uint64_t bytes) {
    return on_backend(handle, [&](Backend& backend) { return backend.copy_out(to, from, bytes); });
}
