// SPDX-License-Identifier: Apache-2.0
// The plan as port.toml's kernels, and the public API as the chain of its stages: what the ladder
// judges is what ships.
#include <array>
#include <filesystem>
#include <memory>

#include "device/scoped_memory.hpp"
#include "references.hpp"
#include "sage3/sage3.h"
#include "sage3/sage3_axes.hpp"
#include "sage3/sage3_host.hpp"
#include "sage3/sage3_plan.hpp"

namespace ww::kernels {
namespace {

using port::Dtype;
using port::Expr;

// Of a mask of these extents; what has extent 1 is the same for all.
sage3::Strides mask_strides(const std::array<int64_t, 4>& extent) {
    return {extent[0] > 1 ? extent[1] * extent[2] * extent[3] : 0, extent[1] > 1 ? extent[2] * extent[3] : 0,
            extent[2] > 1 ? extent[3] : 0};
}

Result<sage3::Request> request_of(const port::Scope& scope) {
    const auto axis = [&](const char* name) {
        const auto found = scope.integers.find(name);
        return found == scope.integers.end() ? 0 : found->second;
    };
    const auto scale = scope.reals.find("sm_scale");
    const auto type = scope.types.find("T");
    if (scale == scope.reals.end() || type == scope.types.end())
        return fail("the plan of sage3 needs a scalar sm_scale and a type T");
    sage3::Request out;
    sage3::Problem& p = out.problem;
    p = sage3::problem_of(axis, scale->second);
    if (type->second != Dtype::f16 && type->second != Dtype::bf16)
        return fail(std::string("type T is ") + std::string(port::name(type->second)) +
                    ": f16 and bf16 are supported");
    out.type = type->second == Dtype::f16 ? sage3::Type::f16 : sage3::Type::bf16;
    out.q = out.o = sage3::Strides::dense(p.h, p.lq, p.d);
    out.k = out.v = sage3::Strides::dense(p.h_kv, p.lk, p.d);
    out.mask = mask_strides({axis("MB"), axis("MH"), axis("MQ"), axis("MK")});
    out.multiprocessors = static_cast<uint32_t>(axis("processors"));
    return out;
}

port::Arg arg_of(const sage3::Argument& argument) {
    struct To {
        port::Arg operator()(sage3::Buffer buffer) const { return {port::TensorArg{std::string(buffer.name)}, {}}; }
        port::Arg operator()(int32_t v) const { return {port::ScalarArg{Dtype::i32, Expr::constant(v)}, {}}; }
        port::Arg operator()(uint32_t v) const { return {port::ScalarArg{Dtype::u32, Expr::constant(v)}, {}}; }
        port::Arg operator()(int64_t v) const { return {port::ScalarArg{Dtype::i64, Expr::constant(v)}, {}}; }
        port::Arg operator()(float v) const {
            return {port::ScalarArg{Dtype::f32, Expr::real_constant(static_cast<double>(v))}, {}};
        }
    };
    return std::visit(To{}, argument);
}

// folder: of the kernels, from the port's.
Result<port::KernelImpl> stage_of(const sage3::Request& request, std::string_view stage, const std::string& folder) {
    WW_TRY(plan, sage3::plan(request));
    for (const sage3::Step& step : plan.steps) {
        if (step.name != stage) continue;
        port::KernelImpl out;
        out.source = folder + std::string(step.source);
        out.entry = step.entry;
        for (const auto& [name, text] : step.defines) out.defines.push_back({name, text});
        for (auto* dims : {&out.grid, &out.block, &out.cluster}) dims->fill(Expr::constant(1));
        out.grid[0] = Expr::constant(step.grid);
        out.block[0] = Expr::constant(step.block);
        out.cluster[0] = Expr::constant(step.cluster);
        out.shared_bytes = Expr::constant(step.dynamic_shared_bytes);
        for (const sage3::Argument& each : step.arguments) out.args.push_back(arg_of(each));
        for (const sage3::Argument& each : step.tap_arguments) out.tap_args.push_back(arg_of(each));
        return out;
    }
    return fail("the plan of sage3 has no stage '" + std::string(stage) + "'");
}

struct Close {
    void operator()(::sage3* handle) const { sage3_close(handle); }
};

Result<port::KernelImpl> plan_by(sage3::Path path, const port::Scope& scope, std::string_view stage, const std::string& folder) {
    WW_TRY(request, request_of(scope));
    request.path = path;
    // A stage of its own in every case; the plan has it only where it is used.
    if (stage == "mean_v") request.problem.smooth_v = true;
    return stage_of(request, stage, folder);
}

}  // namespace

Result<port::KernelImpl> sage3_plan(const port::Scope& scope, std::string_view stage) {
    return plan_by(sage3::Path::fp4, scope, stage, "");
}
Result<port::KernelImpl> hopper_plan(const port::Scope& scope, std::string_view stage) {
    return plan_by(sage3::Path::int8, scope, stage, "../sage3/");
}
Result<port::KernelImpl> exact_plan(const port::Scope& scope, std::string_view stage) {
    return plan_by(sage3::Path::exact, scope, stage, "../sage3/");
}

namespace {

// kernels: the folder of the sources.
Status api(const ladder::LibraryCall& call, uint32_t flags, const std::filesystem::path& kernels) {
    WW_TRY(readable, call.require({"q", "k", "v", "mask", "mask_bytes", "q_starts", "k_starts"},
                                  {"B", "H", "Hkv", "Lq", "Lk", "D", "S", "longest_q", "longest_k", "MB", "MH", "MQ", "MK",
                                   "causal", "left", "right", "mask_type", "global_mean", "smooth_v"},
                                  {"sm_scale"}));
    (void)readable;
    const std::unique_ptr<::sage3, Close> handle(sage3::wrap(*call.device, kernels));
    device::ScopedMemory memory(*call.device);
    const auto extent = [&](const char* name) { return call.integer(name); };
    const auto copied_in = [&](const char* name) -> Result<void*> {
        const port::Tensor& tensor = call.input(name);
        WW_TRY(address, memory.allocate("tensor '" + tensor.name + "'", tensor.bytes.size()));
        WW_TRY(copied, call.device->copy_in(address, tensor.bytes));
        (void)copied;
        return reinterpret_cast<void*>(address);
    };
    const auto strided = [](void* data, const port::Tensor& tensor) {
        const auto& strides = tensor.layout.strides;
        return sage3_tensor{data, strides[0], strides[1], strides[2]};
    };
    WW_TRY(q, copied_in("q"));
    WW_TRY(k, copied_in("k"));
    WW_TRY(v, copied_in("v"));
    const std::string mask_input(sage3::mask_name(static_cast<sage3::Mask>(extent("mask_type"))));
    WW_TRY(mask, copied_in(mask_input.c_str()));
    WW_TRY(q_starts, copied_in("q_starts"));
    WW_TRY(k_starts, copied_in("k_starts"));
    WW_TRY(o, memory.allocate("tensor 'o'", call.output("o")->bytes.size()));
    WW_TRY(lse, memory.allocate("tensor 'lse'", call.output("lse")->bytes.size()));
    sage3_problem problem{};
    problem.struct_bytes = sizeof problem;
    problem.batches = extent("B"), problem.heads = extent("H"), problem.kv_heads = extent("Hkv");
    problem.queries = extent("Lq"), problem.keys = extent("Lk"), problem.head_dim = extent("D");
    problem.type = call.input("q").layout.dtype == Dtype::f16 ? SAGE3_F16 : SAGE3_BF16;
    problem.causal = static_cast<sage3_causal>(extent("causal"));
    problem.scale = static_cast<float>(call.real("sm_scale"));
    problem.q = strided(q, call.input("q")), problem.k = strided(k, call.input("k"));
    problem.v = strided(v, call.input("v")), problem.o = strided(reinterpret_cast<void*>(o), *call.output("o"));
    problem.lse = reinterpret_cast<void*>(lse);
    problem.flags = SAGE3_WINDOW | flags;
    if (extent("global_mean") != 0) problem.flags |= SAGE3_GLOBAL_Q_MEAN;
    if (extent("smooth_v") != 0) problem.flags |= SAGE3_SMOOTH_V;
    problem.window_left = extent("left"), problem.window_right = extent("right");
    problem.mask_type = static_cast<sage3_mask>(extent("mask_type"));
    const sage3::Strides mask_by = mask_strides({extent("MB"), extent("MH"), extent("MQ"), extent("MK")});
    problem.mask = {mask, mask_by.batch, mask_by.head, mask_by.token};
    problem.sequences = extent("S");
    problem.q_starts = static_cast<const int32_t*>(q_starts), problem.k_starts = static_cast<const int32_t*>(k_starts);
    problem.longest_queries = extent("longest_q"), problem.longest_keys = extent("longest_k");
    uint64_t bytes = 0;
    if (sage3_workspace_bytes(handle.get(), &problem, &bytes) != SAGE3_OK) return fail(sage3_message());
    WW_TRY(workspace, memory.allocate("workspace", bytes));
    if (sage3_attention(handle.get(), &problem, reinterpret_cast<void*>(workspace), bytes, nullptr) != SAGE3_OK)
        return fail(sage3_message());
    WW_TRY(o_read, call.device->copy_out(call.output("o")->bytes, o));
    WW_TRY(lse_read, call.device->copy_out(call.output("lse")->bytes, lse));
    (void)o_read, (void)lse_read;
    // The caller's tensors are the caller's: none of them may have changed.
    for (const auto& [name, at] : {std::pair{"q", q}, std::pair{"k", k}, std::pair{"v", v}, std::pair{mask_input.c_str(), mask}}) {
        std::vector<std::byte> now(call.input(name).bytes.size());
        WW_TRY(read, call.device->copy_out(now, reinterpret_cast<device::Address>(at)));
        (void)read;
        if (now != call.input(name).bytes) return fail(std::string("sage3_attention changed its input ") + name);
    }
    return ok();
}

}  // namespace

Status sage3_api(const ladder::LibraryCall& call) { return api(call, 0, call.folder); }
Status hopper_api(const ladder::LibraryCall& call) { return api(call, 0, call.folder.parent_path() / "sage3"); }
Status exact_api(const ladder::LibraryCall& call) { return api(call, SAGE3_EXACT_FP4, call.folder.parent_path() / "sage3"); }

}  // namespace ww::kernels
