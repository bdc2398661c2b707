// SPDX-License-Identifier: Apache-2.0
// The device that is a GPU, through the driver API: modules, memory, launches, tensor maps.
// PTX is compiled by the driver as it is: the driver has no switch against fusing an unsuffixed
// mul and add, so a caller that compares bit for bit assembles with --fmad=false and loads a cubin.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "device/cuda_stdout.hpp"
#include "device/device.hpp"
#include "driver/driver.hpp"
#include "driver/nvml.hpp"

namespace ww::device {
namespace {

using driver::Code;
using driver::Driver;
using driver::Handle;
using driver::kSuccess;

constexpr uint32_t kFreeDynamicShared = 48 * 1024;  // more needs an opt-in per function
constexpr uint32_t kPortableCluster = 8;
constexpr size_t kLogBytes = 16 * 1024;

struct Module {
    Handle handle = nullptr;
    std::string name;
    bool prints = false;  // calls vprintf
};

struct Kernel {
    Handle handle = nullptr;
    ModuleId module = 0;
    std::string name;
    std::vector<Param> params;
};

class CudaDevice final : public Device {
  public:
    CudaDevice(const Driver& driver, driver::Ordinal ordinal) : cu_(driver), ordinal_(ordinal) {}
    ~CudaDevice() override;
    Status open();

    Info info() const override { return info_; }
    // Labels have no use here: a fault of the driver names no address.
    Result<Address> allocate(uint64_t bytes, MemoryLabel label) override;
    Status release(Address address) override;
    Status copy_in(Address to, std::span<const std::byte> from) override;
    Status copy_out(std::span<std::byte> to, Address from) override;
    Status fill(Address to, uint8_t value, uint64_t bytes, bool initialise) override;
    Result<ModuleId> load(const Image& image) override;
    Status unload(ModuleId module) override;
    Result<std::vector<std::string>> kernels(ModuleId module) override;
    Result<KernelId> kernel(ModuleId module, const std::string& name) override;
    Result<std::vector<Param>> params(KernelId kernel) override;
    Status check(KernelId kernel, const Launch& launch) override;
    Result<LaunchReport> launch(KernelId kernel, const Launch& launch) override;
    Result<std::vector<double>> time_launches(KernelId kernel, const Launch& launch, uint32_t count) override;
    Result<std::vector<double>> time_turns(std::span<const Turn> turns, uint32_t untimed) override;
    std::optional<Condition> condition() override;
    Result<TensorMap> encode_tensor_map(const TensorMapTiled& tiled) override;
    void trace_writes(bool) override {}
    std::optional<WriteRecord> last_write(Address) const override { return std::nullopt; }

  private:
    Status succeeded(Code code, const std::string& doing);
    Status enter();
    Status read_info();
    std::vector<std::string> kernel_names(Handle module) const;
    Status prepare(const Kernel& kernel, const Launch& launch);
    Code start(const Kernel& kernel, const Launch& launch);
    Code run(const Kernel& kernel, const Launch& launch, float& milliseconds);
    void read_rates();
    Code start_between(std::span<const Turn> turns, std::span<const Handle> events);

    const Driver& cu_;
    driver::Ordinal ordinal_;
    Handle context_ = nullptr, stream_ = nullptr, start_ = nullptr, end_ = nullptr;
    Info info_;
    std::map<ModuleId, Module> modules_;
    std::map<KernelId, Kernel> kernels_;
    std::map<Address, uint64_t> allocations_;
    uint32_t next_id_ = 1;
};

Status CudaDevice::succeeded(Code code, const std::string& doing) {
    if (code == kSuccess) return ok();
    const std::string message = doing + ": " + driver::describe(cu_, code);
    if (driver::is_sticky(code)) driver::mark_lost(message);
    return fail(message);
}

Status CudaDevice::enter() {
    WW_TRY(usable, driver::check_usable());
    (void)usable;
    return succeeded(cu_.CtxSetCurrent(context_), "make the CUDA context current");
}

Status CudaDevice::open() {
    WW_TRY(retained, succeeded(cu_.DevicePrimaryCtxRetain(&context_, ordinal_),
                               fmt::format("open CUDA device {}", ordinal_)));
    (void)retained;
    WW_TRY(entered, enter());
    (void)entered;
    WW_TRY(stream, succeeded(cu_.StreamCreate(&stream_, 0), "create a stream"));
    (void)stream;
    WW_TRY(start, succeeded(cu_.EventCreate(&start_, 0), "create an event"));
    (void)start;
    WW_TRY(end, succeeded(cu_.EventCreate(&end_, 0), "create an event"));
    (void)end;
    return read_info();
}

Status CudaDevice::read_info() {
    int major = 0, minor = 0, processors = 0, shared = 0, version = 0;
    size_t memory = 0;
    char name[256] = {};
    Code code = cu_.DeviceGetAttribute(&major, driver::kComputeCapabilityMajor, ordinal_);
    if (!code) code = cu_.DeviceGetAttribute(&minor, driver::kComputeCapabilityMinor, ordinal_);
    if (!code) code = cu_.DeviceGetAttribute(&processors, driver::kMultiprocessorCount, ordinal_);
    if (!code) code = cu_.DeviceGetAttribute(&shared, driver::kMaxSharedPerBlockOptin, ordinal_);
    if (!code) code = cu_.DeviceTotalMem(&memory, ordinal_);
    if (!code) code = cu_.DeviceGetName(name, sizeof name - 1, ordinal_);
    if (!code) code = cu_.DriverGetVersion(&version);
    info_.kind = "cuda";
    info_.name = name;
    info_.sm = major * 10 + minor;
    // From 9.0 on, the architecture-specific features come with the letter.
    info_.target = fmt::format("sm_{}{}", info_.sm, info_.sm >= 90 ? "a" : "");
    info_.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    info_.multiprocessors = static_cast<uint32_t>(processors);
    info_.memory_bytes = memory;
    info_.max_shared_bytes = static_cast<uint32_t>(shared);
    if (!code) read_rates();
    return succeeded(code, "read the device's attributes");
}

// What a driver does not tell stays 0.
void CudaDevice::read_rates() {
    const auto read = [&](int attribute) {
        int value = 0;
        return cu_.DeviceGetAttribute(&value, attribute, ordinal_) == kSuccess ? value : 0;
    };
    info_.l2_bytes = static_cast<uint64_t>(read(driver::kL2Bytes));
    info_.clock_hz = 1e3 * read(driver::kClockKhz);
    // Two transfers a clock.
    info_.memory_bytes_per_second = 2e3 * read(driver::kMemoryClockKhz) * (read(driver::kMemoryBusBits) / 8);
}

CudaDevice::~CudaDevice() {
    // After a fault the driver must not be called any more: the handles belong to a context that is
    // gone, and a context retained after it does not work either. The end of the process frees all.
    if (!context_ || !driver::check_usable()) return;
    cu_.CtxSetCurrent(context_);
    for (auto& [id, module] : modules_) cu_.ModuleUnload(module.handle);
    for (auto& [address, bytes] : allocations_) cu_.MemFree(address);
    if (start_) cu_.EventDestroy(start_);
    if (end_) cu_.EventDestroy(end_);
    if (stream_) cu_.StreamDestroy(stream_);
    cu_.CtxSetCurrent(nullptr);
    cu_.DevicePrimaryCtxRelease(ordinal_);
}

Result<Address> CudaDevice::allocate(uint64_t bytes, MemoryLabel) {
    WW_TRY(entered, enter());
    (void)entered;
    driver::Pointer address = 0;
    // The driver refuses 0 bytes; an empty tensor still gets an address of its own.
    WW_TRY(done, succeeded(cu_.MemAlloc(&address, std::max<uint64_t>(bytes, 1)),
                           fmt::format("allocate {} bytes", bytes)));
    (void)done;
    allocations_[address] = bytes;
    return Address{address};
}

Status CudaDevice::release(Address address) {
    WW_TRY(entered, enter());
    (void)entered;
    if (!allocations_.erase(address))
        return fail(fmt::format("release {:#x}: no allocation starts there", address));
    return succeeded(cu_.MemFree(address), "free memory");
}

Status CudaDevice::copy_in(Address to, std::span<const std::byte> from) {
    WW_TRY(entered, enter());
    (void)entered;
    if (from.empty()) return ok();
    return succeeded(cu_.MemcpyHtoD(to, from.data(), from.size()),
                     fmt::format("copy {} bytes to {:#x}", from.size(), to));
}

Status CudaDevice::copy_out(std::span<std::byte> to, Address from) {
    WW_TRY(entered, enter());
    (void)entered;
    if (to.empty()) return ok();
    return succeeded(cu_.MemcpyDtoH(to.data(), from, to.size()),
                     fmt::format("copy {} bytes from {:#x}", to.size(), from));
}

Status CudaDevice::fill(Address to, uint8_t value, uint64_t bytes, bool) {
    WW_TRY(entered, enter());
    (void)entered;
    if (bytes == 0) return ok();
    WW_TRY(done, succeeded(cu_.MemsetD8(to, value, bytes),
                           fmt::format("fill {} bytes at {:#x}", bytes, to)));
    (void)done;
    // Launches run in a stream of their own and memsets may be asynchronous.
    return succeeded(cu_.CtxSynchronize(), "fill memory");
}

Result<ModuleId> CudaDevice::load(const Image& image) {
    WW_TRY(entered, enter());
    (void)entered;
    std::vector<char> log(kLogBytes, '\0');
    int options[] = {driver::kJitErrorLogBuffer, driver::kJitErrorLogBufferBytes,
                     driver::kJitGenerateLineInfo};
    void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes - 1),
                      reinterpret_cast<void*>(uintptr_t{1})};
    Module module;
    module.name = image.name;
    module.prints = image.bytes.find("vprintf") != std::string::npos;
    // std::string ends in a zero byte, which the driver wants after PTX text.
    bool ptx = image.kind == Image::Kind::ptx;
    Code code = cu_.ModuleLoadDataEx(&module.handle, image.bytes.c_str(), ptx ? 3 : 0, options,
                                     values);
    if (Status status = succeeded(code, "load " + image.name); !status) {
        if (!log[0]) return status.failure();
        Diagnostics all = status.error();
        all[0].message += "\n" + std::string(trim(log.data()));
        return fail(all);
    }
    ModuleId id = next_id_++;
    modules_[id] = module;
    return id;
}

Status CudaDevice::unload(ModuleId module) {
    WW_TRY(entered, enter());
    (void)entered;
    auto found = modules_.find(module);
    if (found == modules_.end()) return fail(fmt::format("unload: no module {}", module));
    Handle handle = found->second.handle;
    modules_.erase(found);
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.module == module; });
    return succeeded(cu_.ModuleUnload(handle), "unload a module");
}

std::vector<std::string> CudaDevice::kernel_names(Handle module) const {
    unsigned count = 0;
    if (!cu_.ModuleGetFunctionCount || !cu_.ModuleEnumerateFunctions || !cu_.FuncGetName) return {};
    if (cu_.ModuleGetFunctionCount(&count, module) != kSuccess || count == 0) return {};
    std::vector<Handle> functions(count);
    if (cu_.ModuleEnumerateFunctions(functions.data(), count, module) != kSuccess) return {};
    std::vector<std::string> names;
    for (Handle function : functions) {
        const char* name = nullptr;
        if (cu_.FuncGetName(&name, function) == kSuccess && name) names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::vector<std::string>> CudaDevice::kernels(ModuleId module) {
    WW_TRY(entered, enter());
    (void)entered;
    auto found = modules_.find(module);
    if (found == modules_.end()) return fail(fmt::format("no module {}", module));
    std::vector<std::string> names = kernel_names(found->second.handle);
    if (names.empty()) return fail("the driver names no kernel of " + found->second.name);
    return names;
}

Result<KernelId> CudaDevice::kernel(ModuleId module, const std::string& name) {
    WW_TRY(entered, enter());
    (void)entered;
    auto found = modules_.find(module);
    if (found == modules_.end()) return fail(fmt::format("no module {}", module));
    Kernel kernel{nullptr, module, name, {}};
    Code code = cu_.ModuleGetFunction(&kernel.handle, found->second.handle, name.c_str());
    if (code == driver::kErrorNotFound) {
        const std::vector<std::string> names =
            nearest_first(name, kernel_names(found->second.handle));
        return fail(fmt::format("{} has no kernel {}{}", found->second.name, name,
                                names.empty() ? "" : "; it has " + join(names, ", ")));
    }
    WW_TRY(got, succeeded(code, "find kernel " + name));
    (void)got;
    size_t offset = 0, bytes = 0;
    while (cu_.FuncGetParamInfo(kernel.handle, kernel.params.size(), &offset, &bytes) == kSuccess) {
        Param param;
        param.offset = static_cast<uint32_t>(offset);
        param.size = static_cast<uint32_t>(bytes);
        kernel.params.push_back(param);
    }
    KernelId id = next_id_++;
    kernels_[id] = kernel;
    return id;
}

Result<std::vector<Param>> CudaDevice::params(KernelId kernel) {
    auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return fail(fmt::format("no kernel {}", kernel));
    return found->second.params;
}

Status CudaDevice::check(KernelId kernel, const Launch& launch) {
    WW_TRY(entered, enter());
    (void)entered;
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return fail(fmt::format("launch: no kernel {}", kernel));
    const Kernel& target = found->second;
    WW_TRY(fit, check_arguments(target.name, target.params, launch.arguments));
    (void)fit;
    const auto refuse = [&](const std::string& why) {
        return fail(fmt::format("launch of {}: {}", target.name, why));
    };
    for (const auto& [grid, block, cluster] :
         {std::tuple(launch.grid.x, launch.block.x, launch.cluster.x),
          std::tuple(launch.grid.y, launch.block.y, launch.cluster.y),
          std::tuple(launch.grid.z, launch.block.z, launch.cluster.z)}) {
        if (grid == 0 || block == 0 || cluster == 0)
            return refuse("a grid, block or cluster dimension is 0");
        if (grid % cluster != 0)
            return refuse(
                fmt::format("grid dimension {} is no multiple of the cluster's {}", grid, cluster));
    }
    int threads = 0, shared = 0;
    Code code = cu_.FuncGetAttribute(&threads, driver::kMaxThreadsPerBlock, target.handle);
    if (!code) code = cu_.FuncGetAttribute(&shared, driver::kSharedSizeBytes, target.handle);
    WW_TRY(read, succeeded(code, "read the limits of kernel " + target.name));
    (void)read;
    if (launch.block.count() > static_cast<uint64_t>(threads))
        return refuse(
            fmt::format("{} threads a block; the limit is {}", launch.block.count(), threads));
    const uint64_t bytes = static_cast<uint64_t>(shared) + launch.dynamic_shared_bytes;
    if (bytes > info_.max_shared_bytes)
        return refuse(fmt::format("{} bytes of shared memory ({} static); the limit is {}", bytes,
                                  shared, info_.max_shared_bytes));
    return ok();
}

// Raises the function's limits where the launch needs it.
Status CudaDevice::prepare(const Kernel& kernel, const Launch& launch) {
    if (launch.dynamic_shared_bytes > kFreeDynamicShared) {
        WW_TRY(raised,
               succeeded(cu_.FuncSetAttribute(kernel.handle, driver::kMaxDynamicSharedBytes,
                                              static_cast<int>(launch.dynamic_shared_bytes)),
                         fmt::format("kernel {}: {} bytes of dynamic shared memory", kernel.name,
                                     launch.dynamic_shared_bytes)));
        (void)raised;
    }
    if (launch.cluster.count() > kPortableCluster)
        return succeeded(
            cu_.FuncSetAttribute(kernel.handle, driver::kNonPortableClusterSizeAllowed, 1),
            fmt::format("kernel {}: a cluster of {} blocks", kernel.name, launch.cluster.count()));
    return ok();
}

Code CudaDevice::start(const Kernel& kernel, const Launch& launch) {
    driver::LaunchAttribute attributes[3];
    uint32_t count = 0;
    auto add = [&](int id, std::initializer_list<uint32_t> words) {
        attributes[count].id = id;
        std::copy(words.begin(), words.end(), attributes[count].value);
        ++count;
    };
    if (launch.cluster.count() > 1)
        add(driver::kClusterDimension, {launch.cluster.x, launch.cluster.y, launch.cluster.z});
    if (launch.cooperative) add(driver::kCooperative, {1});
    if (launch.programmatic_dependent) add(driver::kProgrammaticStreamSerialization, {1});
    driver::LaunchConfig config{{launch.grid.x, launch.grid.y, launch.grid.z},
                              {launch.block.x, launch.block.y, launch.block.z},
                              launch.dynamic_shared_bytes, stream_, attributes, count};
    std::vector<void*> pointers;
    for (const Argument& argument : launch.arguments)
        pointers.push_back(const_cast<std::byte*>(argument.bytes.data()));
    return cu_.LaunchKernelEx(&config, kernel.handle, pointers.data(), nullptr);
}

Code CudaDevice::run(const Kernel& kernel, const Launch& launch, float& milliseconds) {
    Code code = cu_.EventRecord(start_, stream_);
    if (!code) code = start(kernel, launch);
    if (!code) code = cu_.EventRecord(end_, stream_);
    if (!code) code = cu_.StreamSynchronize(stream_);
    if (!code) code = cu_.EventElapsedTime(&milliseconds, start_, end_);
    return code;
}

Result<LaunchReport> CudaDevice::launch(KernelId kernel, const Launch& launch) {
    WW_TRY(checked, check(kernel, launch));
    (void)checked;
    const Kernel& target = kernels_.at(kernel);
    WW_TRY(prepared, prepare(target, launch));
    (void)prepared;
    LaunchReport report;
    float milliseconds = 0;
    Code code = kSuccess;
    if (modules_.at(target.module).prints) {
        cuda::StdoutCapture capture;
        code = run(target, launch, milliseconds);
        report.printf_output = capture.finish();
    } else {
        code = run(target, launch, milliseconds);
    }
    if (Status status = succeeded(code, fmt::format("kernel {}", target.name)); !status) {
        Diagnostics all = status.error();
        if (!report.printf_output.empty())
            all.push_back({Severity::note, {}, 0, 0, "it printed: " + report.printf_output, {}});
        return fail(all);
    }
    report.seconds = double{milliseconds} * 1e-3;
    return report;
}

// Launches without a pause: the time between two events is then the kernels', not the host's. The
// turns before the first event fill the queue.
Code CudaDevice::start_between(std::span<const Turn> turns, std::span<const Handle> events) {
    const size_t untimed = turns.size() + 1 - events.size();
    Code code = kSuccess;
    for (size_t i = 0; i < turns.size() && !code; ++i) {
        if (i == untimed) code = cu_.EventRecord(events[0], stream_);
        for (const Queued& each : turns[i])
            if (!code) code = start(kernels_.at(each.kernel), *each.launch);
        if (!code && i >= untimed) code = cu_.EventRecord(events[i + 1 - untimed], stream_);
    }
    if (!code) code = cu_.StreamSynchronize(stream_);
    return code;
}

Result<std::vector<double>> CudaDevice::time_turns(std::span<const Turn> turns, uint32_t untimed) {
    WW_CHECK(untimed < turns.size(), "no turn is timed");
    for (const Turn& turn : turns)
        for (const Queued& each : turn) {
            WW_TRY(checked, check(each.kernel, *each.launch));
            (void)checked;
            WW_TRY(prepared, prepare(kernels_.at(each.kernel), *each.launch));
            (void)prepared;
        }
    std::vector<Handle> events(turns.size() - untimed + 1, nullptr);
    Code code = kSuccess;
    for (size_t i = 0; i < events.size() && !code; ++i) code = cu_.EventCreate(&events[i], 0);
    if (!code) code = start_between(turns, events);
    std::vector<double> seconds;
    for (size_t i = 1; i < events.size() && !code; ++i) {
        float milliseconds = 0;
        code = cu_.EventElapsedTime(&milliseconds, events[i - 1], events[i]);
        seconds.push_back(double{milliseconds} * 1e-3);
    }
    const std::string& first = kernels_.at(turns[0].at(0).kernel).name;
    const Status done = succeeded(code, fmt::format("time kernel {}", first));
    if (driver::check_usable())
        for (Handle event : events)
            if (event) cu_.EventDestroy(event);
    if (!done) return done.failure();
    return seconds;
}

Result<std::vector<double>> CudaDevice::time_launches(KernelId kernel, const Launch& launch, uint32_t count) {
    const std::vector<Turn> turns(size_t{count} + 1, Turn{{kernel, &launch}});
    WW_TRY(checked, check(kernel, launch));
    (void)checked;
    return time_turns(turns, 1);
}

std::optional<Condition> CudaDevice::condition() {
    int domain = 0, bus = 0, device = 0;
    Code code = cu_.DeviceGetAttribute(&domain, driver::kPciDomain, ordinal_);
    if (!code) code = cu_.DeviceGetAttribute(&bus, driver::kPciBus, ordinal_);
    if (!code) code = cu_.DeviceGetAttribute(&device, driver::kPciDevice, ordinal_);
    if (code) return std::nullopt;
    const auto read = driver::read_nvml(fmt::format("{:08x}:{:02x}:{:02x}.0", domain, bus, device));
    if (!read) return std::nullopt;
    return Condition{read->sm_mhz, read->memory_mhz, read->celsius, read->watts, read->version};
}

Result<TensorMap> CudaDevice::encode_tensor_map(const TensorMapTiled& tiled) {
    WW_TRY(entered, enter());
    (void)entered;
    if (!cu_.TensorMapEncodeTiled) return fail("this CUDA driver has no tensor maps (12.0 brought them)");
    size_t rank = tiled.sizes.size();
    if (rank < 1 || rank > 5 || tiled.strides.size() + 1 != rank || tiled.box.size() != rank ||
        tiled.element_strides.size() != rank)
        return fail(fmt::format("a tensor map of {} sizes, {} strides, {} box sizes, {} element "
                                "strides: 1 to 5 sizes, one stride fewer, as many of the others",
                                rank, tiled.strides.size(), tiled.box.size(),
                                tiled.element_strides.size()));
    alignas(64) TensorMap map{};
    Code code = cu_.TensorMapEncodeTiled(
        map.data(), static_cast<int>(tiled.data_type), static_cast<uint32_t>(rank),
        reinterpret_cast<void*>(tiled.address), tiled.sizes.data(), tiled.strides.data(),
        tiled.box.data(), tiled.element_strides.data(), static_cast<int>(tiled.interleave),
        static_cast<int>(tiled.swizzle), static_cast<int>(tiled.l2_promotion),
        static_cast<int>(tiled.oob_fill));
    WW_TRY(encoded, succeeded(code, "encode a tensor map"));
    (void)encoded;
    return map;
}

}  // namespace

Result<std::unique_ptr<Device>> open_cuda(int ordinal) {
    WW_TRY(loaded, driver::the_driver());
    WW_TRY(usable, driver::check_usable());
    (void)usable;
    int count = 0;
    if (Code code = loaded->DeviceGetCount(&count); code != kSuccess)
        return fail("count the GPUs: " + driver::describe(*loaded, code));
    if (count == 0) return fail("no GPU: the CUDA driver is there but finds no device");
    if (ordinal < 0 || ordinal >= count)
        return fail(fmt::format("no CUDA device {}: there are {} (0 to {})", ordinal, count,
                                count - 1));
    driver::Ordinal device = 0;
    if (Code code = loaded->DeviceGet(&device, ordinal); code != kSuccess)
        return fail(fmt::format("open CUDA device {}: {}", ordinal, driver::describe(*loaded, code)));
    auto opened = std::make_unique<CudaDevice>(*loaded, device);
    WW_TRY(ready, opened->open());
    (void)ready;
    return std::unique_ptr<Device>(std::move(opened));
}

}  // namespace ww::device
