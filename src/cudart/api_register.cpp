// SPDX-License-Identifier: Apache-2.0
// What nvcc's start-up code and launch stubs call, and libraries of kernels that a program loads.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "cudart/abi.hpp"

using namespace ww::cudart;
namespace abi = ww::cudart::abi;

namespace {

struct FatBinaryWrapper {
    int magic, version;
    const void* data;
    void* unused;
};
constexpr int kWrapperMagic = 0x466243b1;

// What <<<>>> pushes for the stub that comes next.
struct Configuration {
    abi::Dim3 grid, block;
    size_t shared_bytes;
    abi::Stream stream;
};
thread_local std::vector<Configuration> configurations;

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

int load_library(const char* caller, void** library, const void* code) {
    return call(caller, [&](Session& session) -> int {
        if (!library || !code) return kInvalidValue;
        const auto binary = session.add_image(code);
        if (!binary) return session.complain(caller, kInvalidKernelImage, binary.error());
        if (const auto loaded = session.load(**binary); !loaded) return session.complain(caller, kInvalidPtx, loaded.error());
        *library = *binary;
        return kSuccess;
    });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* wrapper) {
    void** handle = nullptr;
    guard("__cudaRegisterFatBinary", [&] {
        Session& session = Session::get();
        const std::lock_guard lock(session.mutex);
        const auto* fat = static_cast<const FatBinaryWrapper*>(wrapper);
        if (fat->magic != kWrapperMagic) session.complain("__cudaRegisterFatBinary", kInvalidKernelImage, "not the wrapper of a fat binary");
        else handle = reinterpret_cast<void**>(session.add_binary(fat->data));
    });
    return handle;
}

extern "C" __attribute__((visibility("default"))) void __cudaRegisterFatBinaryEnd(void**) {}
extern "C" __attribute__((visibility("default"))) void __cudaUnregisterFatBinary(void**) {}
extern "C" __attribute__((visibility("default"))) char __cudaInitModule(void**) { return 1; }

extern "C" __attribute__((visibility("default"))) void __cudaRegisterFunction(
    void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
    guard("__cudaRegisterFunction", [&] {
        Session& session = Session::get();
        const std::lock_guard lock(session.mutex);
        if (handle) session.add_function(binary_of(handle), host, name);
    });
}

extern "C" __attribute__((visibility("default"))) void __cudaRegisterVar(
    void** handle, char* host, char*, const char* name, int, size_t, int, int) {
    guard("__cudaRegisterVar", [&] {
        Session& session = Session::get();
        const std::lock_guard lock(session.mutex);
        if (handle) session.add_variable(binary_of(handle), host, name);
    });
}

extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(
    abi::Dim3 grid, abi::Dim3 block, size_t shared_bytes, void* stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

WW_API(__cudaPopCallConfiguration)(abi::Dim3* grid, abi::Dim3* block, size_t* shared_bytes, void* stream) {
    if (configurations.empty()) return kInvalidConfiguration;
    const Configuration& last = configurations.back();
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<abi::Stream*>(stream) = last.stream;
    configurations.pop_back();
    return kSuccess;
}

WW_API(cudaGetKernel)(void** kernel, const void* host) {
    return call("cudaGetKernel", [&](Session& session) -> int {
        if (!kernel) return kInvalidValue;
        *kernel = session.function(host);
        return *kernel ? kSuccess : kInvalidDeviceFunction;
    });
}
WW_API_ALIAS(__cudaGetKernel, cudaGetKernel, void**, const void*);
WW_API_ALIAS(cudaGetFuncBySymbol, cudaGetKernel, void**, const void*);

WW_API(cudaLibraryLoadData)(void** library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
    return load_library("cudaLibraryLoadData", library, code);
}

WW_API(cudaLibraryLoadFromFile)(void** library, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
    constexpr const char* kName = "cudaLibraryLoadFromFile";
    std::ifstream file(path ? path : "", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.fail() || bytes.empty())
        return call(kName, [&](Session& session) {
            return session.complain(kName, kInvalidValue, fmt::format("cannot read {}", path ? path : "a null path"));
        });
    return load_library(kName, library, bytes.c_str());
}

WW_API(cudaLibraryGetKernel)(void** kernel, void* library, const char* name) {
    return call("cudaLibraryGetKernel", [&](Session& session) -> int {
        if (!kernel || !library || !name) return kInvalidValue;
        Function* found = session.kernel_of(static_cast<Binary*>(library), name);
        if (const auto loaded = session.load(*found); !loaded) return session.complain("cudaLibraryGetKernel", kSymbolNotFound, loaded.error());
        *kernel = found;
        return kSuccess;
    });
}

WW_API(cudaLibraryGetGlobal)(void** address, size_t* bytes, void* library, const char* name) {
    return call("cudaLibraryGetGlobal", [&](Session& session) -> int {
        if (!library || !name) return kInvalidValue;
        const auto variable = session.services().variable(*static_cast<Binary*>(library)->module, name);
        if (!variable) return session.complain("cudaLibraryGetGlobal", kSymbolNotFound, variable.error());
        session.known_variables[variable->address] = variable->bytes;
        if (address) *address = reinterpret_cast<void*>(variable->address);
        if (bytes) *bytes = variable->bytes;
        return kSuccess;
    });
}

// Kernels of an unloaded library may still be known to the program; the memory is small.
WW_API(cudaLibraryUnload)(void* library) { return library ? kSuccess : kInvalidResourceHandle; }
