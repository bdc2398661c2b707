// SPDX-License-Identifier: Apache-2.0
// Runs a text test on emulated devices and judges what came out.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "test_text.hpp"

namespace ww::emulator_test {
namespace {

struct Loaded {
    std::unique_ptr<device::Device> device;
    std::vector<device::Address> addresses;  // by buffer
};

std::vector<std::byte> packed(const Buffer& buffer) {
    const uint64_t bytes = element_bytes(buffer.element);
    std::vector<std::byte> out(buffer.count * bytes);
    for (size_t i = 0; i < buffer.values.size(); ++i) std::memcpy(&out[i * bytes], &buffer.values[i], bytes);
    return out;
}

Status place_buffers(const TextTest& test, Loaded& loaded) {
    for (const Buffer& buffer : test.buffers) {
        const std::vector<std::byte> data = packed(buffer);
        WW_TRY(address, loaded.device->allocate(data.size()));
        loaded.addresses.push_back(address);
        if (buffer.written) {
            WW_TRY(copied, loaded.device->copy_in(address, data));
            (void)copied;
        }
        if (buffer.released) {
            WW_TRY(released, loaded.device->release(address));
            (void)released;
        }
    }
    return ok();
}

std::vector<device::Argument> arguments_of(const TextTest& test, const Loaded& loaded) {
    std::vector<device::Argument> out;
    for (const Argument& argument : test.arguments) {
        if (argument.buffer.empty()) {
            out.push_back({argument.bytes});
            continue;
        }
        for (size_t i = 0; i < test.buffers.size(); ++i)
            if (test.buffers[i].name == argument.buffer)
                out.push_back(device::Argument::of(loaded.addresses[i] + static_cast<uint64_t>(argument.offset)));
    }
    return out;
}

Result<std::string> launch_all(const TextTest& test, Loaded& loaded) {
    WW_TRY(placed, place_buffers(test, loaded));
    (void)placed;
    WW_TRY(module, loaded.device->load({device::Image::Kind::ptx, test.name + ".ptx", test.ptx}));
    std::string printed;
    std::vector<std::string> kernels = test.kernels;
    if (kernels.empty()) kernels = {"k"};
    for (const std::string& name : kernels) {
        WW_TRY(kernel, loaded.device->kernel(module, name));
        WW_TRY(report, loaded.device->launch(kernel, {.grid = test.grid,
                                                      .block = test.block,
                                                      .cluster = test.cluster,
                                                      .dynamic_shared_bytes = test.dynamic_shared,
                                                      .cooperative = test.cooperative,
                                                      .arguments = arguments_of(test, loaded)}));
        printed += report.printf_output;
    }
    return printed;
}

bool has_parts(const std::string& message, const std::vector<std::string>& parts) {
    size_t at = 0;
    for (const std::string& part : parts) {
        const size_t found = message.find(part, at);
        if (found == std::string::npos) return false;
        at = found + part.size();
    }
    return true;
}

// Each race that is expected, and no other.
std::string judge_races(const TextTest& test, const std::vector<device::RaceRecord>& races) {
    std::vector<std::string> messages;
    for (const device::RaceRecord& race : races) messages.push_back(device::race_diagnostic(race).message);
    for (const std::vector<std::string>& parts : test.expected_races) {
        const auto found = std::find_if(messages.begin(), messages.end(), [&](const std::string& m) { return has_parts(m, parts); });
        if (found == messages.end()) {
            std::string told;
            for (const device::RaceRecord& race : races) told += fmt::format("\n{}", device::race_diagnostic(race).message);
            return fmt::format("no race is reported with '{}', but {}:{}", join(parts, "' '"), races.size(), told);
        }
        messages.erase(found);
    }
    if (messages.empty()) return "";
    return fmt::format("a race is reported that is not expected:\n{}", messages[0]);
}

std::string judge_error(const TextTest& test, const std::string& message) {
    size_t at = 0;
    for (const std::string& part : test.errors) {
        const size_t found = message.find(part, at);
        if (found == std::string::npos)
            return fmt::format("the message lacks, or has in another order, '{}':\n{}", part, message);
        at = found + part.size();
    }
    for (const std::string& part : test.absent)
        if (message.find(part) != std::string::npos) return fmt::format("the message has '{}':\n{}", part, message);
    return "";
}

std::string judge_values(const TextTest& test, const Loaded& loaded) {
    for (const Expected& expected : test.expected)
        for (size_t i = 0; i < test.buffers.size(); ++i) {
            const Buffer& buffer = test.buffers[i];
            if (buffer.name != expected.buffer) continue;
            const uint64_t bytes = element_bytes(buffer.element);
            std::vector<std::byte> data(buffer.count * bytes);
            if (const Status copied = loaded.device->copy_out(data, loaded.addresses[i]); !copied) return format(copied.error());
            for (size_t e = 0; e < buffer.count; ++e) {
                uint64_t value = 0;
                std::memcpy(&value, &data[e * bytes], bytes);
                if (value != expected.values[e])
                    return fmt::format("line {}: {}[{}] is {} ({:#x}), expected {} ({:#x})", expected.line, buffer.name, e,
                                       value, value, expected.values[e], expected.values[e]);
            }
        }
    return "";
}

std::string run_once(const TextTest& test, const device::EmulatorOptions& options) {
    Loaded loaded;
    loaded.device = device::open_emulated(options);
    loaded.device->check_races(test.races);
    const Result<std::string> printed = launch_all(test, loaded);
    const std::vector<device::RaceRecord> races = loaded.device->take_races();
    if (!printed) {
        if (test.errors.empty()) return "it fails:\n" + format(printed.error());
        if (const std::string wrong = judge_races(test, races); !wrong.empty()) return wrong;
        return judge_error(test, format(printed.error()));
    }
    if (!test.errors.empty()) return "it succeeds, but an error is expected";
    if (const std::string wrong = judge_races(test, races); !wrong.empty()) return wrong;
    if (test.checks_print && *printed != test.printed)
        return fmt::format("it prints\n{}\nexpected\n{}", *printed, test.printed);
    return judge_values(test, loaded);
}

}  // namespace

std::string run_text_test(const TextTest& test) {
    for (const uint32_t threads : test.threads)
        for (const AsyncPolicy& async : test.async)
            for (const SchedulePolicy& schedule : test.schedule) {
                const std::string wrong = run_once(
                    test, {.threads = threads, .instruction_budget = test.budget, .async = async, .schedule = schedule});
                if (!wrong.empty())
                    return fmt::format("{} with {} host thread(s), completions {}, schedule {}: {}", test.name, threads,
                                       policy_text(async), policy_text(schedule), wrong);
            }
    return "";
}

}  // namespace ww::emulator_test
