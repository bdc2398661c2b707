// SPDX-License-Identifier: Apache-2.0
#include "bench/peer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "port/safetensors.hpp"

namespace ww::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string why(const Diagnostics& diagnostics) { return diagnostics.front().message; }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

}  // namespace

class Peer::Launches final : public Timed {
  public:
    Launches(Peer& peer, std::string output) : peer_(peer), output_(std::move(output)) {}

    // A peer's clock is its own; what can be held against it is ours, which ran meanwhile.
    Result<std::vector<double>> time(uint32_t launches) override {
        const auto begin = Clock::now();
        WW_TRY(answer, peer_.ask(time_line(launches, untimed_before(launches))));
        const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
        if (answer.kind != Answer::Kind::good) return fail(answer.text);
        if (answer.seconds.size() != launches)
            return fail(fmt::format("it was asked for {} times and gave {}", launches, answer.seconds.size()));
        for (const double each : answer.seconds)
            if (!(each > 0) || !std::isfinite(each)) return fail(fmt::format("it gave {} as the seconds of a launch", each));
        const double sum = std::accumulate(answer.seconds.begin(), answer.seconds.end(), 0.0);
        if (sum > passed)
            return fail(fmt::format("its launches took {:.3g} s, it says, but it answered after {:.3g} s", sum, passed));
        return std::move(answer.seconds);
    }

    Result<port::Tensor> output() override {
        // Others write theirs meanwhile.
        const std::filesystem::path file =
            peer_.files_ / fmt::format("output-{}.safetensors", reinterpret_cast<uintptr_t>(&peer_));
        std::error_code code;
        std::filesystem::remove(file, code);
        WW_TRY(answer, peer_.ask(output_line(file)));
        if (answer.kind != Answer::Kind::good) return fail(answer.text);
        auto tensor = port::read_safetensor(file, output_);
        std::filesystem::remove(file, code);
        if (!tensor) return fail(fmt::format("the file that it wrote is not right: {}", why(tensor.error())));
        return tensor;
    }

  private:
    Peer& peer_;
    std::string output_;
};

void Peer::start() {
    toolchain::Command command;
    for (const std::string& word : row_.process.argv) command.argv.push_back(replaced(word, "{port}", folder_.string()));
    auto started = toolchain::Dialogue::start(command);
    not_started_.clear();
    if (started)
        dialogue_ = std::move(*started);
    else
        not_started_ = why(started.error());
}

Result<Answer> Peer::ask(const std::string& line) {
    if (!dialogue_) return fail(not_started_.empty() ? "it is not running" : not_started_);
    const auto limit = std::chrono::milliseconds(static_cast<int64_t>(row_.process.timeout_s * 1000));
    auto heard = dialogue_->ask(line, limit);
    if (heard) {
        auto answer = read_answer(*heard);
        if (answer) return answer;
        dialogue_.reset();
        return answer;
    }
    dialogue_.reset();
    return heard.failure();
}

Result<std::string> Peer::meet() {
    if (!dialogue_ && not_started_.empty()) start();
    WW_TRY(answer, ask(hello_line()));
    if (answer.kind == Answer::Kind::good) return answer.text;
    dialogue_.reset();
    return fail(answer.text);
}

Result<Peer::Opened> Peer::open(const OpenRequest& request) {
    if (!dialogue_) {
        start();
        WW_TRY(met, meet());
        (void)met;
    }
    WW_TRY(answer, ask(open_line(request)));
    if (answer.kind == Answer::Kind::unavailable) return Opened{nullptr, answer.text};
    if (answer.kind == Answer::Kind::error) return fail(answer.text);
    open_ = true;
    return Opened{std::make_unique<Launches>(*this, request.output), {}};
}

void Peer::close() {
    if (open_ && dialogue_) (void)ask(close_line());
    open_ = false;
}

}  // namespace ww::bench
