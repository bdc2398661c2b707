// SPDX-License-Identifier: Apache-2.0
// File format: "WWRECORD", length of the header (u32, little endian), JSON header, output bytes,
// XXH64 of all that (u64, little endian).
#include "exectest/archive.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace ww::exectest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kMagic = "WWRECORD";
constexpr size_t kHeaderAt = 12;
constexpr size_t kHashBytes = sizeof(uint64_t);

Failure damaged(const fs::path& path, const std::string& what) {
    Diagnostic diagnostic;
    diagnostic.file = path.string();
    diagnostic.message = "damaged record: " + what + "; restore it, or record again on a GPU";
    return fail(diagnostic);
}

std::string hex(uint64_t value) { return fmt::format("{:016x}", value); }
uint64_t from_hex(const json& text) { return std::stoull(text.get<std::string>(), nullptr, 16); }

RecordingRun read_run(const json& entry) {
    RecordingRun run;
    run.device = entry.at("device").get<std::string>();
    run.driver = entry.at("driver").get<std::string>();
    run.date = entry.at("date").get<std::string>();
    run.toolchain = entry.at("toolchain").get<std::string>();
    run.sm = entry.at("sm").get<int>();
    run.log_hash = from_hex(entry.at("log_xxh64"));
    return run;
}

// nlohmann throws on a wrong type or key; the caller turns that into a diagnostic.
bool read_tests(const json& header, std::string_view data, Archive& archive) {
    for (const json& entry : header.at("tests")) {
        Recording recording;
        recording.run = entry.at("run").get<uint32_t>();
        recording.hash = from_hex(entry.at("xxh64"));
        auto offset = entry.at("offset").get<uint64_t>();
        auto bytes = entry.at("bytes").get<uint64_t>();
        if (recording.run >= archive.runs.size() || offset > data.size() ||
            bytes > data.size() - offset)
            return false;
        recording.outputs.resize(bytes);
        if (bytes) std::memcpy(recording.outputs.data(), data.data() + offset, bytes);
        archive.tests[entry.at("name").get<std::string>()] = std::move(recording);
    }
    return true;
}

}  // namespace

Result<Archive> load_archive(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return Archive{};
    WW_TRY(bytes, read_file(path));
    if (bytes.size() < kHeaderAt || bytes.compare(0, kMagic.size(), kMagic) != 0)
        return damaged(path, "it does not start as one");
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + kMagic.size(), sizeof length);
    if (bytes.size() - kHeaderAt < kHashBytes) return damaged(path, "the checksum is cut off");
    const std::string_view view = std::string_view(bytes).substr(0, bytes.size() - kHashBytes);
    uint64_t hash = 0;
    std::memcpy(&hash, bytes.data() + view.size(), sizeof hash);
    if (hash != XXH64(view.data(), view.size(), 0))
        return damaged(path, "its bytes do not have the checksum at its end");
    if (length > view.size() - kHeaderAt) return damaged(path, "the header is cut off");
    try {
        json header = json::parse(view.substr(kHeaderAt, length));
        Archive archive;
        for (const json& entry : header.at("runs")) archive.runs.push_back(read_run(entry));
        if (!read_tests(header, view.substr(kHeaderAt + length), archive))
            return damaged(path, "a test lies outside of the file");
        return archive;
    } catch (const std::exception& bad) {
        return damaged(path, bad.what());
    }
}

Status save_archive(const fs::path& path, const Archive& archive) {
    std::vector<int> new_index(archive.runs.size(), -1);
    json runs = json::array(), tests = json::array();
    std::string data;
    for (const auto& [name, recording] : archive.tests) {
        int& index = new_index.at(recording.run);
        if (index < 0) {
            index = static_cast<int>(runs.size());
            const RecordingRun& run = archive.runs[recording.run];
            runs.push_back({{"device", run.device},
                            {"sm", run.sm},
                            {"driver", run.driver},
                            {"date", run.date},
                            {"toolchain", run.toolchain},
                            {"log_xxh64", hex(run.log_hash)}});
        }
        tests.push_back({{"name", name},
                         {"run", index},
                         {"xxh64", hex(recording.hash)},
                         {"offset", data.size()},
                         {"bytes", recording.outputs.size()}});
        data.append(reinterpret_cast<const char*>(recording.outputs.data()),
                    recording.outputs.size());
    }
    std::string header = json{{"runs", runs}, {"tests", tests}}.dump();
    auto length = static_cast<uint32_t>(header.size());
    std::string bytes(kMagic);
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += header + data;
    const uint64_t hash = XXH64(bytes.data(), bytes.size(), 0);
    bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    return write_file(path, bytes);
}

}  // namespace ww::exectest
