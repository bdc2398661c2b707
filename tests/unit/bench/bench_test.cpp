// SPDX-License-Identifier: Apache-2.0
// A whole benchmark on a fake device with a clock, beside peers that are right, wrong, missing, hanging, dying, lying or mad.
#include "bench/bench.hpp"

#include <gtest/gtest.h>

#include "../ladder/fake_device.hpp"
#include "base/files.hpp"
#include "toolchain/process.hpp"

namespace ww::bench {
namespace {

using ladder::FakeDevice;

// y = x in two stages; the kernel is the second.
constexpr const char* kPort = R"(
[port]
name = "copy"
flops = "1000 * N"
bytes = "16 * N"
[axes]
N = {}
[tensors.x]
dtype = "f32"
shape = [2, "N", 4]
role = "input"
[tensors.y]
dtype = "f32"
shape = [2, "N", 4]
role = "intermediate"
[tensors.z]
dtype = "f32"
shape = [2, "N", 4]
role = "output"
[[stage]]
name = "first"
inputs = ["x"]
outputs = ["y"]
[[stage]]
name = "second"
inputs = ["y"]
outputs = ["z"]
[implementations.reference.first]
kind = "library"
symbol = "none"
[implementations.reference.second]
kind = "library"
symbol = "none"
[implementations.mine.first]
kind = "kernel"
source = "fake.ptx"
entry = "first"
grid = [1]
block = [1]
args = ["x", "y"]
[implementations.mine.second]
kind = "kernel"
source = "fake.ptx"
entry = "second"
grid = [1]
block = [1]
args = ["y", "z"]
[bench]
kernel = "second"
output = "z"
truth = "rows_of_x"
relative_l1 = 0.01
products = { mine = "fp8" }
[[case]]
id = "not timed"
axes = { N = 3 }
[[case]]
id = "bench_one"
axes = { N = 10 }
bench = true
[[case]]
id = "bench_two"
axes = { N = 300 }
bench = true
)";

// What it does wrong is its argument.
constexpr const char* kPeer = R"(
import json, shutil, struct, sys, time
how = sys.argv[1]
opened = 0
def answer(**what):
    print(json.dumps(what), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    do = request["do"]
    if do == "hello":
        if how == "missing":
            answer(unavailable="it is not installed")
        elif how == "mad":
            print("Hello!", flush=True)
        else:
            answer(ok=True, about=how + " 1.0")
    elif do == "open":
        opened += 1
        with open(request["inputs"], "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            first, last = header["x"]["data_offsets"]
            file.seek(first, 1)
            data = file.read(last - first)
        shape = header["x"]["shape"]
        if how == "dies in one case" and request["case"] == "bench_one":
            sys.exit("segmentation fault, say")
        if how == "not for this" and request["values"]["N"] == 10:
            answer(unavailable="N = 10 is too small")
        else:
            answer(ok=True)
    elif do == "time":
        count = request["launches"]
        if how == "hangs":
            time.sleep(60)
        time.sleep(0.004)
        each = {"slow": 1e-5, "lying": 1.0, "too fast": 1e-12}.get(how, 2.5e-6)
        answer(ok=True, seconds=[each] * (count - (how == "few")))
    elif do == "output":
        name, kind = "z", "F32"
        bytes = data if how != "wrong" else data[::-1]
        if how == "other name":
            name = "out"
        if how == "short":
            shape, bytes = [1, 1, 4], data[:16]
        header = json.dumps({name: {"dtype": kind, "shape": shape, "data_offsets": [0, len(bytes)]}}).encode()
        header += b" " * (-len(header) % 8)
        with open(request["file"], "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + bytes)
        answer(ok=True)
    else:
        answer(ok=True)
)";

// 1 and 4 microseconds, and a clock that slows down from turn to turn.
class ClockedDevice final : public FakeDevice {
  public:
    using FakeDevice::FakeDevice;
    device::Info info() const override {
        device::Info out = FakeDevice::info();
        out.multiprocessors = 1;
        out.clock_hz = 1e9;
        out.memory_bytes_per_second = 1e12;
        out.l2_bytes = 1000;
        return out;
    }
    std::optional<device::Condition> condition() override { return device::Condition{.sm_mhz = 1000, .driver = "1.2.3"}; }
    Result<std::vector<double>> time_turns(std::span<const device::Turn> turns, uint32_t untimed) override {
        WW_TRY(ran, FakeDevice::time_turns(turns, untimed));
        (void)ran;
        double seconds = 0;
        for (const device::Queued& each : turns.back()) seconds += each.kernel == 0 ? 1e-6 : 4e-6;
        calls_ += 1e-3;
        return std::vector<double>(turns.size() - untimed, seconds * (1 + calls_));
    }

  private:
    double calls_ = 0;
};

Status rows_of_x(const ladder::LibraryCall& call) {
    WW_TRY(readable, call.require({"x", "rows"}, {"N"}));
    (void)readable;
    const port::Tensor &x = call.input("x"), &rows = call.input("rows");
    for (int64_t i = 0; i < rows.layout.shape[0]; ++i)
        for (int64_t d = 0; d < 4; ++d) {
            const auto row = static_cast<int64_t>(rows.code(2 * i)) * call.integer("N") + static_cast<int64_t>(rows.code(2 * i + 1));
            call.output("z")->set(4 * i + d, x.get(4 * row + d));
        }
    return ok();
}

class Bench : public ::testing::Test {
  protected:
    Bench() : folder_(toolchain::TemporaryFolder::make().value()) {
        EXPECT_TRUE(write_file(folder_.path() / "fake.ptx", "// only a name for the fake device"));
        EXPECT_TRUE(write_file(folder_.path() / "peer.py", kPeer));
    }

    // Of each stage: how many of the elements it copies, and what it adds to them.
    struct Kernels {
        int64_t missing = 0;
        float added = 0;
        bool outside = false, stops = false;
    };
    Result<Report> run(const std::vector<std::string>& peers, Options options, const Kernels& kernels) {
        std::string text = kPort;
        for (const std::string& peer : peers)
            text += "[[peer]]\nname = \"" + peer + "\"\nargv = [\"python3\", \"{port}/peer.py\", \"" + peer +
                    "\"]\ntimeout_s = " + (peer == "hangs" ? "6" : "60") + "\nproducts = \"f16\"\n";
        EXPECT_TRUE(write_file(folder_.path() / "port.toml", text));
        const auto copy = [kernels](const FakeDevice::Context& c, int64_t count) -> Status {
            if (kernels.stops) return fail("it stopped");
            for (int64_t i = 0; i < count - kernels.missing; ++i)
                c.store(c.argument<uint64_t>(1) + static_cast<uint64_t>(4 * i),
                        c.load<float>(c.argument<uint64_t>(0) + static_cast<uint64_t>(4 * i)) + kernels.added, 0);
            if (kernels.outside) c.store(c.argument<uint64_t>(1) - 4, 1.0F, 0);
            return ok();
        };
        // The larger case's tensors hold the smaller's, and guard zones take what is behind: one kernel for both would write them.
        const int64_t count = options.case_globs == std::vector<std::string>{"bench_two"} ? 2400 : 80;
        const FakeDevice::Kernel kernel{.params = {{"from", 0, 8, 8}, {"to", 8, 8, 8}},
                                        .body = [copy, count](const FakeDevice::Context& c) { return copy(c, count); }};
        options.port = folder_.path();
        options.libraries = {{"rows_of_x", rows_of_x}};
        options.open_device = [kernel](const std::string&, uint32_t) -> Result<std::unique_ptr<device::Device>> {
            return std::unique_ptr<device::Device>(
                new ClockedDevice(std::map<std::string, FakeDevice::Kernel>{{"first", kernel}, {"second", kernel}}));
        };
        return bench::run(options);
    }
    Result<Report> run(const std::vector<std::string>& peers, Options options) { return run(peers, std::move(options), Kernels{}); }
    Case run_one(const std::vector<std::string>& peers, const Kernels& kernels) {
        const auto report = run(peers, {.case_globs = {"bench_one"}, .rounds = 6}, kernels);
        EXPECT_TRUE(report) << format(report.error());
        EXPECT_EQ(report ? report->cases.size() : 0, 1U);
        return report ? report->cases.at(0) : Case{};
    }
    Case run_one(const std::vector<std::string>& peers) { return run_one(peers, Kernels{}); }
    toolchain::TemporaryFolder folder_;
};

TEST_F(Bench, OursAndPeersAreTimedInTurnsAndCompared) {
    const auto report = run({"slow", "fast"}, {.case_globs = {"bench_one"}, .rounds = 9});
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_TRUE(report->good());
    EXPECT_EQ(report->driver, "1.2.3");
    ASSERT_EQ(report->peers.size(), 2U);
    EXPECT_EQ(report->peers[0].about, "slow 1.0");
    ASSERT_EQ(report->kernels.size(), 2U);
    EXPECT_EQ(report->kernels[1].entry, "second");
    EXPECT_EQ(report->kernels[1].image.size(), 16U);
    const Case& c = report->cases.at(0);
    EXPECT_EQ(c.sets, 8U);  // 320 bytes of inputs, and an L2 of 1000
    EXPECT_EQ(c.conditions.size(), 10U);
    ASSERT_EQ(c.subjects.size(), 4U);
    const Subject *kernel = c.find("mine, kernel"), *whole = c.find("mine, end to end"), *slow = c.find("slow");
    ASSERT_TRUE(kernel && whole && slow);
    EXPECT_EQ(kernel->seconds.size(), 9U);
    EXPECT_EQ(kernel->launches, 200U);
    EXPECT_NEAR(median(kernel->seconds), 4e-6, 1e-7);
    EXPECT_NEAR(median(whole->seconds), 5e-6, 1e-7);
    EXPECT_NEAR(c.tflops(*slow), 1000.0 * 10 / 1e-5 * 1e-12, 1e-9);
    EXPECT_DOUBLE_EQ(kernel->bound.value(), 1000.0 * 10 / (8192 * 1e9));
    EXPECT_DOUBLE_EQ(slow->bound.value(), 1000.0 * 10 / (4096 * 1e9));
    EXPECT_EQ(kernel->accuracy.value().relative_l1, 0);
    EXPECT_EQ(slow->accuracy.value().rows, 20);
    ASSERT_EQ(c.ratios.size(), 4U);
    EXPECT_EQ(c.ratios[0].judgement.verdict, Verdict::faster);
    EXPECT_NEAR(c.ratios[0].interval.middle, 2.5, 0.1);
    EXPECT_EQ(c.ratios[1].judgement.verdict, Verdict::slower);
    EXPECT_EQ(c.against_fastest(*kernel)->peer, "fast");
}

// A stage and an output that nobody is asked for: the one is not run, the other is a null pointer.
TEST_F(Bench, WhatIsNotAskedForIsLeftOut) {
    std::string text = kPort;
    const auto replace = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
    };
    const std::string tensor = "dtype = \"f32\"\nshape = [2, \"N\", 4]\n";
    replace("[[stage]]\nname = \"second\"\ninputs = [\"y\"]\noutputs = [\"z\"]",
            "[tensors.w]\n" + tensor + "role = \"intermediate\"\n[tensors.u]\n" + tensor + "role = \"output\"\n" +
                "[[stage]]\nname = \"extra\"\ninputs = [\"x\"]\noutputs = [\"w\"]\n" +
                "[[stage]]\nname = \"second\"\ninputs = [\"y\", \"w\"]\noutputs = [\"z\", \"u\"]");
    replace("args = [\"y\", \"z\"]", "args = [\"y\", \"z\", \"w\", \"u\"]");
    replace("relative_l1 = 0.01\n", "relative_l1 = 0.01\nwithout = [\"w\", \"u\"]\n");
    text += "[implementations.reference.extra]\nkind = \"library\"\nsymbol = \"none\"\n[implementations.mine.extra]\nkind = \"kernel\"\n"
            "source = \"fake.ptx\"\nentry = \"extra\"\ngrid = [1]\nblock = [1]\nargs = [\"x\", \"w\"]\n";
    ASSERT_TRUE(write_file(folder_.path() / "port.toml", text));
    uint64_t others = 0;
    int extra = 0;
    const auto copy = [](const FakeDevice::Context& c) -> Status {
        for (uint64_t i = 0; i < 80; ++i) c.store(c.argument<uint64_t>(1) + 4 * i, c.load<float>(c.argument<uint64_t>(0) + 4 * i), 0);
        return ok();
    };
    const std::vector<device::Param> two = {{"from", 0, 8, 8}, {"to", 8, 8, 8}};
    const FakeDevice::Kernel first{.params = two, .body = copy};
    const FakeDevice::Kernel never{.params = two, .body = [&extra](const FakeDevice::Context&) { return ++extra, ok(); }};
    const FakeDevice::Kernel second{.params = {{"from", 0, 8, 8}, {"to", 8, 8, 8}, {"w", 16, 8, 8}, {"u", 24, 8, 8}},
                                    .body = [&others, copy](const FakeDevice::Context& c) {
                                        others |= c.argument<uint64_t>(2) | c.argument<uint64_t>(3);
                                        return copy(c);
                                    }};
    const auto report = bench::run({.port = folder_.path(), .case_globs = {"bench_one"}, .rounds = 6,
                                    .open_device = [&](const std::string&, uint32_t) -> Result<std::unique_ptr<device::Device>> {
                                        return std::unique_ptr<device::Device>(new ClockedDevice(std::map<std::string, FakeDevice::Kernel>{
                                            {"first", first}, {"extra", never}, {"second", second}}));
                                    },
                                    .libraries = {{"rows_of_x", rows_of_x}}});
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_TRUE(report->good());
    EXPECT_EQ(report->kernels.size(), 2U);
    EXPECT_EQ(others, 0U);
    EXPECT_EQ(extra, 0);
}

TEST_F(Bench, APeerThatIsNotRightIsNotCompared) {
    const Case c = run_one({"wrong", "short", "other name", "few", "lying", "missing", "mad", "not for this"});
    const auto is = [&](const char* name, Subject::State state, const char* why) {
        const Subject* subject = c.find(name);
        ASSERT_TRUE(subject) << name;
        EXPECT_EQ(bench::name(subject->state), bench::name(state)) << name;
        EXPECT_NE(subject->why.find(why), std::string::npos) << name << ": " << subject->why;
    };
    is("wrong", Subject::State::incorrect, "relative L1 error");
    is("short", Subject::State::incorrect, "'z' is f32 [1, 1, 4], which is not what is judged");
    is("other name", Subject::State::incorrect, "the file that it wrote is not right");
    is("few", Subject::State::failed, "it was asked for 8 times and gave 7");
    is("lying", Subject::State::failed, "but it answered after");
    is("not for this", Subject::State::unavailable, "N = 10 is too small");
    EXPECT_FALSE(c.find("missing"));
    EXPECT_FALSE(c.find("mad"));
    for (const Ratio& ratio : c.ratios) EXPECT_EQ(ratio.judgement.verdict, Verdict::invalid) << ratio.peer;
    EXPECT_EQ(c.against_fastest(*c.find("mine, kernel")), nullptr);
}

TEST_F(Bench, PeersThatAreNotThereSayWhy) {
    const auto report = run({"missing", "mad"}, {.case_globs = {"bench_one"}, .rounds = 6});
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_EQ(report->peers.at(0).unavailable, "it is not installed");
    EXPECT_EQ(report->peers.at(1).unavailable, "it answered 'Hello!', which is no answer of the protocol");
    EXPECT_TRUE(report->good());
    EXPECT_NE(to_markdown(*report).find("- mad: unavailable: it answered 'Hello!'"), std::string::npos);
}

TEST_F(Bench, APeerThatHangsCostsItsLimit) {
    const auto begin = std::chrono::steady_clock::now();
    const Case c = run_one({"hangs", "slow"});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(45));
    EXPECT_EQ(c.find("hangs")->state, Subject::State::failed);
    EXPECT_NE(c.find("hangs")->why.find("did not answer within 6.0 s"), std::string::npos) << c.find("hangs")->why;
    EXPECT_EQ(c.find("slow")->state, Subject::State::good);
}

TEST_F(Bench, APeerThatDiedIsStartedAgainInTheNextCase) {
    const auto report = run({"dies in one case"}, {.rounds = 6}, {.missing = 80});  // writes nothing: both cases fit
    ASSERT_TRUE(report) << format(report.error());
    ASSERT_EQ(report->cases.size(), 2U);
    EXPECT_EQ(report->cases[0].find("dies in one case")->why, "python3 ended with code 1; its last words: segmentation fault, say");
    EXPECT_EQ(report->cases[1].find("dies in one case")->state, Subject::State::good);
}

TEST_F(Bench, WhatBeatsTheHardwareIsInvalid) {
    const Case c = run_one({"too fast"});
    EXPECT_EQ(c.find("too fast")->state, Subject::State::invalid);
    EXPECT_NE(c.find("too fast")->why.find("faster than the hardware"), std::string::npos);
}

TEST_F(Bench, OursIsJudgedLikeAnyother) {
    const auto state = [&](const Kernels& kernels) {
        const Case c = run_one({}, kernels);
        const Subject* whole = c.find("mine, end to end");
        return whole ? std::string(name(whole->state)) + ": " + whole->why : "none";
    };
    EXPECT_EQ(state({}), "good: ");
    EXPECT_EQ(state({.missing = 8}), "incorrect: 2 rows of 'z' were not written");
    EXPECT_NE(state({.added = 0.5F}).find("incorrect: relative L1 error"), std::string::npos);
    EXPECT_EQ(state({.outside = true}), "invalid: a write 4 bytes before tensor y");
    EXPECT_EQ(state({.stops = true}), "failed: it stopped");
    EXPECT_FALSE(run({}, {.case_globs = {"bench_one"}, .rounds = 6}, {.added = 1}).value().good());
    EXPECT_EQ(run({}, {.case_globs = {"bench_one", "*_one"}, .rounds = 6}).value().cases.size(), 1u);  // none twice
}

TEST_F(Bench, WrongInputIsTold) {
    const auto message = [](const Result<Report>& report) { return report ? "none" : report.error().front().message; };
    EXPECT_EQ(message(run({"slow"}, {.peer_globs = {"s*", "fast*"}})), "--peer fast* matches none of: slow");
    EXPECT_NE(message(run({}, {.case_globs = {"x"}})).find("--case x matches none of"), std::string::npos);
    EXPECT_NE(message(run({}, {.case_globs = {"bench_one", "x"}})).find("--case x matches none of"), std::string::npos);
    EXPECT_TRUE(write_file(folder_.path() / "plain.toml", std::string(kPort).substr(0, std::string(kPort).find("[bench]")) +
                                                              "[[case]]\nid = \"a\"\naxes = { N = 1 }\n"));
    const Status checked = check_port(folder_.path() / "plain.toml");
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().front().message.find("it has no [bench]"), std::string::npos);
}

TEST_F(Bench, APortForAnotherGpuNamesTheOneForThis) {
    namespace fs = std::filesystem;
    const auto write = [&](const char* name, const std::string& target, const std::string& others) {
        std::string text = kPort;
        text.insert(text.find("flops"), "target = \"" + target + "\"\n");
        text.insert(text.find("relative_l1"), others);
        fs::create_directories(folder_.path() / name);
        EXPECT_TRUE(write_file(folder_.path() / name / "port.toml", text));
        EXPECT_TRUE(write_file(folder_.path() / name / "fake.ptx", ""));
    };
    write("new", "sm_120a", "other_gpus = [\"../old\"]\n");
    write("old", "sm_90a", "");
    device::Info gpu{.kind = "cuda", .name = "a GPU", .sm = 90, .target = "sm_90a"};
    EXPECT_EQ(fs::weakly_canonical(port_for(folder_.path() / "new", gpu).value()), fs::weakly_canonical(folder_.path() / "old"));
    gpu.sm = 120;
    EXPECT_EQ(port_for(folder_.path() / "new", gpu).value(), folder_.path() / "new");
    gpu.sm = 80;
    gpu.target = "sm_80";
    EXPECT_EQ(port_for(folder_.path() / "new", gpu).error().front().message,
              "the port is for sm_120a, sm_90a, and a GPU is sm_80: run this on a GPU that is one");
}

}  // namespace
}  // namespace ww::bench
