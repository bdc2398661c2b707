// SPDX-License-Identifier: Apache-2.0
// A kernel that writes behind its array; the error stays.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void overrun(int* data) { data[threadIdx.x] = 1; }  // the fault

int main() {
    int* data;
    cudaMalloc(&data, 40 * sizeof(int));
    overrun<<<1, 64>>>(data);
    const cudaError_t launch = cudaDeviceSynchronize(), later = cudaMalloc(&data, 4);
    std::printf("%s, %s\n", cudaGetErrorName(launch), cudaGetErrorName(later));
    return 0;
}
