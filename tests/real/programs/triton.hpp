// SPDX-License-Identifier: Apache-2.0
// Launches a kernel that Triton compiled; REAL_SHARED is the dynamic shared memory that it computed.
#pragma once
#include "image.hpp"

namespace real {

constexpr int kTritonThreads = 128;

class Triton {
  public:
    Triton() {
        check(cudaFuncSetAttribute(image_.kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, REAL_SHARED), "cudaFuncSetAttribute");
    }

    // Behind its arguments a kernel takes two pointers to scratch memory, which these do not use.
    template <class... T>
    void launch(dim3 grid, T... arguments) {
        void *scratch = nullptr, *profile = nullptr;
        void* pointers[] = {static_cast<void*>(&arguments)..., &scratch, &profile};
        check(cudaLaunchKernel(image_.kernel(), grid, kTritonThreads, pointers, REAL_SHARED, nullptr), "cudaLaunchKernel");
    }

  private:
    Image image_;
};

}  // namespace real
