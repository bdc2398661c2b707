// SPDX-License-Identifier: Apache-2.0
// One writer at a time in a folder, across processes. The kernel gives the lock up when its holder
// dies, so a killed process leaves nothing that has to be cleared away by hand.
#pragma once
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/result.hpp"

namespace ww::records {

class FolderLock {
  public:
    // Waits for another holder, at most as long as patience; fails when there is no such folder.
    static Result<FolderLock> take(const std::filesystem::path& folder,
                                   std::chrono::milliseconds patience = std::chrono::seconds(30));
    FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    FolderLock& operator=(FolderLock&&) = delete;
    ~FolderLock();

  private:
    explicit FolderLock(int fd) : fd_(fd) {}
    int fd_ = -1;
};

// Removes what a writer of the file left that was killed before it renamed. Only under the lock.
void remove_leftovers(const std::filesystem::path& file);

}  // namespace ww::records
