// SPDX-License-Identifier: Apache-2.0
// Launches, attributes of kernels, occupancy.
#include <fmt/format.h>

#include "cubin/occupancy.hpp"
#include "cudart/abi.hpp"

using namespace ww::cudart;
namespace abi = ww::cudart::abi;
using ww::device::Launch;

namespace {

// Launch attributes that change nothing about results.
bool is_hint(int id) {
    switch (id) {
        case abi::kIgnore:
        case abi::kAccessPolicyWindow:
        case abi::kSynchronizationPolicy:
        case abi::kClusterSchedulingPolicy:
        case abi::kPriority:
        case abi::kMemSyncDomainMap:
        case abi::kMemSyncDomain:
        case abi::kPreferredCarveout:
        case abi::kPreferredClusterDimension:
        case abi::kNvlinkCentric: return true;
        default: return false;
    }
}

int launch(const char* caller, const void* key, const Launch& launch, void** arguments) {
    return call(caller, [&](Session& session) -> int {
        Function* function = session.function(key);
        if (!function) return session.complain(caller, kInvalidDeviceFunction, "no kernel of this program");
        return session.launch(caller, *function, launch, arguments);
    });
}

// Names the attribute that this library does not do.
int with_attributes(Session& session, const char* caller, const abi::LaunchConfig& config, Launch& launch) {
    for (uint32_t i = 0; i < config.attribute_count; ++i) {
        const abi::LaunchAttribute& each = config.attributes[i];
        if (each.id == abi::kClusterDimension) launch.cluster = {each.value[0], each.value[1], each.value[2]};
        else if (each.id == abi::kCooperative) launch.cooperative = each.value[0] != 0;
        else if (each.id == abi::kProgrammaticStreamSerialization) launch.programmatic_dependent = each.value[0] != 0;
        else if (!is_hint(each.id)) return session.complain(caller, kNotSupported, fmt::format("launch attribute {} is not supported", each.id));
    }
    return kSuccess;
}

Launch launch_of(const abi::Dim3& grid, const abi::Dim3& block, size_t shared_bytes) {
    return {.grid = grid.dim(), .block = block.dim(), .dynamic_shared_bytes = static_cast<uint32_t>(shared_bytes)};
}

int set_attribute(const char* caller, const void* key, int attribute, int value) {
    return call(caller, [&](Session& session) -> int {
        Function* function = session.function(key);
        if (!function) return session.complain(caller, kInvalidDeviceFunction, "no kernel of this program");
        if (attribute == abi::kCarveout || attribute == abi::kClusterPolicy) return kSuccess;  // hints
        if (attribute == abi::kNonPortableCluster) {
            function->non_portable_cluster = value != 0;
            return kSuccess;
        }
        if (attribute != abi::kMaxDynamicShared)
            return session.complain(caller, kNotSupported, fmt::format("function attribute {} is not supported", attribute));
        if (const auto loaded = session.load(*function); !loaded) return session.complain(caller, kInvalidPtx, loaded.error());
        const int64_t most = int64_t{session.device().info().max_shared_bytes} - function->needs.static_shared_bytes;
        if (value < 0 || value > most)
            return session.complain(caller, kInvalidValue, fmt::format("{}: {} bytes of dynamic shared memory; a block can have {} on {}", function->name,
                                                                       value, most, session.device().info().target));
        function->max_dynamic_shared = value;
        return kSuccess;
    });
}

// Registers are not known before ptxas: what the largest block of the kernel leaves to a thread.
int most_registers(const Function& function) {
    return static_cast<int>(std::min(255u, 65536u / std::max(1u, function.needs.max_threads)));
}

// Blocks on a multiprocessor by threads and shared memory, as if registers never were the limit.
int blocks_per_multiprocessor(Session& session, const char* caller, const void* key, int threads, size_t shared, int& blocks) {
    Function* function = session.function(key);
    if (!function) return session.complain(caller, kInvalidDeviceFunction, "no kernel of this program");
    if (const auto loaded = session.load(*function); !loaded) return session.complain(caller, kInvalidPtx, loaded.error());
    const auto occupancy = ww::cubin::occupancy(
        session.device().info().sm, {.threads = threads, .registers = 16, .shared_bytes = shared + function->needs.static_shared_bytes});
    if (!occupancy) return session.complain(caller, kInvalidValue, occupancy.error());
    blocks = occupancy->blocks;
    return kSuccess;
}

}  // namespace

WW_API(cudaLaunchKernel)(const void* key, abi::Dim3 grid, abi::Dim3 block, void** arguments, size_t shared_bytes, abi::Stream) {
    return launch("cudaLaunchKernel", key, launch_of(grid, block, shared_bytes), arguments);
}
WW_API_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel, const void*, abi::Dim3, abi::Dim3, void**, size_t, abi::Stream);
WW_API_ALIAS(__cudaLaunchKernel, cudaLaunchKernel, const void*, abi::Dim3, abi::Dim3, void**, size_t, abi::Stream);
WW_API_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel, const void*, abi::Dim3, abi::Dim3, void**, size_t, abi::Stream);

WW_API(cudaLaunchCooperativeKernel)(const void* key, abi::Dim3 grid, abi::Dim3 block, void** arguments, size_t shared_bytes, abi::Stream) {
    Launch cooperative = launch_of(grid, block, shared_bytes);
    cooperative.cooperative = true;
    return launch("cudaLaunchCooperativeKernel", key, cooperative, arguments);
}
WW_API_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel, const void*, abi::Dim3, abi::Dim3, void**, size_t, abi::Stream);

WW_API(cudaLaunchKernelExC)(const abi::LaunchConfig* config, const void* key, void** arguments) {
    constexpr const char* kName = "cudaLaunchKernelExC";
    if (!config) return call(kName, [](Session&) { return kInvalidValue; });
    Launch extended = launch_of(config->grid, config->block, config->shared_bytes);
    const int code = call(kName, [&](Session& session) { return with_attributes(session, kName, *config, extended); });
    return code == kSuccess ? launch(kName, key, extended, arguments) : code;
}
WW_API_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC, const abi::LaunchConfig*, const void*, void**);

WW_API(cudaFuncSetAttribute)(const void* key, int attribute, int value) {
    return set_attribute("cudaFuncSetAttribute", key, attribute, value);
}
WW_API(cudaKernelSetAttributeForDevice)(void* kernel, int attribute, int value, int) {
    return set_attribute("cudaKernelSetAttributeForDevice", kernel, attribute, value);
}
WW_API(cudaFuncSetCacheConfig)(const void*, int) { return call("cudaFuncSetCacheConfig", [](Session&) { return kSuccess; }); }
WW_API(cudaFuncSetSharedMemConfig)(const void*, int) { return call("cudaFuncSetSharedMemConfig", [](Session&) { return kSuccess; }); }

WW_API(cudaFuncGetAttributes)(abi::FunctionAttributes* attributes, const void* key) {
    constexpr const char* kName = "cudaFuncGetAttributes";
    return call(kName, [&](Session& session) -> int {
        Function* function = session.function(key);
        if (!function || !attributes) return session.complain(kName, kInvalidDeviceFunction, "no kernel of this program");
        if (const auto loaded = session.load(*function); !loaded) return session.complain(kName, kInvalidPtx, loaded.error());
        const int sm = session.device().info().sm;
        *attributes = {.shared_bytes = function->needs.static_shared_bytes,
                       .local_bytes = function->needs.local_bytes,
                       .max_threads = static_cast<int>(function->needs.max_threads),
                       .registers = most_registers(*function),
                       .ptx_version = sm,
                       .binary_version = sm,
                       .max_dynamic_shared = function->max_dynamic_shared.value_or(kDefaultShared),
                       .carveout = -1,
                       .cluster_width = static_cast<int>(function->needs.cluster.x),
                       .cluster_height = static_cast<int>(function->needs.cluster.y),
                       .cluster_depth = static_cast<int>(function->needs.cluster.z),
                       .non_portable = function->non_portable_cluster};
        return kSuccess;
    });
}

WW_API(cudaFuncGetName)(const char** name, const void* key) {
    return call("cudaFuncGetName", [&](Session& session) -> int {
        Function* function = session.function(key);
        if (!function || !name) return kInvalidDeviceFunction;
        *name = function->name.c_str();
        return kSuccess;
    });
}

WW_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, const void* key, int threads, size_t shared) {
    constexpr const char* kName = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
    return call(kName, [&](Session& session) -> int {
        if (!blocks) return kInvalidValue;
        return blocks_per_multiprocessor(session, kName, key, threads, shared, *blocks);
    });
}
WW_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* blocks, const void* key, int threads, size_t shared, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, key, threads, shared);
}

// As if every multiprocessor could be in a cluster with every other.
WW_API(cudaOccupancyMaxActiveClusters)(int* clusters, const void* key, const abi::LaunchConfig* config) {
    constexpr const char* kName = "cudaOccupancyMaxActiveClusters";
    return call(kName, [&](Session& session) -> int {
        if (!clusters || !config) return kInvalidValue;
        Launch launch = launch_of(config->grid, config->block, config->shared_bytes);
        if (const int code = with_attributes(session, kName, *config, launch); code != kSuccess) return code;
        int blocks = 0;
        const int code = blocks_per_multiprocessor(session, kName, key, static_cast<int>(launch.block.count()), config->shared_bytes, blocks);
        if (code == kSuccess) *clusters = static_cast<int>(uint64_t(blocks) * session.multiprocessors() / launch.cluster.count());
        return code;
    });
}

WW_API(cudaLaunchHostFunc)(abi::Stream, void (*function)(void*), void* data) {
    // Work is done when it is given, so this is its place in the stream; it may not call the runtime.
    const int code = call("cudaLaunchHostFunc", [&](Session&) -> int { return function ? kSuccess : kInvalidValue; });
    if (code == kSuccess) function(data);
    return code;
}
WW_API_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc, abi::Stream, void (*)(void*), void*);
