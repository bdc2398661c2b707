// SPDX-License-Identifier: Apache-2.0
// Starting a process in a group of its own, and ending it. Internal to this room.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>

#include "toolchain/process.hpp"

namespace ww::toolchain {

using Clock = std::chrono::steady_clock;

// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { reset(); }
    int get() const { return fd_; }
    void reset(int fd = -1);

  private:
    int fd_;
};

struct Pipe {
    Descriptor read, write;
    bool open();
};

// Returns 0 and the pid, or the error.
int spawn(const Command& command, int in, int out, int err, pid_t& pid);
// The wait status, or nothing when the deadline passes first.
std::optional<int> wait_until(pid_t pid, Clock::time_point deadline);
// 128 + signal when a signal ended it.
int exit_code_of(int wait_status);
void kill_group(pid_t pid);

}  // namespace ww::toolchain
