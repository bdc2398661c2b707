// SPDX-License-Identifier: Apache-2.0
// A peer: somebody else's implementation in a process of its own, which may be missing, wrong, slow or mad.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "bench/protocol.hpp"
#include "bench/timed.hpp"
#include "port/port.hpp"
#include "toolchain/dialogue.hpp"

namespace ww::bench {

class Peer {
  public:
    // folder: of the port; files: where what it writes may lie.
    Peer(const port::Peer& row, std::filesystem::path folder, std::filesystem::path files)
        : row_(row), folder_(std::move(folder)), files_(std::move(files)) {}

    const port::Peer& row() const { return row_; }
    // Starts the process without waiting for it, so that several load what they need at once.
    void start();
    // Waits for its first answer: what it says about itself. Fails with why it is not available.
    Result<std::string> meet();

    struct Opened {
        std::unique_ptr<Timed> timed;  // null: not available here, and why
        std::string unavailable;
    };
    // One case at a time. A process that was lost in an earlier case is started anew.
    Result<Opened> open(const OpenRequest& request);
    // After it, what open() gave must not be used.
    void close();

  private:
    class Launches;
    // Lost is lost: a process that answers nonsense is no more asked.
    Result<Answer> ask(const std::string& line);

    const port::Peer& row_;
    std::filesystem::path folder_, files_;
    std::unique_ptr<toolchain::Dialogue> dialogue_;
    std::string not_started_;
    bool open_ = false;
};

}  // namespace ww::bench
