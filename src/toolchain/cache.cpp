// SPDX-License-Identifier: Apache-2.0
// Entry file: magic, XXH128 of the rest, then each blob with its 8-byte length.
#include "toolchain/cache.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstring>

#include "base/files.hpp"
#include "toolchain/found.hpp"
#include "toolchain/parts.hpp"

namespace ww::toolchain {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "warpwright-cache-1\n";

std::string hash_hex(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

fs::path entry_path(const CacheKey& key) {
    const std::string name = key.hex();
    return cache_root() / "objects" / name.substr(0, 2) / name.substr(2);
}

}  // namespace

struct CacheKey::State {
    XXH3_state_t hash;
};

CacheKey::CacheKey(std::string_view kind) : state_(std::make_unique<State>()) {
    XXH3_128bits_reset(&state_->hash);
    add(kMagic);
    add(kind);
}

CacheKey::~CacheKey() = default;

void CacheKey::add(std::string_view part) {
    const uint64_t size = part.size();
    XXH3_128bits_update(&state_->hash, &size, sizeof size);
    XXH3_128bits_update(&state_->hash, part.data(), part.size());
}

void CacheKey::add_file_identity(const fs::path& path) {
    FileIdentity fresh;
    FileIdentity* const kept = kept_identity(path);
    FileIdentity& identity = kept ? *kept : fresh;
    if (identity.path.empty()) {
        std::error_code code;
        const fs::path real = fs::canonical(path, code);
        identity.path = code ? path.string() : real.string();
        const uint64_t size = fs::file_size(path, code);
        const auto time = fs::last_write_time(path, code).time_since_epoch().count();
        identity.stamp = fmt::format("{} {}", size, time);
    }
    add(identity.path);
    add(identity.stamp);
}

std::string CacheKey::hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::optional<std::vector<std::string>> cache_get(const CacheKey& key) {
    std::error_code code;
    const fs::path path = entry_path(key);
    if (!fs::exists(path, code)) return std::nullopt;
    const Result<std::string> read = read_file(path);
    if (!read) return std::nullopt;
    std::string_view rest = *read;
    constexpr size_t kHashDigits = 32;
    if (!rest.starts_with(kMagic)) return std::nullopt;
    rest.remove_prefix(kMagic.size());
    if (rest.size() < kHashDigits) return std::nullopt;
    const std::string_view stored = rest.substr(0, kHashDigits);
    rest.remove_prefix(kHashDigits);
    if (hash_hex(rest) != stored) return std::nullopt;
    std::vector<std::string> blobs;
    while (!rest.empty()) {
        uint64_t size = 0;
        if (rest.size() < sizeof size) return std::nullopt;
        std::memcpy(&size, rest.data(), sizeof size);
        rest.remove_prefix(sizeof size);
        if (size > rest.size()) return std::nullopt;
        blobs.emplace_back(rest.substr(0, size));
        rest.remove_prefix(size);
    }
    return blobs;
}

void cache_put(const CacheKey& key, const std::vector<std::string>& blobs) {
    std::string body;
    for (const std::string& blob : blobs) {
        const uint64_t size = blob.size();
        body.append(reinterpret_cast<const char*>(&size), sizeof size);
        body += blob;
    }
    const fs::path path = entry_path(key);
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    if (code) return;
    std::string entry(kMagic);
    entry += hash_hex(body);
    entry += body;
    (void)write_file(path, entry);
}

}  // namespace ww::toolchain
