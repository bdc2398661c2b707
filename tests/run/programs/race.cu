// SPDX-License-Identifier: Apache-2.0
// A reduction that lacks its barrier. The result is right all the same.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum(const int* in, int* out) {
    __shared__ int partial[64];
    partial[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x != 63) return;
    int total = 0;
    for (int i = 0; i < 64; ++i) total += partial[i];  // the race
    *out = total;
}

int main() {
    int host[64], *in, *out, total = 0;
    for (int& each : host) each = 2;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof total);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(in, out);
    cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost);
    std::printf("%d\n", total);
    return total == 128 ? 0 : 1;
}
