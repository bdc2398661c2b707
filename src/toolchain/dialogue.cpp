// SPDX-License-Identifier: Apache-2.0
#include "toolchain/dialogue.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "toolchain/spawn.hpp"

namespace ww::toolchain {
namespace {

constexpr size_t kMaxLine = size_t{1} << 20;
constexpr size_t kLastWords = 2000;  // of stderr, for messages
constexpr auto kToEnd = std::chrono::seconds(5);

}  // namespace

struct Dialogue::Process {
    std::string program;
    pid_t pid = 0;
    Descriptor in;  // a socket: a write to a program that is gone is an error there, and no signal
    Pipe out, err;
    std::string heard, last_words;

    // Waits for output; false when the deadline passes first.
    bool wait(Clock::time_point deadline);
    // Takes what is there; false at the end of stdout.
    bool take();
    void take_errors();
    bool errors_open = true;
};

bool Dialogue::Process::wait(Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return false;
        std::array<pollfd, 2> polled{pollfd{out.read.get(), POLLIN, 0}, pollfd{errors_open ? err.read.get() : -1, POLLIN, 0}};
        ::poll(polled.data(), polled.size(), static_cast<int>(std::min<long long>(left.count(), 60'000)));
        if (polled[1].revents != 0) take_errors();
        if (polled[0].revents != 0) return true;
    }
}

bool Dialogue::Process::take() {
    std::array<char, 1 << 14> buffer;
    const ssize_t count = ::read(out.read.get(), buffer.data(), buffer.size());
    if (count > 0) heard.append(buffer.data(), static_cast<size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
}

void Dialogue::Process::take_errors() {
    std::array<char, 1 << 14> buffer;
    const ssize_t count = ::read(err.read.get(), buffer.data(), buffer.size());
    if (count <= 0) {
        errors_open = count < 0 && errno == EINTR;
        return;
    }
    last_words.append(buffer.data(), static_cast<size_t>(count));
    if (last_words.size() > kLastWords) last_words.erase(0, last_words.size() - kLastWords);
}

Dialogue::Dialogue(std::unique_ptr<Process> process) : process_(std::move(process)) {}

Result<std::unique_ptr<Dialogue>> Dialogue::start(const Command& command) {
    WW_CHECK(!command.argv.empty(), "a command needs a program");
    auto process = std::make_unique<Process>();
    process->program = command.argv[0];
    const auto refuse = [&](int error) {
        return fail(fmt::format("cannot run {}: {}", command.argv[0], std::strerror(error)));
    };
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return refuse(errno);
    process->in.reset(ends[0]);
    Descriptor its_in(ends[1]);
    if (!process->out.open() || !process->err.open()) return refuse(errno);
    if (const int error = spawn(command, its_in.get(), process->out.write.get(), process->err.write.get(), process->pid))
        return refuse(error);
    process->out.write.reset();
    process->err.write.reset();
    return std::unique_ptr<Dialogue>(new Dialogue(std::move(process)));
}

Dialogue::~Dialogue() {
    if (!lost_.empty()) return;
    process_->in.reset();
    // Nobody reads any more: a program that goes on writing ends by that.
    process_->out.read.reset();
    process_->err.read.reset();
    if (!wait_until(process_->pid, Clock::now() + kToEnd)) kill_group(process_->pid);
}

Failure Dialogue::lost(std::string why) {
    if (process_->errors_open && process_->err.read.get() >= 0) {
        pollfd polled{process_->err.read.get(), POLLIN, 0};
        if (::poll(&polled, 1, 0) > 0) process_->take_errors();
    }
    // The last line is the error where a Python program ends by one.
    const std::string words(trim(process_->last_words));
    const size_t line = words.rfind('\n');
    if (!words.empty()) why += fmt::format("; its last words: {}", line == std::string::npos ? words : words.substr(line + 1));
    lost_ = std::move(why);
    return fail(lost_);
}

Status Dialogue::send(std::string_view line) {
    std::string text(line);
    text += '\n';
    size_t done = 0;
    while (done < text.size()) {
        const ssize_t count =
            ::send(process_->in.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
            if (!full) return ok();  // it has ended: receive() says how
            kill_group(process_->pid);
            return lost(fmt::format("{} does not read what it is asked", process_->program));
        }
        done += static_cast<size_t>(count);
    }
    return ok();
}

Result<std::string> Dialogue::receive(std::chrono::milliseconds limit) {
    Process& p = *process_;
    const Clock::time_point deadline = Clock::now() + limit;
    size_t end = 0;
    while ((end = p.heard.find('\n')) == std::string::npos) {
        if (p.heard.size() > kMaxLine) {
            kill_group(p.pid);
            return lost(fmt::format("{} wrote a line of more than {} bytes and was stopped", p.program, kMaxLine));
        }
        if (!p.wait(deadline)) {
            kill_group(p.pid);
            return lost(fmt::format("{} did not answer within {:.1f} s and was stopped", p.program,
                                    static_cast<double>(limit.count()) / 1000));
        }
        if (p.take()) continue;
        const auto status = wait_until(p.pid, std::max(deadline, Clock::now() + kToEnd));
        if (!status) kill_group(p.pid);
        return lost(status ? fmt::format("{} ended with code {}", p.program, exit_code_of(*status))
                           : fmt::format("{} closed its output and was stopped", p.program));
    }
    std::string line = p.heard.substr(0, end);
    p.heard.erase(0, end + 1);
    return line;
}

Result<std::string> Dialogue::ask(std::string_view line, std::chrono::milliseconds limit) {
    if (!lost_.empty()) return fail(lost_);
    if (!process_->heard.empty()) {
        const std::string early(trim(process_->heard.substr(0, process_->heard.find('\n'))));
        kill_group(process_->pid);
        return lost(fmt::format("{} wrote '{}' without being asked and was stopped", process_->program, early.substr(0, 80)));
    }
    WW_TRY(sent, send(line));
    (void)sent;
    return receive(limit);
}

}  // namespace ww::toolchain
