// SPDX-License-Identifier: Apache-2.0
// The device, errors, streams and events (all work is done when it is given), the driver's functions.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "cubin/occupancy.hpp"
#include "cudart/abi.hpp"

using namespace ww::cudart;
namespace abi = ww::cudart::abi;

namespace {

constexpr int kVersion = 13000;

struct CodeText {
    int code;
    const char *name, *text;
};
constexpr CodeText kCodes[] = {
#define WW_CODE(constant, name, number, text) {number, name, text},
#include "cudart/codes.def"
#undef WW_CODE
};
const CodeText* code_text(int code) {
    const auto* found = std::find_if(std::begin(kCodes), std::end(kCodes), [&](const CodeText& each) { return each.code == code; });
    return found == std::end(kCodes) ? nullptr : found;
}

const ww::cubin::SmLimits& limits_of(int sm) {
    const auto all = ww::cubin::sm_limits();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.sm == sm; });
    return found == all.end() ? all.back() : *found;
}

abi::DeviceProperties properties(Session& session) {
    const ww::device::Info info = session.device().info();
    const ww::cubin::SmLimits& limits = limits_of(info.sm);
    abi::DeviceProperties out{.global_bytes = info.memory_bytes,
                              .shared_per_block = kDefaultShared,
                              .registers_per_block = limits.registers_per_block,
                              .warp_size = 32,
                              .pitch = 0x7fffffff,
                              .max_threads_per_block = limits.threads_per_block,
                              .max_block = {1024, 1024, 64},
                              .max_grid = {0x7fffffff, 65535, 65535},
                              .constant_bytes = 65536,
                              .major = info.sm / 10,
                              .minor = info.sm % 10,
                              .texture_alignment = 512,
                              .texture_pitch_alignment = 32,
                              .multiprocessors = static_cast<int>(session.multiprocessors()),
                              .can_map_host = 1,
                              .surface_alignment = 512,
                              .concurrent_kernels = 1,
                              .async_engines = 1,
                              .unified_addressing = 1,
                              .l2_bytes = 50 << 20,
                              .threads_per_multiprocessor = limits.threads_per_sm,
                              .stream_priorities = 1,
                              .shared_per_multiprocessor = static_cast<size_t>(limits.shared_per_sm),
                              .registers_per_multiprocessor = limits.registers_per_sm,
                              .managed_memory = 1,
                              .concurrent_managed = 1,
                              .host_pointer_registered = 1,
                              .cooperative = 1,
                              .shared_per_block_optin = info.max_shared_bytes,
                              .blocks_per_multiprocessor = limits.blocks_per_sm,
                              .reserved_shared = static_cast<size_t>(limits.shared_reserved),
                              .host_register = 1,
                              .cluster_launch = info.sm >= 90,
                              .unified_function_pointers = 1,
                              .host_numa_id = -1};
    std::strncpy(out.name, info.name.c_str(), sizeof out.name - 1);
    return out;
}

// cudaDeviceAttr by number; empty: not known here.
std::optional<int> attribute(Session& session, int id) {
    const abi::DeviceProperties p = properties(session);
    switch (id) {
        case 1: return p.max_threads_per_block;
        case 2: case 3: case 4: return p.max_block[id - 2];
        case 5: case 6: case 7: return p.max_grid[id - 5];
        case 8: return static_cast<int>(p.shared_per_block);
        case 9: return static_cast<int>(p.constant_bytes);
        case 10: return p.warp_size;
        case 12: return p.registers_per_block;
        case 14: return static_cast<int>(p.texture_alignment);
        case 15: case 19: case 31: return 1;  // overlap, mapped host memory, concurrent kernels
        case 16: return p.multiprocessors;
        case 17: case 18: case 20: case 32: case 33: case 34: case 35: case 50: return 0;
        case 38: return p.l2_bytes;
        case 39: return p.threads_per_multiprocessor;
        case 40: case 41: case 78: return 1;  // copy engines, unified addressing, priorities
        case 75: return p.major;
        case 76: return p.minor;
        case 81: return static_cast<int>(p.shared_per_multiprocessor);
        case 82: return p.registers_per_multiprocessor;
        case 83: case 89: case 91: case 95: case 99: return 1;
        case 84: case 85: case 86: case 88: case 90: case 100: case 101: case 115: case 116: return 0;
        case 97: return static_cast<int>(p.shared_per_block_optin);
        case 106: return p.blocks_per_multiprocessor;
        case 108: case 109: return 0;  // persisting L2
        case 111: return static_cast<int>(p.reserved_shared);
        case 120: return p.cluster_launch;
        case 126: return 1;
        default: return std::nullopt;
    }
}

// A stream or an event: nothing but a handle, and for events the time.
struct Handle {
    std::chrono::steady_clock::time_point time;
    unsigned flags = 0;
    int priority = 0;
};
int make_handle(const char* caller, void** handle, unsigned flags, int priority) {
    return call(caller, [&](Session&) -> int {
        if (!handle) return kInvalidValue;
        *handle = new Handle{.flags = flags, .priority = priority};
        return kSuccess;
    });
}
int done(const char* caller) {
    return call(caller, [](Session&) { return kSuccess; });
}

// cuTensorMapEncodeTiled, of the driver.
int encode_tiled(void* map, int data_type, uint32_t rank, void* address, const uint64_t* sizes, const uint64_t* strides,
                 const uint32_t* box, const uint32_t* element_strides, int interleave, int swizzle, int l2_promotion, int oob_fill) {
    constexpr const char* kName = "cuTensorMapEncodeTiled";
    return call(kName, [&](Session& session) -> int {
        if (!map || !sizes || !box || !element_strides || rank < 1 || rank > 5 || (rank > 1 && !strides)) return kInvalidValue;
        const auto encoded = session.device().encode_tensor_map({.data_type = static_cast<uint32_t>(data_type),
                                                                 .address = reinterpret_cast<uint64_t>(address),
                                                                 .sizes = {sizes, sizes + rank},
                                                                 .strides = {strides, strides + rank - 1},
                                                                 .box = {box, box + rank},
                                                                 .element_strides = {element_strides, element_strides + rank},
                                                                 .interleave = static_cast<uint32_t>(interleave),
                                                                 .swizzle = static_cast<uint32_t>(swizzle),
                                                                 .l2_promotion = static_cast<uint32_t>(l2_promotion),
                                                                 .oob_fill = static_cast<uint32_t>(oob_fill)});
        if (!encoded) return session.complain(kName, kInvalidValue, encoded.error());
        std::memcpy(map, encoded->data(), encoded->size());
        return kSuccess;
    });
}
int driver_version(int* version) {
    if (!version) return kInvalidValue;
    *version = kVersion;
    return kSuccess;
}

int driver_function(const char* caller, const char* name, void** function, int* status) {
    return call(caller, [&](Session& session) -> int {
        constexpr int kFound = 0, kNotFound = 1;
        if (!name || !function) return kInvalidValue;
        *function = nullptr;
        if (std::strcmp(name, "cuTensorMapEncodeTiled") == 0) *function = reinterpret_cast<void*>(&encode_tiled);
        if (std::strcmp(name, "cuDriverGetVersion") == 0) *function = reinterpret_cast<void*>(&driver_version);
        if (!*function) session.complain(caller, kSymbolNotFound, fmt::format("{} of the driver is not supported", name));
        if (status) *status = *function ? kFound : kNotFound;
        return kSuccess;
    });
}

}  // namespace

// ---- Errors: these keep going when everything else has failed.

WW_API(cudaGetLastError)() {
    Session& session = Session::get();
    const std::lock_guard lock(session.mutex);
    const int code = session.last_error;
    session.last_error = session.sticky;
    return code;
}
WW_API(cudaPeekAtLastError)() {
    Session& session = Session::get();
    const std::lock_guard lock(session.mutex);
    return session.last_error;
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(int code) {
    const CodeText* found = code_text(code);
    return found ? found->text : "unrecognized error code";
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(int code) {
    const CodeText* found = code_text(code);
    return found ? found->name : "unrecognized error code";
}

// ---- The device.

WW_API(cudaGetDeviceCount)(int* count) {
    return call("cudaGetDeviceCount", [&](Session&) -> int { return count ? (*count = 1, kSuccess) : kInvalidValue; });
}
WW_API(cudaGetDevice)(int* device) {
    return call("cudaGetDevice", [&](Session&) -> int { return device ? (*device = 0, kSuccess) : kInvalidValue; });
}
WW_API(cudaSetDevice)(int device) {
    return call("cudaSetDevice", [&](Session&) -> int { return device == 0 ? kSuccess : kInvalidDevice; });
}
// Everything that the program allocated is gone; its kernels stay loaded.
WW_API(cudaDeviceReset)() {
    return call("cudaDeviceReset", [&](Session& session) -> int {
        for (const auto& [address, bytes] : session.allocations) (void)session.device().release(address);
        for (const auto& [address, memory] : session.host_memory) (void)session.device().release(address);
        session.allocations.clear();
        session.host_memory.clear();
        return kSuccess;
    });
}
WW_API(cudaInitDevice)(int device, unsigned, unsigned) { return cudaSetDevice(device); }
WW_API(cudaSetDeviceFlags)(unsigned) { return done("cudaSetDeviceFlags"); }
WW_API(cudaDeviceSynchronize)() { return done("cudaDeviceSynchronize"); }
WW_API(cudaDeviceSetCacheConfig)(int) { return done("cudaDeviceSetCacheConfig"); }
WW_API(cudaDeviceSetSharedMemConfig)(int) { return done("cudaDeviceSetSharedMemConfig"); }
WW_API(cudaProfilerStart)() { return done("cudaProfilerStart"); }
WW_API(cudaProfilerStop)() { return done("cudaProfilerStop"); }
WW_API(cudaGetDeviceProperties)(abi::DeviceProperties* out, int device) {
    return call("cudaGetDeviceProperties", [&](Session& session) -> int {
        if (device != 0) return kInvalidDevice;
        if (!out) return kInvalidValue;
        *out = properties(session);
        return kSuccess;
    });
}
WW_API(cudaDeviceGetAttribute)(int* value, int id, int device) {
    return call("cudaDeviceGetAttribute", [&](Session& session) -> int {
        if (device != 0) return kInvalidDevice;
        if (!value) return kInvalidValue;
        const std::optional<int> known = attribute(session, id);
        if (!known) return session.complain("cudaDeviceGetAttribute", kNotSupported, fmt::format("device attribute {} is not supported", id));
        *value = *known;
        return kSuccess;
    });
}
WW_API(cudaDriverGetVersion)(int* version) { return driver_version(version); }
WW_API(cudaRuntimeGetVersion)(int* version) { return driver_version(version); }
WW_API(cudaDeviceGetStreamPriorityRange)(int* least, int* greatest) {
    return call("cudaDeviceGetStreamPriorityRange", [&](Session&) -> int {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return kSuccess;
    });
}
WW_API(cudaGetDriverEntryPoint)(const char* name, void** function, unsigned long long, int* status) {
    return driver_function("cudaGetDriverEntryPoint", name, function, status);
}
WW_API_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint, const char*, void**, unsigned long long, int*);
WW_API(cudaGetDriverEntryPointByVersion)(const char* name, void** function, unsigned, unsigned long long, int* status) {
    return driver_function("cudaGetDriverEntryPointByVersion", name, function, status);
}
WW_API_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion, const char*, void**, unsigned, unsigned long long, int*);
extern "C" __attribute__((visibility("default"))) abi::ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}

// ---- Streams and events.

WW_API(cudaStreamCreate)(void** stream) { return make_handle("cudaStreamCreate", stream, 0, 0); }
WW_API(cudaStreamCreateWithFlags)(void** stream, unsigned flags) { return make_handle("cudaStreamCreateWithFlags", stream, flags, 0); }
WW_API(cudaStreamCreateWithPriority)(void** stream, unsigned flags, int priority) {
    return make_handle("cudaStreamCreateWithPriority", stream, flags, priority);
}
WW_API(cudaStreamDestroy)(void* stream) {
    delete static_cast<Handle*>(stream);
    return done("cudaStreamDestroy");
}
WW_API(cudaStreamSynchronize)(void*) { return done("cudaStreamSynchronize"); }
WW_API_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize, void*);
WW_API(cudaStreamQuery)(void*) { return done("cudaStreamQuery"); }
WW_API_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery, void*);
WW_API(cudaStreamWaitEvent)(void*, void*, unsigned) { return done("cudaStreamWaitEvent"); }
WW_API_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent, void*, void*, unsigned);
WW_API(cudaStreamIsCapturing)(void*, int* status) {
    return call("cudaStreamIsCapturing", [&](Session&) -> int { return status ? (*status = 0, kSuccess) : kInvalidValue; });
}
WW_API_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing, void*, int*);

WW_API(cudaEventCreate)(void** event) { return make_handle("cudaEventCreate", event, 0, 0); }
WW_API(cudaEventCreateWithFlags)(void** event, unsigned flags) { return make_handle("cudaEventCreateWithFlags", event, flags, 0); }
WW_API(cudaEventDestroy)(void* event) {
    delete static_cast<Handle*>(event);
    return done("cudaEventDestroy");
}
WW_API(cudaEventRecord)(void* event, void*) {
    return call("cudaEventRecord", [&](Session&) -> int {
        if (!event) return kInvalidResourceHandle;
        static_cast<Handle*>(event)->time = std::chrono::steady_clock::now();
        return kSuccess;
    });
}
WW_API_ALIAS(cudaEventRecord_ptsz, cudaEventRecord, void*, void*);
WW_API(cudaEventRecordWithFlags)(void* event, void* stream, unsigned) { return cudaEventRecord(event, stream); }
WW_API_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags, void*, void*, unsigned);
WW_API(cudaEventSynchronize)(void*) { return done("cudaEventSynchronize"); }
WW_API(cudaEventQuery)(void*) { return done("cudaEventQuery"); }
WW_API(cudaEventElapsedTime)(float* milliseconds, void* start, void* end) {
    return call("cudaEventElapsedTime", [&](Session&) -> int {
        if (!milliseconds || !start || !end) return kInvalidResourceHandle;
        const auto between = static_cast<Handle*>(end)->time - static_cast<Handle*>(start)->time;
        *milliseconds = std::chrono::duration<float, std::milli>(between).count();
        return kSuccess;
    });
}
