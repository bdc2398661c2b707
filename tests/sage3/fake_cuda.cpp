// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that launches nothing: it keeps what was called, by which thread state, and refuses what a
// real driver refuses while a stream is captured. Tests of libsage3.so look at the record (fake_cuda.h).
#include "fake_cuda.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

using Code = int;
constexpr Code kOk = 0, kInvalid = 1, kNoContext = 201, kNotFound = 500, kUnsupportedInCapture = 900, kLaunchFailed = 719;
constexpr int kGlobal = 0, kRelaxed = 2;

struct Memory {
    uint64_t bytes;
    unsigned type = 2;
    int ordinal = 0;
    unsigned managed = 0;
    void* context = nullptr;
};

std::mutex mutex;
std::string record;
std::map<uintptr_t, Memory> memories;
std::string fails;  // the kernel whose launch fails
int sm = 120;
bool capturing = false;
thread_local void* current = nullptr;
thread_local int mode = kGlobal;

void note(const std::string& line) {
    const std::lock_guard lock(mutex);
    record += line + "\n";
}

// What may not be done while a stream is captured, unless the thread said that it knows.
Code unsafe(const char* name) {
    note(name);
    return capturing && mode != kRelaxed ? kUnsupportedInCapture : kOk;
}

}  // namespace

extern "C" {

const char* fake_record() { return record.c_str(); }
void fake_clear() { record.clear(); }
void fake_set_sm(int value) { sm = value; }
void fake_capture(int on) { capturing = on != 0; }
void fake_fail(const char* kernel) { fails = kernel; }
void* fake_current() { return current; }
void fake_describe(void* memory, unsigned type, int ordinal, unsigned managed) {
    Memory& found = memories.at(reinterpret_cast<uintptr_t>(memory));
    found.type = type, found.ordinal = ordinal, found.managed = managed;
}

Code cuInit(unsigned) { return kOk; }
Code cuGetExportTable(const void** table, const void*) { return *table = nullptr, kNotFound; }  // NVRTC asks
Code cuDriverGetVersion(int* version) { return *version = 13000, kOk; }
Code cuGetErrorName(Code code, const char** name) {
    *name = code == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
    return kOk;
}
Code cuGetErrorString(Code, const char** text) { return *text = "as the fake driver was told", kOk; }
Code cuDeviceGetCount(int* count) { return *count = 2, kOk; }
Code cuDeviceGet(int* device, int ordinal) { return *device = ordinal, kOk; }
Code cuDeviceGetName(char* name, int bytes, int) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
    return kOk;
}
Code cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75 ? sm / 10 : attribute == 76 ? sm % 10 : 1;
    return kOk;
}
Code cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = 1u << 30, kOk; }
Code cuDevicePrimaryCtxRetain(void** context, int ordinal) {
    static int contexts[2];
    return *context = &contexts[ordinal], note("DevicePrimaryCtxRetain"), kOk;
}
Code cuDevicePrimaryCtxRelease_v2(int) { return kOk; }
Code cuCtxSetCurrent(void* context) { return current = context, kOk; }
Code cuCtxGetCurrent(void** context) { return *context = current, kOk; }
Code cuCtxPushCurrent_v2(void* context) { return current = context, kOk; }
Code cuCtxPopCurrent_v2(void** context) { return *context = current, current = nullptr, kOk; }
Code cuCtxGetDevice(int* device) { return current ? (*device = 0, kOk) : kNoContext; }
Code cuCtxSynchronize() { return unsafe("CtxSynchronize"); }
Code cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**) { return unsafe("ModuleLoadDataEx"); }
Code cuModuleUnload(void*) { return unsafe("ModuleUnload"); }
Code cuModuleGetFunction(void**, void*, const char*) { return kNotFound; }
Code cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
    if (std::memcmp(image, "\x7f" "ELF", 4) != 0) return kInvalid;
    static int next;
    *library = &next;
    return unsafe("LibraryLoadData");
}
Code cuLibraryUnload(void*) { return note("LibraryUnload"), kOk; }
Code cuLibraryGetKernel(void** kernel, void*, const char* name) {
    static std::set<std::string> names;
    const std::lock_guard lock(mutex);
    return *kernel = const_cast<char*>(names.insert(name).first->c_str()), kOk;
}
Code cuKernelGetFunction(void** function, void* kernel) {
    if (!current) return kNoContext;
    *function = kernel;
    return capturing && mode != kRelaxed ? kUnsupportedInCapture : kOk;
}
Code cuPointerGetAttributes(unsigned count, int* attributes, void** values, unsigned long long address) {
    const std::lock_guard lock(mutex);
    Memory found{0, 0, -2, 0, nullptr};
    if (auto above = memories.upper_bound(address); above != memories.begin()) {
        --above;
        if (address < above->first + above->second.bytes) found = above->second;
    }
    for (unsigned i = 0; i < count; ++i) switch (attributes[i]) {
        case 1: std::memcpy(values[i], &found.context, 8); break;
        case 2: std::memcpy(values[i], &found.type, 4); break;
        case 8: std::memcpy(values[i], &found.managed, 4); break;
        case 9: std::memcpy(values[i], &found.ordinal, 4); break;
        default: return kInvalid;
    }
    return kOk;
}
Code cuThreadExchangeStreamCaptureMode(int* exchanged) {
    const int old = mode;
    mode = *exchanged;
    *exchanged = old;
    return kOk;
}
Code cuFuncGetAttribute(int*, int, void*) { return kInvalid; }
Code cuFuncSetAttribute(void*, int, int) { return kOk; }
Code cuFuncGetParamInfo(void*, size_t, size_t*, size_t*) { return kInvalid; }
Code cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
    if (!current) return kNoContext;
    if (const Code code = unsafe("MemAlloc"); code != kOk) return code;
    *address = reinterpret_cast<uintptr_t>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
    const std::lock_guard lock(mutex);
    memories[*address] = Memory{.bytes = bytes, .context = current};
    return kOk;
}
Code cuMemFree_v2(unsigned long long address) {
    note("MemFree");
    const std::lock_guard lock(mutex);
    if (!memories.erase(address)) return kInvalid;
    std::free(reinterpret_cast<void*>(address));
    return kOk;
}
Code cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return unsafe("MemcpyHtoD");
}
Code cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return unsafe("MemcpyDtoH");
}
Code cuMemsetD8_v2(unsigned long long, unsigned char, size_t) { return unsafe("MemsetD8"); }
Code cuEventCreate(void**, unsigned) { return unsafe("EventCreate"); }
Code cuEventDestroy_v2(void*) { return kOk; }
Code cuEventRecord(void*, void*) { return unsafe("EventRecord"); }
Code cuEventElapsedTime(float*, void*, void*) { return kInvalid; }
Code cuStreamCreate(void**, unsigned) { return unsafe("StreamCreate"); }
Code cuStreamDestroy_v2(void*) { return kOk; }
Code cuStreamSynchronize(void*) { return unsafe("StreamSynchronize"); }
Code cuLaunchKernelEx(const void* config, void* function, void** arguments, void**) {
    struct Head {
        unsigned grid[3], block[3], shared_bytes;
        void* stream;
    } head;
    std::memcpy(&head, config, sizeof head);
    const std::string name = static_cast<const char*>(function);
    if (!current || !arguments[0]) return kInvalid;
    if (name == fails) return kLaunchFailed;
    note("Launch " + name + " stream " + std::to_string(reinterpret_cast<uintptr_t>(head.stream)) + " grid " +
         std::to_string(head.grid[0]) + " block " + std::to_string(head.block[0]));
    return kOk;
}

}  // extern "C"
