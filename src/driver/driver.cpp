// SPDX-License-Identifier: Apache-2.0
// Loads libcuda.so.1 and its functions; names are the versioned ones that the library exports.
#include "driver/driver.hpp"

#include <dlfcn.h>

#include <mutex>

#include "base/resolve.hpp"

namespace ww::driver {
namespace {

struct Symbols {
    void* library;
    std::string missing;

    template <class Function>
    void required(Function*& function, const char* name) {
        if (!resolve(library, name, function) && missing.empty()) missing = name;
    }
    template <class Function>
    void optional(Function*& function, const char* name) {
        (void)resolve(library, name, function);
    }
};

void bind(Symbols& s, Driver& d) {
    s.required(d.Init, "cuInit");
    s.required(d.DriverGetVersion, "cuDriverGetVersion");
    s.required(d.GetErrorName, "cuGetErrorName");
    s.required(d.GetErrorString, "cuGetErrorString");
    s.required(d.DeviceGetCount, "cuDeviceGetCount");
    s.required(d.DeviceGet, "cuDeviceGet");
    s.required(d.DeviceGetName, "cuDeviceGetName");
    s.required(d.DeviceGetAttribute, "cuDeviceGetAttribute");
    s.required(d.DeviceTotalMem, "cuDeviceTotalMem_v2");
    s.required(d.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    s.required(d.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    s.required(d.CtxSetCurrent, "cuCtxSetCurrent");
    s.required(d.CtxGetCurrent, "cuCtxGetCurrent");
    s.required(d.CtxPushCurrent, "cuCtxPushCurrent_v2");
    s.required(d.CtxPopCurrent, "cuCtxPopCurrent_v2");
    s.required(d.CtxGetDevice, "cuCtxGetDevice");
    s.required(d.CtxSynchronize, "cuCtxSynchronize");
    s.required(d.ModuleLoadDataEx, "cuModuleLoadDataEx");
    s.required(d.ModuleUnload, "cuModuleUnload");
    s.required(d.ModuleGetFunction, "cuModuleGetFunction");
    s.required(d.LibraryLoadData, "cuLibraryLoadData");
    s.required(d.LibraryUnload, "cuLibraryUnload");
    s.required(d.LibraryGetKernel, "cuLibraryGetKernel");
    s.required(d.KernelGetFunction, "cuKernelGetFunction");
    s.required(d.PointerGetAttributes, "cuPointerGetAttributes");
    s.required(d.ThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode");
    s.required(d.FuncGetAttribute, "cuFuncGetAttribute");
    s.required(d.FuncSetAttribute, "cuFuncSetAttribute");
    s.required(d.MemAlloc, "cuMemAlloc_v2");
    s.required(d.MemFree, "cuMemFree_v2");
    s.required(d.MemcpyHtoD, "cuMemcpyHtoD_v2");
    s.required(d.MemcpyDtoH, "cuMemcpyDtoH_v2");
    s.required(d.MemsetD8, "cuMemsetD8_v2");
    s.required(d.EventCreate, "cuEventCreate");
    s.required(d.EventDestroy, "cuEventDestroy_v2");
    s.required(d.EventRecord, "cuEventRecord");
    s.required(d.EventElapsedTime, "cuEventElapsedTime");
    s.required(d.StreamCreate, "cuStreamCreate");
    s.required(d.StreamDestroy, "cuStreamDestroy_v2");
    s.required(d.StreamSynchronize, "cuStreamSynchronize");
    s.required(d.LaunchKernelEx, "cuLaunchKernelEx");
    s.required(d.FuncGetParamInfo, "cuFuncGetParamInfo");
    s.optional(d.ModuleGetFunctionCount, "cuModuleGetFunctionCount");
    s.optional(d.ModuleEnumerateFunctions, "cuModuleEnumerateFunctions");
    s.optional(d.FuncGetName, "cuFuncGetName");
    s.optional(d.TensorMapEncodeTiled, "cuTensorMapEncodeTiled");
}

Result<const Driver*> load() {
    static Driver loaded{};
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* reason = dlerror();
        return fail(std::string("no CUDA driver: ") + (reason ? reason : "libcuda.so.1 not found"));
    }
    Symbols symbols{library, {}};
    bind(symbols, loaded);
    if (!symbols.missing.empty())
        return fail("the CUDA driver is too old: libcuda.so.1 has no " + symbols.missing +
                    " (12.4 or newer is needed)");
    if (Code code = loaded.Init(0); code == kErrorNoDevice)
        return fail("no GPU: the CUDA driver is there but finds no device");
    else if (code != kSuccess)
        return fail("the CUDA driver does not start: " + describe(loaded, code));
    return &loaded;
}

struct Lost {
    std::mutex mutex;
    std::string message;  // empty: nothing was lost
};

Lost& lost() {
    static Lost the_process;
    return the_process;
}

}  // namespace

Result<const Driver*> the_driver() {
    static const Result<const Driver*> once = load();
    return once;
}

std::string describe(const Driver& driver, Code code) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.GetErrorName(code, &name) != kSuccess || !name) name = "unknown CUDA error";
    if (driver.GetErrorString(code, &text) != kSuccess || !text) text = "no description";
    return std::string(name) + " (" + std::to_string(code) + "): " + text;
}

bool is_sticky(Code code) {
    switch (code) {
        case 214:  // uncorrectable ECC error
        case 220:  // NVLink uncorrectable
        case 226:  // contained error
        case 700:  // illegal address
        case 702:  // launch timeout
        case 709:  // context destroyed
        case 710:  // device-side assert
        case 714:  // stack error
        case 715:  // illegal instruction
        case 716:  // misaligned address
        case 717:  // invalid address space
        case 718:  // invalid program counter
        case 719:  // launch failed
        case 721:  // tensor memory leak
            return true;
        default: return false;
    }
}

void mark_lost(const std::string& message) {
    const std::lock_guard lock(lost().mutex);
    if (lost().message.empty()) lost().message = message;
}

Status check_usable() {
    const std::lock_guard lock(lost().mutex);
    if (lost().message.empty()) return ok();
    return fail("the CUDA context is lost, a new process is needed; its first error: " +
                lost().message);
}

}  // namespace ww::driver
