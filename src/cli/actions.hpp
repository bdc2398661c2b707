// SPDX-License-Identifier: Apache-2.0
// Verbs with actions, "warpwright context add": each action is a subcommand of its verb, and the
// verb's page is the help of them all.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace ww::cli {

// An action of a verb. run's result is the exit code.
CLI::App* add_action(CLI::App* verb, const std::string& action, int& exit_code, std::function<int()> run);

}  // namespace ww::cli
