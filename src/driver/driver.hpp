// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver API that we use, loaded from libcuda.so.1 at run time: declarations of our
// own, so that neither a toolkit nor a driver is needed to build.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace ww::driver {

using Code = int;  // CUresult
using Ordinal = int;
using Pointer = unsigned long long;  // CUdeviceptr
using Handle = void*;                // CUcontext, CUmodule, CUfunction, CUstream, CUevent

constexpr Code kSuccess = 0;
constexpr Code kErrorNoDevice = 100;
constexpr Code kErrorNotFound = 500;

enum JitOption : int {
    kJitInfoLogBuffer = 3,
    kJitInfoLogBufferBytes = 4,
    kJitErrorLogBuffer = 5,
    kJitErrorLogBufferBytes = 6,
    kJitGenerateLineInfo = 13,
};
enum DeviceAttribute : int {
    kClockKhz = 13,
    kMultiprocessorCount = 16,
    kPciBus = 33,
    kPciDevice = 34,
    kMemoryClockKhz = 36,
    kMemoryBusBits = 37,
    kL2Bytes = 38,
    kPciDomain = 50,
    kComputeCapabilityMajor = 75,
    kComputeCapabilityMinor = 76,
    kMaxSharedPerBlockOptin = 97,
};
enum FunctionAttribute : int {
    kMaxThreadsPerBlock = 0,
    kSharedSizeBytes = 1,
    kMaxDynamicSharedBytes = 8,
    kNonPortableClusterSizeAllowed = 14,
};
enum LaunchAttributeId : int {
    kCooperative = 2,
    kClusterDimension = 4,
    kProgrammaticStreamSerialization = 6,
};

struct LaunchAttribute {
    int id = 0;
    int pad = 0;
    uint32_t value[16] = {};  // a union of 64 bytes; ours are words from its start
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes = 0;
    Handle stream = nullptr;
    LaunchAttribute* attributes = nullptr;
    uint32_t attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

enum PointerAttribute : int { kPointerContext = 1, kMemoryType = 2, kIsManaged = 8, kPointerOrdinal = 9 };
enum MemoryType : uint32_t { kHostMemory = 1, kDeviceMemory = 2 };
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };

// One member a driver function, named as the function without its "cu".
struct Driver {
    Code (*Init)(unsigned flags);
    Code (*DriverGetVersion)(int* version);
    Code (*GetErrorName)(Code error, const char** name);
    Code (*GetErrorString)(Code error, const char** text);
    Code (*DeviceGetCount)(int* count);
    Code (*DeviceGet)(Ordinal* device, int ordinal);
    Code (*DeviceGetName)(char* name, int bytes, Ordinal device);
    Code (*DeviceGetAttribute)(int* value, int attribute, Ordinal device);
    Code (*DeviceTotalMem)(size_t* bytes, Ordinal device);
    Code (*DevicePrimaryCtxRetain)(Handle* context, Ordinal device);
    Code (*DevicePrimaryCtxRelease)(Ordinal device);
    Code (*CtxSetCurrent)(Handle context);
    Code (*CtxGetCurrent)(Handle* context);
    Code (*CtxPushCurrent)(Handle context);
    Code (*CtxPopCurrent)(Handle* context);
    Code (*CtxGetDevice)(Ordinal* device);
    Code (*CtxSynchronize)();
    Code (*ModuleLoadDataEx)(Handle* module, const void* image, unsigned count, int* options,
                             void** values);
    Code (*ModuleUnload)(Handle module);
    Code (*ModuleGetFunction)(Handle* function, Handle module, const char* name);
    // A library belongs to no context; its kernels are loaded into one when they are asked for there.
    Code (*LibraryLoadData)(Handle* library, const void* image, int* options, void** values, unsigned count,
                            int* library_options, void** library_values, unsigned library_count);
    Code (*LibraryUnload)(Handle library);
    Code (*LibraryGetKernel)(Handle* kernel, Handle library, const char* name);
    Code (*KernelGetFunction)(Handle* function, Handle kernel);
    Code (*PointerGetAttributes)(unsigned count, int* attributes, void** values, Pointer address);
    Code (*ThreadExchangeStreamCaptureMode)(int* mode);
    Code (*FuncGetAttribute)(int* value, int attribute, Handle function);
    Code (*FuncSetAttribute)(Handle function, int attribute, int value);
    Code (*MemAlloc)(Pointer* address, size_t bytes);
    Code (*MemFree)(Pointer address);
    Code (*MemcpyHtoD)(Pointer to, const void* from, size_t bytes);
    Code (*MemcpyDtoH)(void* to, Pointer from, size_t bytes);
    Code (*MemsetD8)(Pointer to, unsigned char value, size_t bytes);
    Code (*EventCreate)(Handle* event, unsigned flags);
    Code (*EventDestroy)(Handle event);
    Code (*EventRecord)(Handle event, Handle stream);
    Code (*EventElapsedTime)(float* milliseconds, Handle start, Handle end);
    Code (*StreamCreate)(Handle* stream, unsigned flags);
    Code (*StreamDestroy)(Handle stream);
    Code (*StreamSynchronize)(Handle stream);
    // Younger than the oldest driver we load; null where the driver lacks them.
    Code (*LaunchKernelEx)(const LaunchConfig* config, Handle function, void** params,
                           void** extra);
    Code (*FuncGetParamInfo)(Handle function, size_t index, size_t* offset, size_t* bytes);
    Code (*ModuleGetFunctionCount)(unsigned* count, Handle module);
    Code (*ModuleEnumerateFunctions)(Handle* functions, unsigned count, Handle module);
    Code (*FuncGetName)(const char** name, Handle function);
    Code (*TensorMapEncodeTiled)(void* map, int data_type, uint32_t rank, void* address,
                                 const uint64_t* sizes, const uint64_t* strides,
                                 const uint32_t* box, const uint32_t* element_strides,
                                 int interleave, int swizzle, int l2_promotion, int oob_fill);
};

// The driver, initialised once for the process; fails where libcuda is absent, too old, or finds no
// device it can use.
Result<const Driver*> the_driver();

// "CUDA_ERROR_X (700): text"
std::string describe(const Driver& driver, Code code);
// An error after which the process can do no more on a GPU (a fault inside a kernel).
bool is_sticky(Code code);
// Such an error came; the first one is kept, for all devices of the process.
void mark_lost(const std::string& message);
// Fails once mark_lost() was called. Ask before every call of the driver: with the handles of a lost
// context it may crash.
Status check_usable();

}  // namespace ww::driver
