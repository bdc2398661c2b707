// SPDX-License-Identifier: Apache-2.0
// Capture of standard output into an anonymous file.
#include "device/cuda_stdout.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace ww::device::cuda {

StdoutCapture::StdoutCapture() {
    std::fflush(stdout);
    file_ = memfd_create("kernel-printf", MFD_CLOEXEC);
    saved_ = dup(STDOUT_FILENO);
    if (file_ < 0 || saved_ < 0 || dup2(file_, STDOUT_FILENO) < 0) finish();
}

StdoutCapture::~StdoutCapture() { finish(); }

std::string StdoutCapture::finish() {
    std::string text;
    if (saved_ >= 0) {
        std::fflush(stdout);
        dup2(saved_, STDOUT_FILENO);
        close(saved_);
        saved_ = -1;
    }
    if (file_ >= 0) {
        char buffer[4096];
        lseek(file_, 0, SEEK_SET);
        for (ssize_t n; (n = read(file_, buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<size_t>(n));
        close(file_);
        file_ = -1;
    }
    return text;
}

}  // namespace ww::device::cuda
