// SPDX-License-Identifier: Apache-2.0
// posix_spawn in a process group of its own, pipes read by poll, killed as a group on time-out.
#include "toolchain/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

extern char** environ;

namespace ww::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { reset(); }
    int get() const { return fd_; }
    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

  private:
    int fd_;
};

struct Pipe {
    Descriptor read, write;
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        read.reset(ends[0]);
        write.reset(ends[1]);
        return true;
    }
};

// The program's stdin is a file in memory: no pipe to fill while its output is read.
bool open_input(Descriptor& fd, const std::string& input) {
    fd.reset(::memfd_create("stdin", MFD_CLOEXEC));
    if (fd.get() < 0) return false;
    size_t done = 0;
    while (done < input.size()) {
        const ssize_t count = ::write(fd.get(), input.data() + done, input.size() - done);
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    return ::lseek(fd.get(), 0, SEEK_SET) == 0;
}

std::vector<std::string> merged_environment(const Command& command) {
    std::map<std::string, std::string> merged;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        const size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        merged[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : command.environment) merged[name] = value;
    std::vector<std::string> entries;
    for (const auto& [name, value] : merged) entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (std::string& text : strings) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// Returns 0 and the pid, or the error.
int spawn(const Command& command, int in, int out, int err, pid_t& pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    if (!command.folder.empty())
        posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> arguments = command.argv;
    std::vector<std::string> entries = merged_environment(command);
    const int error = ::posix_spawnp(&pid, command.argv[0].c_str(), &actions, &attributes,
                                     pointers(arguments).data(), pointers(entries).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum class End { eof, timeout, limit };

// Reads both pipes to their end.
End collect(Pipe& out, Pipe& err, const Command& command, Clock::time_point deadline,
            Finished& finished) {
    std::array<pollfd, 2> polled{pollfd{out.read.get(), POLLIN, 0},
                                 pollfd{err.read.get(), POLLIN, 0}};
    std::array<std::string*, 2> texts{&finished.out, &finished.err};
    std::array<char, 1 << 16> buffer;
    int open = 2;
    while (open > 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return End::timeout;
        const int wait = static_cast<int>(std::min<long long>(left.count(), 60'000));
        if (::poll(polled.data(), polled.size(), wait) < 0 && errno != EINTR) return End::timeout;
        for (size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0) continue;
            const ssize_t count = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (count > 0) {
                texts[i]->append(buffer.data(), static_cast<size_t>(count));
                if (texts[i]->size() > command.output_limit) return End::limit;
            } else if (count == 0 || errno != EINTR) {
                polled[i].fd = -1;
                --open;
            }
        }
    }
    return End::eof;
}

// The wait status, or nothing when the deadline passes first.
std::optional<int> wait_until(pid_t pid, Clock::time_point deadline) {
    auto pause = std::chrono::microseconds(200);
    for (;;) {
        int status = 0;
        const pid_t done = ::waitpid(pid, &status, WNOHANG);
        if (done == pid) return status;
        if (done < 0 && errno != EINTR) return 0;
        if (Clock::now() >= deadline) return std::nullopt;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(20'000));
    }
}

void kill_group(pid_t pid) {
    ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<Finished> run_process(const Command& command) {
    WW_CHECK(!command.argv.empty(), "a command needs a program");
    const std::string& program = command.argv[0];
    Descriptor in;
    Pipe out, err;
    if (!open_input(in, command.input) || !out.open() || !err.open())
        return fail(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
    const Clock::time_point deadline = Clock::now() + command.timeout;
    pid_t pid = 0;
    if (const int error = spawn(command, in.get(), out.write.get(), err.write.get(), pid))
        return fail(fmt::format("cannot run {}: {}", program, std::strerror(error)));
    out.write.reset();
    err.write.reset();
    Finished finished;
    const End end = collect(out, err, command, deadline, finished);
    if (end == End::limit) {
        kill_group(pid);
        return fail(fmt::format("{} wrote more than {} MiB and was stopped", program,
                                command.output_limit >> 20));
    }
    const std::optional<int> status =
        end == End::timeout ? std::nullopt : wait_until(pid, deadline);
    if (!status) {
        kill_group(pid);
        return fail(fmt::format("{} did not end within {:.1f} s and was stopped", program,
                                command.timeout.count() / 1000.0));
    }
    finished.exit_code = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
    return finished;
}

Result<TemporaryFolder> TemporaryFolder::make() {
    std::error_code code;
    const std::filesystem::path base = std::filesystem::temp_directory_path(code);
    std::string name =
        ((code ? std::filesystem::path("/tmp") : base) / "warpwright-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        return fail(Diagnostic{
            .file = name,
            .message = fmt::format("cannot make a temporary folder: {}", std::strerror(errno))});
    return TemporaryFolder(std::filesystem::path(name));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code code;
    if (!path_.empty()) std::filesystem::remove_all(path_, code);
}

}  // namespace ww::toolchain
