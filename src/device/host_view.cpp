// SPDX-License-Identifier: Apache-2.0
#include "device/host_view.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ww::device {

Result<HostView> HostView::open(uint64_t address, uint64_t bytes, uint8_t* data) {
    const auto failed = [&](const char* what) {
        return fail(fmt::format("host memory of {} bytes for kernels: {}: {}", bytes, what, std::strerror(errno)));
    };
    const int file = ::memfd_create("warpwright", MFD_CLOEXEC);
    if (file < 0) return failed("memfd_create");
    const bool sized = ::ftruncate(file, static_cast<off_t>(bytes)) == 0;
    constexpr int kAccess = PROT_READ | PROT_WRITE;
    void* const wanted = reinterpret_cast<void*>(address);
    void* const at = sized ? ::mmap(wanted, bytes, kAccess, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) : MAP_FAILED;
    const bool both = at == wanted && ::mmap(data, bytes, kAccess, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    ::close(file);
    if (both) return HostView(at, bytes);
    const Failure failure = failed("mmap");
    if (at != MAP_FAILED) ::munmap(at, bytes);
    return failure;
}

HostView::~HostView() {
    if (at_) ::munmap(at_, bytes_);
}

}  // namespace ww::device
