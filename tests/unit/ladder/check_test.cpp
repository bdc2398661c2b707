// SPDX-License-Identifier: Apache-2.0
// check: each way in which a kernel can be wrong ends at the right rung with the right place. The
// port doubles four numbers; kernels are functions of the fake device.
#include "ladder/check.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "fake_device.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"

namespace ww::ladder {
namespace {

constexpr const char* kPort = R"(
[port]
name = "double"
[axes]
N = {}
[tensors.x]
dtype = "f32"
shape = [2, "N"]
role = "input"
[tensors.y]
dtype = "f32"
shape = [2, "N"]
role = "output"
tile = [1, 2]
[tensors.z]
dtype = "f32"
shape = [2, "N"]
role = "tap"
[[stage]]
name = "scale"
inputs = ["x"]
outputs = ["y"]
taps = ["z"]
[implementations.reference.scale]
kind = "library"
symbol = "double_reference"
[implementations.mine.scale]
kind = "kernel"
source = "fake.ptx"
entry = "double"
grid = [1]
block = [32]
args = ["x", "y", { dtype = "i32", value = "2 * N" }]
taps = { source = "tapped.ptx", args = ["z"] }
[[case]]
id = "small"
axes = { N = 4 }
[[case]]
id = "hidden"
axes = { N = 6 }
held_out = true
)";

Status double_reference(const LibraryCall& call) {
    const port::Tensor& x = call.input("x");
    for (int64_t i = 0; i < x.layout.elements; ++i) {
        call.output("y")->set(i, 2 * x.get(i));
        if (call.tap("z")) call.tap("z")->set(i, x.get(i));
    }
    return ok();
}

using Context = FakeDevice::Context;

// Copies x to the tap where there is one, doubles it, and lets spoil do its work last.
FakeDevice::Kernel doubling(std::function<void(const Context&)> spoil) {
    FakeDevice::Kernel kernel;
    kernel.params = {{"x", 0, 8, 8}, {"y", 8, 8, 8}, {"n", 16, 4, 4}};
    kernel.body = [spoil = std::move(spoil)](const Context& c) -> Status {
        const auto x = c.argument<uint64_t>(0), y = c.argument<uint64_t>(1);
        for (uint32_t i = 0; i < c.argument<uint32_t>(2); ++i) {
            const auto value = c.load<float>(x + 4 * i);
            if (c.launch.arguments.size() > 3) c.store(c.argument<uint64_t>(3) + 4 * i, value, i);
            c.store(y + 4 * i, 2 * value, i);
        }
        spoil(c);
        return ok();
    };
    return kernel;
}

class Check : public ::testing::Test {
  protected:
    Check() : folder_(toolchain::TemporaryFolder::make().value()) {
        write("port.toml", kPort);
        write("fake.ptx", "// only a name for the fake device");
        write("tapped.ptx", "// tapped");
    }
    void write(const std::string& name, const std::string& text) {
        ASSERT_TRUE(write_file(folder_.path() / name, text));
    }
    Result<CheckReport> run(FakeDevice::Kernel kernel, CheckOptions options = {}) {
        std::map<std::string, FakeDevice::Kernel> kernels = {{"double", kernel}};
        kernel.params.push_back({"z", 24, 8, 8});
        kernels["double+taps"] = kernel;
        options.port = folder_.path();
        if (options.libraries.empty())
            options.libraries = {{"double_reference", double_reference}};
        options.open_device = [kernels](const std::string&, uint32_t) -> Result<std::unique_ptr<device::Device>> {
            return std::unique_ptr<device::Device>(new FakeDevice(kernels));
        };
        return check(options);
    }
    // The port without taps, for tests that are about something else.
    void without_taps() { write("port.toml", without_taps(kPort)); }
    std::string without_taps(std::string text) {
        for (const std::string line : {"taps = [\"z\"]\n",
                                       "taps = { source = \"tapped.ptx\", args = [\"z\"] }\n"})
            text.erase(text.find(line), line.size());
        const size_t tensor = text.find("[tensors.z]");
        text.erase(tensor, text.find("[[stage]]") - tensor);
        return text;
    }
    Rung failed(const Result<CheckReport>& report) {
        EXPECT_TRUE(report) << format(report.error());
        EXPECT_FALSE(report->pass);
        EXPECT_TRUE(report->rungs.back().failure);
        return report->rungs.back();
    }

    toolchain::TemporaryFolder folder_;
};

TEST_F(Check, ARightKernelPassesEveryRung) {
    without_taps();
    const auto report = run(doubling([](const Context&) {}));
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_TRUE(report->pass) << summary_text(*report);
    EXPECT_EQ(report->exit_code(), 0);
    std::vector<std::string> names;
    for (const Rung& rung : report->rungs) names.push_back(rung.name);
    const std::vector<std::string> expected = {
        "reference/small", "reference/hidden", "compile/mine/scale", "arguments/mine/scale",
        "stage/mine/scale/small", "determinism/mine/scale/small", "held_out/mine/scale/hidden"};
    EXPECT_EQ(names, expected);
}

TEST_F(Check, AWrongElementIsNamedWithTileAndWriter) {
    without_taps();
    const auto report = run(doubling([](const Context& c) {
        c.store(c.argument<uint64_t>(1) + 4 * 6, 1000.0f, 6);
        c.store(c.argument<uint64_t>(1) + 4 * 7, 2000.0f, 7);
    }));
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "stage/mine/scale/small");
    EXPECT_EQ(rung.failure->kind, FailureKind::wrong);
    EXPECT_EQ(rung.failure->stage, "scale");
    EXPECT_EQ(rung.failure->output, "y");
    EXPECT_EQ(rung.failure->first->coordinates, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(rung.failure->first->got, 1000);
    EXPECT_EQ(rung.failure->worst->coordinates, (std::vector<int64_t>{1, 3}));
    EXPECT_EQ(rung.failure->tile, (std::vector<int64_t>{1, 1}));
    ASSERT_TRUE(rung.failure->written_by);
    EXPECT_EQ(rung.failure->written_by->thread.x, 6u);
    EXPECT_EQ(rung.metrics.at(0).mismatches, 2);
    EXPECT_EQ(report->exit_code(), 1);
    EXPECT_GT(report->not_run, 0u);
    EXPECT_NE(failure_text(rung).find("fake.cu:7"), std::string::npos);
}

TEST_F(Check, AnUnwrittenElementNeverPasses) {
    without_taps();
    FakeDevice::Kernel kernel = doubling([](const Context&) {});
    kernel.body = [](const Context& c) -> Status {
        for (uint32_t i = 0; i + 1 < c.argument<uint32_t>(2); ++i)
            c.store(c.argument<uint64_t>(1) + 4 * i, 2 * c.load<float>(c.argument<uint64_t>(0) + 4 * i),
                    i);
        return ok();
    };
    const Rung rung = failed(run(kernel));
    EXPECT_EQ(rung.failure->kind, FailureKind::unwritten);
    EXPECT_EQ(rung.failure->first->coordinates, (std::vector<int64_t>{1, 3}));
    EXPECT_EQ(rung.failure->message, "1 of 8 elements of y were never written");
    // All seven stores are on one line: it is named once, with the nearest element.
    ASSERT_EQ(rung.failure->other_writers.size(), 1u);
    EXPECT_EQ(rung.failure->other_writers[0].coordinates, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(rung.failure->other_writers[0].written_by.thread.x, 6u);
}

TEST_F(Check, ATensorThatNobodyWroteSaysSo) {
    without_taps();
    FakeDevice::Kernel kernel = doubling([](const Context&) {});
    kernel.body = [](const Context&) { return ok(); };
    const Rung rung = failed(run(kernel));
    EXPECT_EQ(rung.failure->message,
              "8 of 8 elements of y were never written: nothing was written to it at all");
    EXPECT_TRUE(rung.failure->other_writers.empty());
}

TEST_F(Check, WritesBesideATensorAreFoundAndTraced) {
    without_taps();
    const Rung behind = failed(run(doubling(
        [](const Context& c) { c.store(c.argument<uint64_t>(1) + 4 * 8, 1.0f, 31); })));
    EXPECT_EQ(behind.failure->kind, FailureKind::out_of_bounds);
    EXPECT_EQ(behind.failure->message, "a write 0 bytes behind the end of tensor y");
    ASSERT_TRUE(behind.failure->written_by);
    EXPECT_EQ(behind.failure->written_by->thread.x, 31u);
    const Rung before = failed(run(doubling(
        [](const Context& c) { c.store(c.argument<uint64_t>(0) - 4, 1.0f, 0); })));
    EXPECT_EQ(before.failure->kind, FailureKind::out_of_bounds);
    EXPECT_EQ(before.failure->message, "a write 4 bytes before tensor x");
}

TEST_F(Check, AModifiedInputIsFound) {
    without_taps();
    const Rung rung = failed(run(doubling(
        [](const Context& c) { c.store(c.argument<uint64_t>(0) + 4, 5.0f, 2); })));
    EXPECT_EQ(rung.failure->kind, FailureKind::input_modified);
    EXPECT_EQ(rung.failure->written_by->thread.x, 2u);
}

TEST_F(Check, OutputsThatChangeFromRunToRunAreFound) {
    // Within the tolerance, but other bits in each run.
    without_taps();
    auto count = std::make_shared<int>(0);
    auto port = read_file(folder_.path() / "port.toml").value();
    port.insert(port.find("tile ="), "tolerance = { mode = \"ulp\", max = 1e9 }\n");
    port.insert(port.find("role = \"input\""), "data = { distribution = \"constant\", value = 1 }\n");
    write("port.toml", port);
    const Rung rung = failed(run(doubling([count](const Context& c) {
        c.store(c.argument<uint64_t>(1) + 4, static_cast<float>(++*count % 2 + 1), 1);
    })));
    EXPECT_EQ(rung.failure->kind, FailureKind::not_deterministic);
    EXPECT_EQ(rung.failure->first->coordinates, (std::vector<int64_t>{0, 1}));
}

TEST_F(Check, ArgumentsThatDoNotFitAreWrongInput) {
    without_taps();
    FakeDevice::Kernel kernel = doubling([](const Context&) {});
    kernel.params.back().size = 8;
    const auto report = run(kernel);
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "arguments/mine/scale");
    EXPECT_EQ(report->exit_code(), 2);
    EXPECT_GT(rung.failure->diagnostics.at(0).line, 0);
}

TEST_F(Check, AFunctionThatIsNotThereIsWrongInput) {
    std::string text = kPort;
    const std::string symbol = "double_reference";
    text.replace(text.find(symbol), symbol.size(), "double_referense");
    write("port.toml", text);
    const auto report = run(doubling([](const Context&) {}));
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "reference/small");
    EXPECT_EQ(report->exit_code(), 2);
    EXPECT_GT(rung.failure->diagnostics.at(0).line, 0);
    EXPECT_NE(rung.failure->message.find("did you mean double_reference?"), std::string::npos);
}

// port.toml with one line of the kernel's implementation replaced.
std::string changed(const std::string& from, const std::string& to) {
    std::string text = kPort;
    text.replace(text.find(from), from.size(), to);
    return text;
}

TEST_F(Check, AnEntryThatIsNotThereIsWrongInput) {
    write("port.toml", changed("entry = \"double\"", "entry = \"duoble\""));
    const auto report = run(doubling([](const Context&) {}));
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "compile/mine/scale");
    EXPECT_EQ(report->exit_code(), 2);
    const Diagnostic& said = rung.failure->diagnostics.at(0);
    EXPECT_EQ(said.source_line, "entry = \"duoble\"");
    EXPECT_NE(said.message.find("there is no kernel 'duoble'; "), std::string::npos) << said.message;
    EXPECT_NE(said.message.find(" has double"), std::string::npos) << said.message;
}

TEST_F(Check, TooMuchSharedMemoryIsWrongInput) {
    write("port.toml", changed("grid = [1]", "shared = \"300 * N\"\ngrid = [1]"));
    const auto report = run(doubling([](const Context&) {}));
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "arguments/mine/scale");
    EXPECT_EQ(report->exit_code(), 2);
    EXPECT_EQ(rung.failure->diagnostics.at(0).source_line, "shared = \"300 * N\"");
    CheckOptions options;
    options.rung_glob = "stage/*";  // nothing checked it before
    EXPECT_EQ(run(doubling([](const Context&) {}), options)->exit_code(), 2);
}

TEST_F(Check, AnOptionThatTheCompilerRefusesIsWrongInput) {
    for (const char* part : {"nvrtc", "headers"})
        if (toolchain::find_part(part).origin == toolchain::Origin::missing)
            GTEST_SKIP() << part << " is not on this machine";
    write("fake.cu", "extern \"C\" __global__ void f() {}");
    write("port.toml", without_taps(changed(
                           "source = \"fake.ptx\"",
                           "options = [\"--fmad=false\", \"--no-such-thing\"]\nsource = \"fake.cu\"")));
    const auto report = run(doubling([](const Context&) {}));
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "compile/mine/scale");
    EXPECT_EQ(report->exit_code(), 2);
    const Diagnostic& said = rung.failure->diagnostics.at(0);
    EXPECT_NE(said.message.find("unrecognized option --no-such-thing"), std::string::npos);
    EXPECT_EQ(said.col, 28);
}

TEST_F(Check, WhatALibraryFunctionRequiresIsWrongInput) {
    CheckOptions options;
    options.libraries = {{"double_reference", [](const LibraryCall& call) -> Status {
                              return call.require({"weights"}, {});
                          }}};
    const auto report = run(doubling([](const Context&) {}), options);
    const Rung rung = failed(report);
    EXPECT_EQ(rung.name, "reference/small");
    EXPECT_EQ(report->exit_code(), 2);
    EXPECT_EQ(rung.failure->diagnostics.at(0).source_line, "[implementations.reference.scale]");
    // A function that fails by itself is no wrong input.
    options.libraries = {{"double_reference", [](const LibraryCall&) -> Status {
                              return fail("out of ideas");
                          }}};
    EXPECT_EQ(run(doubling([](const Context&) {}), options)->exit_code(), 1);
}

TEST(LibraryCall, SaysWhatThePortLacks) {
    port::Scope scope;
    scope.integers["N"] = 4;
    scope.reals["scale"] = 0.5;
    port::Tensor x, y;
    y.layout.elements = 8;
    LibraryCall call{.scope = &scope};
    call.inputs["x"] = &x;
    call.outputs["y"] = &y;
    EXPECT_TRUE(call.require({"x"}, {"N"}, {"N", "scale"}));
    EXPECT_FALSE(call.require({"z"}, {}));
    EXPECT_FALSE(call.require({}, {"M"}));
    EXPECT_FALSE(call.require({}, {"scale"})) << "a real is no integer";
    EXPECT_FALSE(call.require({}, {}, {"bias"}));
    EXPECT_TRUE(call.require_elements("y", 8));
    EXPECT_FALSE(call.require_elements("y", 9));
    EXPECT_TRUE(call.require_elements("nobody_asked", 9));
}

TEST_F(Check, AnImageThatDoesNotLoadFailsItsRung) {
    without_taps();
    write("fake.ptx", "broken");
    const auto report = run(doubling([](const Context&) {}));
    EXPECT_EQ(failed(report).name, "compile/mine/scale");
    EXPECT_EQ(report->exit_code(), 1);
}

TEST_F(Check, KeepGoingClimbsOn) {
    without_taps();
    CheckOptions options;
    options.keep_going = true;
    const auto report = run(doubling([](const Context& c) {
        c.store(c.argument<uint64_t>(1), 1000.0f, 0);
    }), options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->rungs.back().name, "held_out/mine/scale/hidden");
    EXPECT_EQ(report->not_run, 0u);
    EXPECT_EQ(report->reason, "stage/mine/scale/small failed");
}

TEST_F(Check, GlobsThatMatchNothingSayWhatThereIs) {
    CheckOptions options;
    options.case_glob = "huge*";
    const auto report = run(doubling([](const Context&) {}), options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().at(0).message, "--case huge* matches none of: small, hidden");
}

// A baseline has no rungs; what its error bounds is judged beside the tolerance.
TEST_F(Check, AnOutputMayAlsoBeHeldToABaselinesL1Error) {
    std::string text = without_taps(kPort);
    text.insert(text.find("tile = [1, 2]"), "tolerance = { mode = \"ulp\", max = 1e6 }\n"
                                            "also = { mode = \"l1_relative_to\", baseline = \"other\", factor = 1, floor_ulp = 0 }\n");
    text.insert(text.find("[implementations.mine.scale]"),
                "[implementations.float64.scale]\nkind = \"library\"\nsymbol = \"double_reference\"\n"
                "[implementations.other]\nbaseline = true\n"
                "[implementations.other.scale]\nkind = \"library\"\nsymbol = \"roughly\"\n");
    write("port.toml", text);
    CheckOptions options;
    options.libraries = {{"double_reference", double_reference}, {"roughly", [](const LibraryCall& call) {
                              for (int64_t i = 0; i < call.input("x").layout.elements; ++i)
                                  call.output("y")->set(i, 2.001 * call.input("x").get(i));
                              return ok();
                          }}};
    const auto within = run(doubling([](const Context& c) {
                                const auto y = c.argument<uint64_t>(1);
                                for (uint32_t i = 0; i < 4; ++i) c.store(y + 4 * i, 1.0004f * c.load<float>(y + 4 * i), i);
                            }), options);
    ASSERT_TRUE(within) << format(within.error());
    EXPECT_TRUE(within->pass) << summary_text(*within);
    for (const Rung& rung : within->rungs) {
        EXPECT_EQ(rung.name.find("other"), std::string::npos) << rung.name;
        if (!rung.name.starts_with("stage/")) continue;
        EXPECT_EQ(rung.metrics.size(), 1u);
        EXPECT_NE(rung_line(rung).find("of other's"), std::string::npos) << rung_line(rung);
    }
    const Rung beyond = failed(run(doubling([](const Context& c) {
                                       const auto y = c.argument<uint64_t>(1);
                                       for (uint32_t i = 0; i < 4; ++i) c.store(y + 4 * i, 1.01f * c.load<float>(y + 4 * i), i);
                                   }), options));
    EXPECT_EQ(beyond.name, "stage/mine/scale/small");
    EXPECT_EQ(beyond.failure->message.find("relative L1 error of y is "), 0u) << beyond.failure->message;
    EXPECT_NE(beyond.failure->message.find("; other has "), std::string::npos) << beyond.failure->message;
}

TEST_F(Check, NothingComparedIsNoPass) {
    without_taps();
    CheckOptions options;
    options.rung_glob = "compile/*";
    const auto report = run(doubling([](const Context&) {}), options);
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->pass);
    EXPECT_EQ(report->reason, "no output was compared");
}

TEST_F(Check, TheFirstBadTapLocalisesAWrongOutput) {
    const Rung rung = failed(run(doubling([](const Context& c) {
        c.store(c.argument<uint64_t>(1), 1000.0f, 0);
        if (c.launch.arguments.size() > 3) c.store(c.argument<uint64_t>(3) + 8, 99.0f, 2);
    })));
    EXPECT_EQ(rung.name, "stage/mine/scale/small");
    EXPECT_EQ(rung.failure->tap, "z");
    EXPECT_EQ(rung.failure->tap_first->coordinates, (std::vector<int64_t>{0, 2}));
}

TEST_F(Check, AWrongTapFailsItsRung) {
    const Rung rung = failed(run(doubling([](const Context& c) {
        if (c.launch.arguments.size() > 3) c.store(c.argument<uint64_t>(3) + 8, 99.0f, 2);
    })));
    EXPECT_EQ(rung.name, "taps/mine/scale/small");
    EXPECT_EQ(rung.failure->tap, "z");
    EXPECT_EQ(rung.failure->written_by->thread.x, 2u);
}

TEST_F(Check, TapsMustNotChangeTheOutput) {
    const Rung rung = failed(run(doubling([](const Context& c) {
        if (c.launch.arguments.size() > 3) c.store(c.argument<uint64_t>(1) + 12, 99.0f, 3);
    })));
    EXPECT_EQ(rung.name, "taps/mine/scale/small");
    EXPECT_EQ(rung.failure->kind, FailureKind::taps_change_output);
    EXPECT_EQ(rung.failure->first->coordinates, (std::vector<int64_t>{0, 3}));
}

TEST_F(Check, JsonAndJunitHoldTheSameFailure) {
    without_taps();
    const auto report = run(doubling([](const Context& c) {
        c.store(c.argument<uint64_t>(1), std::numeric_limits<float>::infinity(), 0);
    }));
    ASSERT_TRUE(report);
    const auto json = nlohmann::json::parse(to_json(*report));
    EXPECT_EQ(json["verdict"], "fail");
    const auto& rung = json["rungs"].back();
    EXPECT_EQ(rung["status"], "fail");
    EXPECT_EQ(rung["failure"]["kind"], "wrong");
    EXPECT_EQ(rung["failure"]["first"]["got"], "inf");
    EXPECT_EQ(rung["failure"]["written_by"]["source_line"], 7);
    EXPECT_EQ(rung["metrics"][0]["output_hash"].get<std::string>().size(), 16u);
    const std::string junit = to_junit(*report);
    EXPECT_NE(junit.find("<failure type=\"wrong\""), std::string::npos);
    EXPECT_NE(junit.find("failures=\"1\""), std::string::npos);
}

// A command that doubles the f32 tensor of a safetensors file: header and data by hand.
constexpr const char* kDoubleScript = R"(
import json, struct, sys, time
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
begin, end = header['x']['data_offsets']
values = struct.unpack('<%df' % ((end - begin) // 4), data[8 + size + begin:8 + size + end])
assert header['__metadata__']['axis:N'] in ('4', '6') and header['__metadata__']['taps'] == '0'
if sys.argv[3] == 'sleep': time.sleep(30)
if sys.argv[3] == 'exit': sys.exit('cannot do it')
shape = header['x']['shape'] if sys.argv[3] != 'shape' else [len(values)]
out = json.dumps({'y': {'dtype': 'F32', 'shape': shape,
                        'data_offsets': [0, 4 * len(values)]}}).encode()
open(sys.argv[2], 'wb').write(struct.pack('<Q', len(out)) + out
                              + struct.pack('<%df' % len(values), *(2 * v for v in values)))
)";

class ProcessCheck : public Check {
  protected:
    Result<CheckReport> run_command(const std::string& mode) {
        without_taps();
        std::string text = read_file(folder_.path() / "port.toml").value();
        const size_t begin = text.find("kind = \"kernel\""), end = text.find("[[case]]");
        text.replace(begin, end - begin,
                     "kind = \"process\"\ntimeout_s = " + std::string(mode == "sleep" ? "3" : "60") + "\nargv = [\"python3\", \"{port}/double.py\", "
                     "\"{in}\", \"{out}\", \"" + mode + "\"]\n");
        write("port.toml", text);
        write("double.py", kDoubleScript);
        return run(doubling([](const Context&) {}));
    }
};

TEST_F(ProcessCheck, ItsTensorsComeBack) {
    const auto report = run_command("work");
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_TRUE(report->pass) << failure_text(report->rungs.back());
}

TEST_F(ProcessCheck, TimeoutExitCodeAndShapeAreFailures) {
    const Rung slow = failed(run_command("sleep"));
    EXPECT_EQ(slow.failure->kind, FailureKind::stopped);
    const Rung refused = failed(run_command("exit"));
    EXPECT_NE(refused.failure->message.find("ended with code 1: cannot do it"), std::string::npos);
    const Rung reshaped = failed(run_command("shape"));
    EXPECT_EQ(reshaped.failure->message,
              "the command wrote y as f32 [8]; it is to be f32 [2, 4]");
}

}  // namespace
}  // namespace ww::ladder
