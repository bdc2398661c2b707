// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime's binary interface, version 13: declarations of our own of the structs that cross
// it, so that no toolkit is needed to build.
#pragma once
#include <cstddef>
#include <cstdint>

#include "cudart/session.hpp"

#define WW_API(name) extern "C" __attribute__((visibility("default"))) int name
// The same function for a per-thread default stream (_ptsz, _ptds): all streams are one here.
#define WW_API_ALIAS(alias_name, name, ...) \
    extern "C" __attribute__((visibility("default"), alias(#name))) int alias_name(__VA_ARGS__)

namespace ww::cudart::abi {

struct Dim3 {
    uint32_t x, y, z;
    device::Dim3 dim() const { return {x, y, z}; }
};

using Stream = void*;
enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefaultKind };

enum LaunchAttributeId : int {
    kIgnore = 0,
    kAccessPolicyWindow = 1,
    kCooperative = 2,
    kSynchronizationPolicy = 3,
    kClusterDimension = 4,
    kClusterSchedulingPolicy = 5,
    kProgrammaticStreamSerialization = 6,
    kPriority = 8,
    kMemSyncDomainMap = 9,
    kMemSyncDomain = 10,
    kPreferredClusterDimension = 11,
    kPreferredCarveout = 14,
    kNvlinkCentric = 16,
};
struct LaunchAttribute {
    int id, pad;
    uint32_t value[16];
};
struct LaunchConfig {
    Dim3 grid, block;
    size_t shared_bytes;
    Stream stream;
    const LaunchAttribute* attributes;
    uint32_t attribute_count;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

struct FunctionAttributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
    int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable;
    int reserved[16];
};
static_assert(sizeof(FunctionAttributes) == 144);
enum FunctionAttribute : int {
    kMaxDynamicShared = 8,
    kCarveout = 9,
    kNonPortableCluster = 14,
    kClusterPolicy = 15,
};

struct PointerAttributes {
    int type, device;  // type: 0 unregistered, 1 host, 2 device, 3 managed
    void *device_pointer, *host_pointer;
    long reserved[8];
};

struct ChannelFormat {
    int x, y, z, w, kind;
};

struct DeviceProperties {
    char name[256];
    char uuid[16], luid[8];
    uint32_t luid_mask;
    size_t global_bytes, shared_per_block;
    int registers_per_block, warp_size;
    size_t pitch;
    int max_threads_per_block, max_block[3], max_grid[3];
    size_t constant_bytes;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int multiprocessors, integrated, can_map_host;
    int textures[38];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
    int bus_width, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities;
    int global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed_memory, multi_gpu_board, multi_gpu_group, host_atomics;
    int pageable_access, concurrent_managed, preemption, host_pointer_registered, cooperative;
    size_t shared_per_block_optin;
    int host_page_tables, direct_managed, blocks_per_multiprocessor, access_window;
    size_t reserved_shared;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, rdma;
    uint32_t rdma_flush;
    int rdma_ordering;
    uint32_t pool_handles;
    int deferred_arrays, ipc_events, cluster_launch, unified_function_pointers, numa_config, numa_id;
    int mps, host_numa_id;
    uint32_t pci_device_id, pci_subsystem_id;
    int numa_ipc;
    int reserved[56];
};
static_assert(sizeof(DeviceProperties) == 1008 && offsetof(DeviceProperties, surface_alignment) == 552);

}  // namespace ww::cudart::abi
