// SPDX-License-Identifier: Apache-2.0
// A kernel that was compiled apart from the program: the image REAL_IMAGE (PTX, or a cubin for a GPU)
// becomes part of it, and REAL_ENTRY names the kernel.
#pragma once
#include "program.cuh"

asm(".section .rodata\n"
    ".balign 16\n"
    ".global real_image\n"
    "real_image:\n"
    ".incbin \"" REAL_IMAGE "\"\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char real_image[];

namespace real {

class Image {
  public:
    explicit Image(const char* entry = REAL_ENTRY) {
        check(cudaLibraryLoadData(&library_, real_image, nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
        check(cudaLibraryGetKernel(&kernel_, library_, entry), "cudaLibraryGetKernel");
    }
    ~Image() { cudaLibraryUnload(library_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    const void* kernel() const { return reinterpret_cast<const void*>(kernel_); }

  private:
    cudaLibrary_t library_ = nullptr;
    cudaKernel_t kernel_ = nullptr;
};

}  // namespace real
