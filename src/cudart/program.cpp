// SPDX-License-Identifier: Apache-2.0
#include "cudart/program.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "cudart/settings.hpp"

namespace ww::cudart {
namespace {

// A file of its own, removed at the end.
class ReportFile {
  public:
    ReportFile() {
        const auto folder = std::filesystem::temp_directory_path();
        std::string name = (folder / "warpwright-run-XXXXXX").string();
        const int file = ::mkstemp(name.data());
        if (file < 0) return;
        ::close(file);
        path_ = name;
    }
    ~ReportFile() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    ReportFile(const ReportFile&) = delete;
    ReportFile& operator=(const ReportFile&) = delete;
    const std::string& path() const { return path_; }
    std::vector<std::string> lines() const {
        std::ifstream file(path_);
        std::vector<std::string> out;
        for (std::string line; std::getline(file, line);) out.push_back(std::move(line));
        return out;
    }

  private:
    std::string path_;
};

// Ours, without what an outer run left there, with the library before all others.
std::vector<std::string> environment_of(const ProgramOptions& options, const std::string& report) {
    std::vector<std::string> out;
    std::string preload = "LD_PRELOAD=" + options.library.string();
    for (char** each = environ; *each; ++each) {
        const std::string_view entry = *each;
        bool ours = false;
        for (const char* name : kVariables) ours |= entry.starts_with(fmt::format("{}=", name));
        if (entry.starts_with("LD_PRELOAD=")) preload += fmt::format(":{}", entry.substr(std::strlen("LD_PRELOAD=")));
        else if (!ours) out.emplace_back(entry);
    }
    out.push_back(std::move(preload));
    out.push_back(fmt::format("WARPWRIGHT_RUN_REPORT={}", report));
    for (const auto& [name, value] : options.environment) out.push_back(fmt::format("{}={}", name, value));
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& each : texts) out.push_back(each.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

Result<ProgramRun> run_program(const ProgramOptions& options) {
    const ReportFile report;
    if (report.path().empty()) return fail("cannot make a temporary file for the report");
    std::vector<std::string> command = options.command, environment = environment_of(options, report.path());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (options.stdout_to_stderr) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const auto start = std::chrono::steady_clock::now();
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, command[0].c_str(), &actions, nullptr, pointers(command).data(), pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return fail(fmt::format("cannot run {}: {}", command[0], std::strerror(error)));
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR) return fail(fmt::format("lost {}: {}", command[0], std::strerror(errno)));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return ProgramRun{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                      .seconds = elapsed.count(),
                      .peak_kib = static_cast<uint64_t>(usage.ru_maxrss),
                      .events = report.lines()};
}

}  // namespace ww::cudart
