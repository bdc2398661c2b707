// SPDX-License-Identifier: Apache-2.0
// One run from start to end: pipes read by poll, killed as a group on time-out.
#include "toolchain/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "toolchain/spawn.hpp"

namespace ww::toolchain {
namespace {

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
    finished.exit_code = exit_code_of(*status);
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
