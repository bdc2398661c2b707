// SPDX-License-Identifier: Apache-2.0
// What most programs use of the CUDA runtime, each part checked: exit code 0, or the failing line.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(condition)                                      \
    do {                                                      \
        if (!(condition)) {                                   \
            std::printf("line %d: %s\n", __LINE__, #condition); \
            std::exit(1);                                     \
        }                                                     \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

__device__ int counter;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ int offsets[3];

__global__ void add(const float* a, const float* b, float* sum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    sum[i] = a[i] + b[i];
    atomicAdd(&counter, 1);
}

__global__ void lookup(int* out) { out[threadIdx.x] = offsets[threadIdx.x % 3] + int(table[threadIdx.x % 4]); }

template <int kBytes>
__global__ void reverse(int* data) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void __cluster_dims__(2) ranks(unsigned* out) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) out[blockIdx.x] = rank;
}

__global__ void rank_of_launch(unsigned* out) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) out[blockIdx.x] = rank;
}

void memory_and_symbols() {
    constexpr int kCount = 100;
    std::vector<float> a(kCount), sum(kCount);
    for (int i = 0; i < kCount; ++i) a[i] = i;
    float *on_a, *on_b, *on_sum;
    OK(cudaMalloc(&on_a, sizeof(float) * kCount));
    OK(cudaMalloc(&on_b, sizeof(float) * kCount));
    OK(cudaMalloc(&on_sum, sizeof(float) * kCount));
    OK(cudaMemcpy(on_a, a.data(), sizeof(float) * kCount, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(on_b, on_a, sizeof(float) * kCount, cudaMemcpyDefault));
    add<<<2, 64>>>(on_a, on_b, on_sum, kCount);
    OK(cudaGetLastError());
    OK(cudaMemcpy(sum.data(), on_sum, sizeof(float) * kCount, cudaMemcpyDeviceToHost));
    CHECK(sum[99] == 198);
    int added = 0;
    OK(cudaMemcpyFromSymbol(&added, counter, sizeof added));
    CHECK(added == kCount);

    const int given[3] = {10, 20, 30};
    const float four = 40;
    OK(cudaMemcpyToSymbol(offsets, given, sizeof given));
    OK(cudaMemcpyToSymbol(table, &four, sizeof four, 3 * sizeof four));
    int* out;
    int host[12];
    OK(cudaMalloc(&out, sizeof host));
    lookup<<<1, 12>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 11 && host[3] == 50 && host[5] == 32 && host[11] == 70);
    for (void* each : {(void*)on_a, (void*)on_b, (void*)on_sum, (void*)out}) OK(cudaFree(each));
}

void shared_memory() {
    constexpr int kThreads = 256, kBytes = 60 * 1024;
    std::vector<int> data(kThreads);
    for (int i = 0; i < kThreads; ++i) data[i] = i;
    int* on;
    OK(cudaMalloc(&on, kThreads * sizeof(int)));
    OK(cudaMemcpy(on, data.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice));
    reverse<1><<<1, kThreads, kBytes>>>(on);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);  // more than 48 KiB wants to be asked for
    OK(cudaFuncSetAttribute(reverse<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    reverse<1><<<1, kThreads, kBytes>>>(on);
    OK(cudaGetLastError());
    OK(cudaMemcpy(data.data(), on, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(data[0] == 255 && data[255] == 0);
    OK(cudaFree(on));
}

// Pointers that host and kernels share.
void host_memory() {
    constexpr int kThreads = 32;
    for (const bool managed : {false, true}) {
        int* data;
        if (managed) OK(cudaMallocManaged(&data, kThreads * sizeof(int)));
        else OK(cudaMallocHost(&data, kThreads * sizeof(int)));
        for (int i = 0; i < kThreads; ++i) data[i] = i;
        reverse<2><<<1, kThreads, kThreads * sizeof(int)>>>(data);
        OK(cudaDeviceSynchronize());
        CHECK(data[0] == 31 && data[31] == 0);
        cudaPointerAttributes attributes;
        OK(cudaPointerGetAttributes(&attributes, data));
        CHECK(attributes.type == (managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost));
        if (managed) OK(cudaFree(data));
        else OK(cudaFreeHost(data));
    }
}

void clusters() {
    unsigned *on, host[8];
    OK(cudaMalloc(&on, sizeof host));
    ranks<<<8, 32>>>(on);
    OK(cudaMemcpy(host, on, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 0 && host[1] == 1 && host[6] == 0 && host[7] == 1);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = 8, config.blockDim = 32;
    config.attrs = &attribute, config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, rank_of_launch, on));
    OK(cudaMemcpy(host, on, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[3] == 3 && host[4] == 0 && host[7] == 3);
    OK(cudaFree(on));
}

void streams_and_device() {
    cudaStream_t stream;
    cudaEvent_t start, end;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start, stream));
    OK(cudaEventRecord(end, stream));
    OK(cudaStreamSynchronize(stream));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(stream));
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.major == 9 && properties.warpSize == 32 && properties.sharedMemPerBlockOptin == 227 * 1024);
    int multiprocessors = 0, blocks = 0;
    OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(multiprocessors == properties.multiProcessorCount && multiprocessors > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0));
    CHECK(blocks == 2);
}

void mistakes() {
    void* none = nullptr;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported && cudaGetLastError() == cudaSuccess);
    int host = 0;
    CHECK(cudaMemcpy(&host, &host, sizeof host, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaFree(&none) == cudaErrorInvalidValue);
    add<<<0, 64>>>(nullptr, nullptr, nullptr, 0);
    cudaGetLastError();
    CHECK(cudaGetLastError() == cudaSuccess);
}

int main() {
    memory_and_symbols();
    shared_memory();
    host_memory();
    clusters();
    streams_and_device();
    mistakes();
    std::puts("all right");
    return 0;
}
