// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, copies, fills, symbols; pinned, managed and registered host memory.
#include <fmt/format.h>

#include <cstring>

#include "cudart/abi.hpp"

using namespace ww::cudart;
namespace abi = ww::cudart::abi;

namespace {

constexpr size_t kPitch = 512;

uint64_t number(const void* at) { return reinterpret_cast<uint64_t>(at); }

int allocate(Session& session, const char* caller, void** at, size_t bytes) {
    if (!at) return kInvalidValue;
    *at = nullptr;
    if (bytes == 0) return kSuccess;
    const auto address = session.device().allocate(bytes);
    if (!address) return session.complain(caller, kMemoryAllocation, address.error());
    session.allocations[*address] = bytes;
    *at = reinterpret_cast<void*>(*address);
    return kSuccess;
}

int release(Session& session, const char* caller, void* at) {
    if (!at) return kSuccess;
    if (const auto released = session.device().release(number(at)); !released) return session.complain(caller, kInvalidValue, released.error());
    session.allocations.erase(number(at));
    session.host_memory.erase(number(at));
    return kSuccess;
}

// Pinned and managed memory: the host and kernels reach it at the same address.
int allocate_host(const char* caller, void** at, size_t bytes, bool managed) {
    return call(caller, [&](Session& session) -> int {
        if (!at || bytes == 0) return kInvalidValue;
        const auto address = session.services().allocate_shared_with_host(bytes);
        if (!address) return session.complain(caller, kMemoryAllocation, address.error());
        session.host_memory[*address] = {bytes, managed};
        *at = reinterpret_cast<void*>(*address);
        return kSuccess;
    });
}

// The pinned or managed memory that holds the byte; null: none does.
const Session::HostMemory* host_memory(const Session& session, const void* at) {
    const auto next = session.host_memory.upper_bound(number(at));
    if (next == session.host_memory.begin()) return nullptr;
    const auto& [start, memory] = *std::prev(next);
    return number(at) - start < memory.bytes ? &memory : nullptr;
}

// kind says what the program believes; where the bytes are is known here.
int copy(Session& session, const char* caller, void* to, const void* from, size_t bytes, int kind) {
    if (bytes == 0) return kSuccess;
    if (!to || !from) return session.complain(caller, kInvalidValue, "a null pointer");
    const bool to_device = session.on_device(to), from_device = session.on_device(from);
    const auto belongs = [&](bool device, const void* at, bool wanted) { return device == wanted || host_memory(session, at); };
    if (kind < 0 || kind > abi::kDefaultKind) return kInvalidMemcpyDirection;
    if (kind != abi::kDefaultKind) {
        const bool into = kind == abi::kHostToDevice || kind == abi::kDeviceToDevice;
        const bool out_of = kind == abi::kDeviceToHost || kind == abi::kDeviceToDevice;
        if (!belongs(to_device, to, into) || !belongs(from_device, from, out_of))
            return session.complain(caller, kInvalidValue,
                                    fmt::format("the direction does not fit: {} is {}memory of the device, {} is {}", to, to_device ? "" : "no ",
                                                from, from_device ? "it" : "not"));
    }
    ww::Status done = ww::ok();
    const auto* bytes_from = static_cast<const std::byte*>(from);
    if (to_device && from_device) done = session.services().copy(number(to), number(from), bytes);
    else if (to_device) done = session.device().copy_in(number(to), {bytes_from, bytes});
    else if (from_device) done = session.device().copy_out({static_cast<std::byte*>(to), bytes}, number(from));
    else std::memmove(to, from, bytes);
    return done ? kSuccess : session.complain(caller, kInvalidValue, done.error());
}

int fill(Session& session, const char* caller, void* to, int value, size_t bytes) {
    if (bytes == 0) return kSuccess;
    if (!session.on_device(to)) {
        std::memset(to, value, bytes);
        return kSuccess;
    }
    const auto done = session.device().fill(number(to), static_cast<uint8_t>(value), bytes);
    return done ? kSuccess : session.complain(caller, kInvalidValue, done.error());
}

// Calls body(device, module, name) for the variable that symbol stands for.
template <class F>
int with_symbol(const char* caller, const void* symbol, F&& body) {
    return call(caller, [&](Session& session) -> int {
        Variable* variable = session.variable(symbol);
        if (!variable) return session.complain(caller, kInvalidSymbol, "no variable of this program");
        if (const auto loaded = session.load(*variable->binary); !loaded) return session.complain(caller, kInvalidPtx, loaded.error());
        const ww::Status done = body(session, *variable->binary->module, variable->name);
        return done ? kSuccess : session.complain(caller, kInvalidValue, done.error());
    });
}

}  // namespace

WW_API(cudaMalloc)(void** at, size_t bytes) {
    return call("cudaMalloc", [&](Session& session) { return allocate(session, "cudaMalloc", at, bytes); });
}
WW_API(cudaMallocAsync)(void** at, size_t bytes, abi::Stream) {
    return call("cudaMallocAsync", [&](Session& session) { return allocate(session, "cudaMallocAsync", at, bytes); });
}
WW_API_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync, void**, size_t, abi::Stream);
WW_API(cudaMallocPitch)(void** at, size_t* pitch, size_t width, size_t height) {
    return call("cudaMallocPitch", [&](Session& session) -> int {
        if (!pitch) return kInvalidValue;
        *pitch = (width + kPitch - 1) / kPitch * kPitch;
        return allocate(session, "cudaMallocPitch", at, *pitch * height);
    });
}
WW_API(cudaFree)(void* at) {
    return call("cudaFree", [&](Session& session) { return release(session, "cudaFree", at); });
}
WW_API(cudaFreeAsync)(void* at, abi::Stream) {
    return call("cudaFreeAsync", [&](Session& session) { return release(session, "cudaFreeAsync", at); });
}
WW_API_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync, void*, abi::Stream);
WW_API(cudaFreeHost)(void* at) {
    return call("cudaFreeHost", [&](Session& session) { return release(session, "cudaFreeHost", at); });
}
WW_API(cudaMallocHost)(void** at, size_t bytes) { return allocate_host("cudaMallocHost", at, bytes, false); }
WW_API(cudaHostAlloc)(void** at, size_t bytes, unsigned) { return allocate_host("cudaHostAlloc", at, bytes, false); }
WW_API(cudaMallocManaged)(void** at, size_t bytes, unsigned) { return allocate_host("cudaMallocManaged", at, bytes, true); }

WW_API(cudaHostGetDevicePointer)(void** device, void* host, unsigned) {
    return call("cudaHostGetDevicePointer", [&](Session& session) -> int {
        if (!device || !host_memory(session, host)) return kInvalidValue;
        *device = host;
        return kSuccess;
    });
}

WW_API(cudaMemcpy)(void* to, const void* from, size_t bytes, int kind) {
    return call("cudaMemcpy", [&](Session& session) { return copy(session, "cudaMemcpy", to, from, bytes, kind); });
}
WW_API_ALIAS(cudaMemcpy_ptds, cudaMemcpy, void*, const void*, size_t, int);
WW_API(cudaMemcpyAsync)(void* to, const void* from, size_t bytes, int kind, abi::Stream) {
    return call("cudaMemcpyAsync", [&](Session& session) { return copy(session, "cudaMemcpyAsync", to, from, bytes, kind); });
}
WW_API_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync, void*, const void*, size_t, int, abi::Stream);
WW_API(cudaMemcpy2D)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind) {
    return call("cudaMemcpy2D", [&](Session& session) -> int {
        if (width > to_pitch || width > from_pitch) return session.complain("cudaMemcpy2D", kInvalidValue, "a row is wider than its pitch");
        for (size_t row = 0; row < height; ++row) {
            const int code = copy(session, "cudaMemcpy2D", static_cast<char*>(to) + row * to_pitch,
                                  static_cast<const char*>(from) + row * from_pitch, width, kind);
            if (code != kSuccess) return code;
        }
        return kSuccess;
    });
}
WW_API_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D, void*, size_t, const void*, size_t, size_t, size_t, int);
WW_API(cudaMemcpy2DAsync)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind, abi::Stream) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
WW_API_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync, void*, size_t, const void*, size_t, size_t, size_t, int, abi::Stream);

WW_API(cudaMemset)(void* to, int value, size_t bytes) {
    return call("cudaMemset", [&](Session& session) { return fill(session, "cudaMemset", to, value, bytes); });
}
WW_API_ALIAS(cudaMemset_ptds, cudaMemset, void*, int, size_t);
WW_API(cudaMemsetAsync)(void* to, int value, size_t bytes, abi::Stream) {
    return call("cudaMemsetAsync", [&](Session& session) { return fill(session, "cudaMemsetAsync", to, value, bytes); });
}
WW_API_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync, void*, int, size_t, abi::Stream);
WW_API(cudaMemset2D)(void* to, size_t pitch, int value, size_t width, size_t height) {
    return call("cudaMemset2D", [&](Session& session) -> int {
        for (size_t row = 0; row < height; ++row)
            if (const int code = fill(session, "cudaMemset2D", static_cast<char*>(to) + row * pitch, value, width); code != kSuccess) return code;
        return kSuccess;
    });
}
WW_API_ALIAS(cudaMemset2D_ptds, cudaMemset2D, void*, size_t, int, size_t, size_t);

WW_API(cudaMemcpyToSymbol)(const void* symbol, const void* from, size_t bytes, size_t offset, int) {
    return with_symbol("cudaMemcpyToSymbol", symbol, [&](Session& session, auto module, const std::string& name) -> ww::Status {
        if (!session.on_device(from)) return session.services().copy_to_variable(module, name, offset, {static_cast<const std::byte*>(from), bytes});
        std::vector<std::byte> between(bytes);
        WW_TRY(read, session.device().copy_out(between, number(from)));
        (void)read;
        return session.services().copy_to_variable(module, name, offset, between);
    });
}
WW_API_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol, const void*, const void*, size_t, size_t, int);
WW_API(cudaMemcpyToSymbolAsync)(const void* symbol, const void* from, size_t bytes, size_t offset, int kind, abi::Stream) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
WW_API_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync, const void*, const void*, size_t, size_t, int, abi::Stream);
WW_API(cudaMemcpyFromSymbol)(void* to, const void* symbol, size_t bytes, size_t offset, int) {
    return with_symbol("cudaMemcpyFromSymbol", symbol, [&](Session& session, auto module, const std::string& name) -> ww::Status {
        std::vector<std::byte> between(bytes);
        WW_TRY(read, session.services().copy_from_variable(between, module, name, offset));
        (void)read;
        if (session.on_device(to)) return session.device().copy_in(number(to), between);
        if (bytes > 0) std::memcpy(to, between.data(), bytes);
        return ww::ok();
    });
}
WW_API_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol, void*, const void*, size_t, size_t, int);
WW_API(cudaMemcpyFromSymbolAsync)(void* to, const void* symbol, size_t bytes, size_t offset, int kind, abi::Stream) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
WW_API_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync, void*, const void*, size_t, size_t, int, abi::Stream);

WW_API(cudaGetSymbolAddress)(void** at, const void* symbol) {
    return with_symbol("cudaGetSymbolAddress", symbol, [&](Session& session, auto module, const std::string& name) -> ww::Status {
        WW_TRY(variable, session.services().variable(module, name));
        if (variable.address == 0) return ww::fail(fmt::format("the address of the __constant__ variable {} is not supported", name));
        session.known_variables[variable.address] = variable.bytes;
        *at = reinterpret_cast<void*>(variable.address);
        return ww::ok();
    });
}
WW_API(cudaGetSymbolSize)(size_t* bytes, const void* symbol) {
    return with_symbol("cudaGetSymbolSize", symbol, [&](Session& session, auto module, const std::string& name) -> ww::Status {
        WW_TRY(variable, session.services().variable(module, name));
        *bytes = variable.bytes;
        return ww::ok();
    });
}

WW_API(cudaPointerGetAttributes)(abi::PointerAttributes* attributes, const void* at) {
    return call("cudaPointerGetAttributes", [&](Session& session) -> int {
        if (!attributes) return kInvalidValue;
        void* pointer = const_cast<void*>(at);
        *attributes = {.device = -2, .host_pointer = pointer};
        if (session.on_device(at)) *attributes = {.type = 2, .device_pointer = pointer};
        if (const auto* memory = host_memory(session, at))
            *attributes = {.type = memory->managed ? 3 : 1, .device_pointer = pointer, .host_pointer = pointer};
        return kSuccess;
    });
}

WW_API(cudaMemGetInfo)(size_t* free, size_t* total) {
    return call("cudaMemGetInfo", [&](Session& session) -> int {
        if (!free || !total) return kInvalidValue;
        *total = session.device().info().memory_bytes;
        size_t used = 0;
        for (const auto& each : session.allocations) used += each.second;
        *free = *total - used;
        return kSuccess;
    });
}
WW_API(cudaMemPrefetchAsync)(const void*, size_t, uint64_t, unsigned, abi::Stream) {
    return call("cudaMemPrefetchAsync", [](Session&) { return kSuccess; });
}
WW_API(cudaMemAdvise)(const void*, size_t, int, uint64_t) { return call("cudaMemAdvise", [](Session&) { return kSuccess; }); }
