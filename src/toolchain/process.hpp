// SPDX-License-Identifier: Apache-2.0
// Runs a program without a shell: arguments as they are, output captured, a time limit.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ww::toolchain {

struct Command {
    std::vector<std::string> argv;  // argv[0] is a path, or a name looked up in PATH
    std::string input;              // what the program reads from stdin
    std::filesystem::path folder;   // working folder; empty: ours
    std::vector<std::pair<std::string, std::string>> environment;  // added to ours
    std::chrono::milliseconds timeout{120000};
    size_t output_limit = size_t{256} << 20;  // bytes of stdout and of stderr each
};

struct Finished {
    int exit_code = 0;  // 128 + signal when a signal ended it
    std::string out, err;
};

// Fails when the program cannot be started, runs past the timeout (it is then killed with its
// process group) or writes more than the limit. A nonzero exit code is not a failure here.
Result<Finished> run_process(const Command& command);

// A private folder under the system's temporary folder, removed with its content at the end.
class TemporaryFolder {
  public:
    static Result<TemporaryFolder> make();
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    const std::filesystem::path& path() const { return path_; }

  private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace ww::toolchain
