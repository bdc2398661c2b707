// SPDX-License-Identifier: Apache-2.0
// The compile cache: results on disk, found by a hash of everything they depend on. A reader sees
// a whole entry or none; a damaged entry counts as none. It can be deleted at any time.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ww::toolchain {

// Collects what a result depends on. Each part is hashed with its length, so that no two lists
// of parts give the same stream.
class CacheKey {
  public:
    explicit CacheKey(std::string_view kind);
    ~CacheKey();
    CacheKey(const CacheKey&) = delete;
    CacheKey& operator=(const CacheKey&) = delete;
    void add(std::string_view part);
    // A compiler or a header of its own: path, size and time of last change.
    void add_file_identity(const std::filesystem::path& path);
    std::string hex() const;  // 32 digits of XXH128

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// The blobs stored under the key, or nothing.
std::optional<std::vector<std::string>> cache_get(const CacheKey& key);
// A cache that cannot be written is no error: the next run compiles again.
void cache_put(const CacheKey& key, const std::vector<std::string>& blobs);

}  // namespace ww::toolchain
