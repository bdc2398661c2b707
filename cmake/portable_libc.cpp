// SPDX-License-Identifier: Apache-2.0
// Linked into the portable build only. The static libstdc++ of Debian 12 refers to arc4random, which
// glibc has from 2.36 on; with this one the binary starts on glibc 2.35 (Ubuntu 22.04) too.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() {
    uint32_t value = 0;
    ssize_t count = 0;
    do count = ::getrandom(&value, sizeof value, 0);
    while (count < 0 && errno == EINTR);
    if (count != static_cast<ssize_t>(sizeof value)) std::abort();
    return value;
}
