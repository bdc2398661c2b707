// SPDX-License-Identifier: Apache-2.0
// The plan as port.toml's kernels, and the public API as the chain of its stages: what the ladder
// judges is what ships.
#include <memory>

#include "device/scoped_memory.hpp"
#include "references.hpp"
#include "sage3/sage3.h"
#include "sage3/sage3_host.hpp"
#include "sage3/sage3_plan.hpp"

namespace ww::kernels {
namespace {

using port::Dtype;
using port::Expr;

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
    p = {.b = axis("B"), .h = axis("H"), .h_kv = axis("Hkv"), .lq = axis("Lq"), .lk = axis("Lk"),
         .d = axis("D"), .scale = scale->second, .causal = static_cast<sage3::Causal>(axis("causal"))};
    if (type->second != Dtype::f16 && type->second != Dtype::bf16)
        return fail(std::string("type T is ") + std::string(port::name(type->second)) +
                    ": f16 and bf16 are supported");
    out.type = type->second == Dtype::f16 ? sage3::Type::f16 : sage3::Type::bf16;
    out.q = out.o = sage3::Strides::dense(p.h, p.lq, p.d);
    out.k = out.v = sage3::Strides::dense(p.h_kv, p.lk, p.d);
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

struct Close {
    void operator()(::sage3* handle) const { sage3_close(handle); }
};

}  // namespace

Result<port::KernelImpl> sage3_plan(const port::Scope& scope, std::string_view stage) {
    WW_TRY(request, request_of(scope));
    WW_TRY(plan, sage3::plan(request));
    for (const sage3::Step& step : plan.steps) {
        if (step.name != stage) continue;
        port::KernelImpl out;
        out.source = step.source;
        out.entry = step.entry;
        for (const auto& [name, text] : step.defines) out.defines.push_back({name, text});
        for (auto* dims : {&out.grid, &out.block, &out.cluster}) dims->fill(Expr::constant(1));
        out.grid[0] = Expr::constant(step.grid);
        out.block[0] = Expr::constant(step.block);
        for (const sage3::Argument& each : step.arguments) out.args.push_back(arg_of(each));
        for (const sage3::Argument& each : step.tap_arguments) out.tap_args.push_back(arg_of(each));
        return out;
    }
    return fail("the plan of sage3 has no stage '" + std::string(stage) + "'");
}

Status sage3_api(const ladder::LibraryCall& call) {
    WW_TRY(readable, call.require({"q", "k", "v"}, {"B", "H", "Hkv", "Lq", "Lk", "D", "causal"}, {"sm_scale"}));
    (void)readable;
    const std::unique_ptr<::sage3, Close> handle(sage3::wrap(*call.device, call.folder));
    device::ScopedMemory memory(*call.device);
    const auto extent = [&](const char* name) { return call.integer(name); };
    const auto place = [&](const port::Tensor& tensor, bool is_input) -> Result<sage3_tensor> {
        WW_TRY(address, memory.allocate("tensor '" + tensor.name + "'", tensor.bytes.size()));
        if (is_input) {
            WW_TRY(copied, call.device->copy_in(address, tensor.bytes));
            (void)copied;
        }
        const auto& strides = tensor.layout.strides;
        return sage3_tensor{reinterpret_cast<void*>(address), strides[0], strides[1], strides[2]};
    };
    WW_TRY(q, place(call.input("q"), true));
    WW_TRY(k, place(call.input("k"), true));
    WW_TRY(v, place(call.input("v"), true));
    WW_TRY(o, place(*call.output("o"), false));
    WW_TRY(lse, memory.allocate("tensor 'lse'", call.output("lse")->bytes.size()));
    sage3_problem problem{};
    problem.struct_bytes = sizeof problem;
    problem.batches = extent("B"), problem.heads = extent("H"), problem.kv_heads = extent("Hkv");
    problem.queries = extent("Lq"), problem.keys = extent("Lk"), problem.head_dim = extent("D");
    problem.type = call.input("q").layout.dtype == Dtype::f16 ? SAGE3_F16 : SAGE3_BF16;
    problem.causal = static_cast<sage3_causal>(extent("causal"));
    problem.scale = static_cast<float>(call.real("sm_scale"));
    problem.q = q, problem.k = k, problem.v = v, problem.o = o;
    problem.lse = reinterpret_cast<void*>(lse);
    uint64_t bytes = 0;
    if (sage3_workspace_bytes(handle.get(), &problem, &bytes) != SAGE3_OK) return fail(sage3_message());
    WW_TRY(workspace, memory.allocate("workspace", bytes));
    if (sage3_attention(handle.get(), &problem, reinterpret_cast<void*>(workspace), bytes, nullptr) != SAGE3_OK)
        return fail(sage3_message());
    WW_TRY(o_read, call.device->copy_out(call.output("o")->bytes, reinterpret_cast<device::Address>(o.data)));
    WW_TRY(lse_read, call.device->copy_out(call.output("lse")->bytes, lse));
    (void)o_read, (void)lse_read;
    // The caller's tensors are the caller's: none of them may have changed.
    for (const auto& [name, at] : {std::pair{"q", q}, std::pair{"k", k}, std::pair{"v", v}}) {
        std::vector<std::byte> now(call.input(name).bytes.size());
        WW_TRY(read, call.device->copy_out(now, reinterpret_cast<device::Address>(at.data)));
        (void)read;
        if (now != call.input(name).bytes) return fail(std::string("sage3_attention changed its input ") + name);
    }
    return ok();
}

}  // namespace ww::kernels
