// SPDX-License-Identifier: Apache-2.0
// A program that is asked and answers in lines, for as long as it is needed. A program that hangs, dies or talks without
// end costs its time limit and a message.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "toolchain/process.hpp"

namespace ww::toolchain {

class Dialogue {
  public:
    // command.input and command.timeout are not used.
    static Result<std::unique_ptr<Dialogue>> start(const Command& command);
    Dialogue(const Dialogue&) = delete;
    Dialogue& operator=(const Dialogue&) = delete;
    // Its input ends; a program that does not end then is killed with its process group.
    ~Dialogue();

    // Sends one line and waits for the one that answers it. After a failure the program is gone, and every later call
    // fails with the same message, which has the end of what the program wrote to stderr.
    Result<std::string> ask(std::string_view line, std::chrono::milliseconds limit);

  private:
    struct Process;
    explicit Dialogue(std::unique_ptr<Process> process);
    Failure lost(std::string why);
    Status send(std::string_view line);
    Result<std::string> receive(std::chrono::milliseconds limit);

    std::unique_ptr<Process> process_;
    std::string lost_;  // why the program is gone; empty: it is there
};

}  // namespace ww::toolchain
