// SPDX-License-Identifier: Apache-2.0
// The back end on a GPU: the driver API in the caller's current context. Kernels are held as libraries of
// the driver, which belong to no context. Makes no context, allocates and waits for nothing in a launch.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "driver/driver.hpp"
#include "sage3/sage3_backend.hpp"

namespace ww::sage3 {
namespace {

namespace cuda = driver;
using cuda::Code;
using cuda::Handle;
using cuda::kSuccess;

constexpr const char* kReading = "read the GPU's attributes";
constexpr uint32_t kFreeDynamicShared = 48 * 1024;  // more needs an opt-in per function

// Loading a module is forbidden to a thread that captures a stream, unless it says that it knows.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(const cuda::Driver& driver) : cu_(driver) {
        on_ = cu_.ThreadExchangeStreamCaptureMode(&mode_) == kSuccess;
    }
    ~RelaxedCapture() {
        if (on_) cu_.ThreadExchangeStreamCaptureMode(&mode_);
    }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    const cuda::Driver& cu_;
    int mode_ = cuda::kCaptureRelaxed;
    bool on_ = false;
};

struct Pointer {
    uint32_t memory_type = 0;
    int ordinal = -1;
    uint32_t managed = 0;
    Handle context = nullptr;
};

class CudaBackend final : public Backend {
  public:
    explicit CudaBackend(const cuda::Driver& driver) : cu_(driver) {}
    ~CudaBackend() override {
        for (const Handle each : libraries_) cu_.LibraryUnload(each);
    }

    std::vector<std::string> targets() const override;
    Result<Entered> enter(const void* memory) override;
    Status check_memory(const Entered& entered, std::string_view argument, const void* memory) override;
    Result<uint64_t> load(const toolchain::CompileRequest& request) override;
    Result<uint64_t> kernel(uint64_t module, const std::string& entry) override;
    Status prepare(uint64_t kernel) override;
    Status launch(uint64_t kernel, const device::Launch& launch, void* stream) override;
    Result<void*> allocate(uint64_t bytes) override;
    Status release(void* memory) override;
    Status copy_in(void* to, const void* from, uint64_t bytes) override;
    Status copy_out(void* to, const void* from, uint64_t bytes) override;

  private:
    Status succeeded(Code code, const std::string& doing) const {
        return code == kSuccess ? ok() : Status(fail(doing + ": " + cuda::describe(cu_, code)));
    }
    struct Capability {
        int major = 0, minor = 0;
        bool runs() const { return major == 12 || (major == 9 && minor == 0); }
        std::string target() const { return fmt::format("sm_{}{}a", major, minor); }
    };
    Result<Capability> capability(int ordinal) const;
    Pointer look_at(const void* memory) const;
    Result<Handle> function_of(uint64_t kernel) const;
    Status raise_limits(Handle function, const device::Launch& launch) const;

    const cuda::Driver& cu_;
    std::mutex mutex_;
    std::vector<Handle> libraries_;
};

Pointer CudaBackend::look_at(const void* memory) const {
    Pointer out;
    int attributes[] = {cuda::kMemoryType, cuda::kPointerOrdinal, cuda::kIsManaged, cuda::kPointerContext};
    void* values[] = {&out.memory_type, &out.ordinal, &out.managed, &out.context};
    if (cu_.PointerGetAttributes(4, attributes, values, reinterpret_cast<cuda::Pointer>(memory)) != kSuccess)
        return {};
    return out;
}

Result<CudaBackend::Capability> CudaBackend::capability(int ordinal) const {
    Capability out;
    Code code = cu_.DeviceGetAttribute(&out.major, cuda::kComputeCapabilityMajor, ordinal);
    if (!code) code = cu_.DeviceGetAttribute(&out.minor, cuda::kComputeCapabilityMinor, ordinal);
    WW_TRY(read, succeeded(code, kReading));
    (void)read;
    return out;
}

std::vector<std::string> CudaBackend::targets() const {
    std::vector<std::string> out;
    int count = 0;
    if (cu_.DeviceGetCount(&count) != kSuccess) count = 0;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        const Result<Capability> its = capability(ordinal);
        if (its && its->runs() && std::find(out.begin(), out.end(), its->target()) == out.end()) out.push_back(its->target());
    }
    return out.empty() ? std::vector<std::string>{"sm_90a", "sm_120a"} : out;
}

Result<Entered> CudaBackend::enter(const void* memory) {
    Entered out;
    Handle context = nullptr;
    if (cu_.CtxGetCurrent(&context) != kSuccess) context = nullptr;
    if (!context) {
        context = memory ? look_at(memory).context : nullptr;
        if (!context)
            return fail("no CUDA context is current in this thread: make one current first (cudaSetDevice)");
        WW_TRY(pushed, succeeded(cu_.CtxPushCurrent(context), "make q's context current"));
        (void)pushed;
        out.guard = std::shared_ptr<void>(context, [this](Handle) {
            Handle popped = nullptr;
            cu_.CtxPopCurrent(&popped);
        });
    }
    WW_TRY(got, succeeded(cu_.CtxGetDevice(&out.ordinal), "ask for the current context's GPU"));
    (void)got;
    WW_TRY(its, capability(out.ordinal));
    int processors = 0;
    WW_TRY(read, succeeded(cu_.DeviceGetAttribute(&processors, cuda::kMultiprocessorCount, out.ordinal), kReading));
    (void)read;
    if (!its.runs()) {
        char name[256] = "?";
        (void)cu_.DeviceGetName(name, sizeof name - 1, out.ordinal);
        return fail(fmt::format("device is {} (GPU {}, sm_{}{}): these kernels need sm_90, sm_120 or sm_121", name,
                                out.ordinal, its.major, its.minor));
    }
    out.target = its.target();
    out.multiprocessors = static_cast<uint32_t>(processors);
    return out;
}

Status CudaBackend::check_memory(const Entered& entered, std::string_view argument, const void* memory) {
    const Pointer found = look_at(memory);
    const auto refuse = [&](const std::string& what) {
        return fail(fmt::format("{} is {}: {}; memory of GPU {} is due", argument, memory, what, entered.ordinal));
    };
    if (found.managed) return ok();
    if (found.memory_type == 0) return refuse("no memory that CUDA knows");
    if (found.memory_type != cuda::kDeviceMemory) return refuse("memory of the host");
    if (found.ordinal != entered.ordinal) return refuse(fmt::format("memory of GPU {}", found.ordinal));
    return ok();
}

Result<uint64_t> CudaBackend::load(const toolchain::CompileRequest& request) {
    WW_TRY(compiled, toolchain::compile_cubin(request));
    const RelaxedCapture relaxed(cu_);
    Handle library = nullptr;
    WW_TRY(loaded, succeeded(cu_.LibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr,
                                                 nullptr, 0),
                             "load " + request.name));
    (void)loaded;
    const std::lock_guard lock(mutex_);
    libraries_.push_back(library);
    return reinterpret_cast<uint64_t>(library);
}

Result<uint64_t> CudaBackend::kernel(uint64_t module, const std::string& entry) {
    Handle kernel = nullptr;
    WW_TRY(found, succeeded(cu_.LibraryGetKernel(&kernel, reinterpret_cast<Handle>(module), entry.c_str()),
                            "find kernel " + entry));
    (void)found;
    return reinterpret_cast<uint64_t>(kernel);
}

// Loads it into the current context where it is not there yet.
Result<Handle> CudaBackend::function_of(uint64_t kernel) const {
    const RelaxedCapture relaxed(cu_);
    Handle function = nullptr;
    WW_TRY(got, succeeded(cu_.KernelGetFunction(&function, reinterpret_cast<Handle>(kernel)),
                          "load a kernel into the current context"));
    (void)got;
    return function;
}

Status CudaBackend::prepare(uint64_t kernel) {
    WW_TRY(function, function_of(kernel));
    (void)function;
    return ok();
}

Status CudaBackend::raise_limits(Handle function, const device::Launch& launch) const {
    if (launch.dynamic_shared_bytes <= kFreeDynamicShared) return ok();
    return succeeded(cu_.FuncSetAttribute(function, cuda::kMaxDynamicSharedBytes,
                                          static_cast<int>(launch.dynamic_shared_bytes)),
                     fmt::format("ask for {} bytes of dynamic shared memory", launch.dynamic_shared_bytes));
}

Status CudaBackend::launch(uint64_t kernel, const device::Launch& launch, void* stream) {
    WW_TRY(function, function_of(kernel));
    WW_TRY(raised, raise_limits(function, launch));
    (void)raised;
    cuda::LaunchAttribute cluster;
    cluster.id = cuda::kClusterDimension;
    cluster.value[0] = launch.cluster.x, cluster.value[1] = launch.cluster.y, cluster.value[2] = launch.cluster.z;
    const cuda::LaunchConfig config{{launch.grid.x, launch.grid.y, launch.grid.z},
                                    {launch.block.x, launch.block.y, launch.block.z},
                                    launch.dynamic_shared_bytes, stream, &cluster,
                                    launch.cluster.count() > 1 ? 1u : 0u};
    std::vector<void*> arguments;
    for (const device::Argument& each : launch.arguments)
        arguments.push_back(const_cast<std::byte*>(each.bytes.data()));
    return succeeded(cu_.LaunchKernelEx(&config, function, arguments.data(), nullptr), "launch");
}

Result<void*> CudaBackend::allocate(uint64_t bytes) {
    WW_TRY(entered, enter(nullptr));
    (void)entered;
    cuda::Pointer address = 0;
    WW_TRY(done, succeeded(cu_.MemAlloc(&address, bytes ? bytes : 1), fmt::format("allocate {} bytes", bytes)));
    (void)done;
    return reinterpret_cast<void*>(address);
}

Status CudaBackend::release(void* memory) {
    WW_TRY(entered, enter(memory));
    (void)entered;
    return succeeded(cu_.MemFree(reinterpret_cast<cuda::Pointer>(memory)), "free memory");
}

Status CudaBackend::copy_in(void* to, const void* from, uint64_t bytes) {
    WW_TRY(entered, enter(to));
    (void)entered;
    return succeeded(cu_.MemcpyHtoD(reinterpret_cast<cuda::Pointer>(to), from, bytes),
                     fmt::format("copy {} bytes to {}", bytes, to));
}

Status CudaBackend::copy_out(void* to, const void* from, uint64_t bytes) {
    WW_TRY(entered, enter(from));
    (void)entered;
    return succeeded(cu_.MemcpyDtoH(to, reinterpret_cast<cuda::Pointer>(from), bytes),
                     fmt::format("copy {} bytes from {}", bytes, from));
}

}  // namespace

Result<std::unique_ptr<Backend>> open_cuda_backend() {
    WW_TRY(driver, cuda::the_driver());
    return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(*driver));
}

}  // namespace ww::sage3
