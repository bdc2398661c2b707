// SPDX-License-Identifier: Apache-2.0
// One test after the other: operands in, launch, outputs out, and the verdict.
#include "exectest/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/target.hpp"
#include "base/text.hpp"
#include "exectest/archive.hpp"
#include "exectest/compare.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::exectest {
namespace {

using device::Device;

// A test with all that is made from its text.
struct Prepared {
    const TestFile& test;
    Expanded expanded;
    Operands operands;
    uint64_t hash = 0;
};

uint64_t hash_of(std::span<const std::byte> bytes, uint64_t seed = 0) {
    return XXH64(bytes.data(), bytes.size(), seed);
}

Prepared prepare(const TestFile& test) {
    Prepared ready{test, expand(test), {}, 0};
    ready.operands = make_operands(test, ready.expanded.layout);
    ready.hash = XXH64(ready.expanded.ptx.data(), ready.expanded.ptx.size(), 0);
    ready.hash = hash_of(ready.operands.in, ready.hash);
    ready.hash = hash_of(ready.operands.scratch, ready.hash);
    return ready;
}

// Its spelling was checked where the file was read.
Target target_of(const TestFile& test) { return parse_target(test.target).value(); }

// Device memory that is given back at the end of its scope.
class Buffer {
  public:
    Buffer(Device& device, uint64_t bytes) : device_(device), memory_(device.allocate(std::max<uint64_t>(bytes, 1))) {}
    ~Buffer() {
        // After a fault the release fails as well, and the launch has told why.
        if (memory_) (void)device_.release(*memory_).has_value();
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    const Result<device::Address>& address() const { return memory_; }

  private:
    Device& device_;
    Result<device::Address> memory_;
};

class Runner {
  public:
    Runner(const RunOptions& options, Device* gpu) : options_(options), gpu_(gpu) {
        if (!gpu_) return;
        toolchain::Found ptxas = toolchain::find_part("ptxas");
        assemble_ = ptxas.origin != toolchain::Origin::missing;
    }
    Result<RunReport> run();

  private:
    TestResult one(const TestFile& test);
    void judge(const Prepared& ready, const std::vector<std::byte>& outputs, TestResult& result);
    Result<std::vector<std::byte>> outputs_of(const Prepared& ready);
    Result<std::vector<std::byte>> launch(Device& device, device::ModuleId module,
                                          const Prepared& ready);
    Result<device::Image> image(const Prepared& ready) const;
    Device& device_for(const TestFile& test);
    Status save(RunReport& report);

    const RunOptions& options_;
    Device* gpu_;
    bool assemble_ = false;
    std::map<std::string, std::unique_ptr<Device>> emulators_;
    Archive archive_;
    std::map<std::string, Recording> recorded_;
};

Device& Runner::device_for(const TestFile& test) {
    if (gpu_) return *gpu_;
    // The record comes from a Hopper, whose tensor cores also answer for older targets.
    const int sm = target_of(test).sm;
    std::string name = sm <= 90 ? "sm_90a" : test.target;
    std::unique_ptr<Device>& emulator = emulators_[name];
    if (!emulator) {
        device::EmulatorOptions options;
        options.target = name;
        options.instruction_budget = uint64_t{1} << 28;  // a test that hangs says so in seconds
        options.async.kind = AsyncPolicy::Kind::lazy;  // the policy that forgives least
        emulator = device::open_emulated(options);
    }
    return *emulator;
}

Result<device::Image> Runner::image(const Prepared& ready) const {
    device::Image image{device::Image::Kind::ptx, ready.test.path.string(), ready.expanded.ptx};
    if (!gpu_ || !assemble_) return image;
    // The driver's compiler cannot be kept from fusing mul and add; ptxas can.
    toolchain::AssembleOptions options;
    options.options = {"--fmad=false"};
    WW_TRY(assembled, toolchain::assemble(ready.expanded.ptx,
                                          target_of(ready.test).suffix ? ready.test.target : gpu_->info().target,
                                          image.name, options));
    image.kind = device::Image::Kind::cubin;
    image.bytes = assembled.cubin;
    return image;
}

Result<std::vector<std::byte>> Runner::launch(Device& device, device::ModuleId module,
                                              const Prepared& ready) {
    const Layout& layout = ready.expanded.layout;
    const TestFile& test = ready.test;
    WW_TRY(kernel, device.kernel(module, ready.expanded.kernel));
    Buffer in(device, layout.in_bytes), out(device, layout.out_bytes),
        scratch(device, layout.scratch_bytes);
    for (const Buffer* buffer : {&in, &out, &scratch})
        if (!buffer->address()) return buffer->address().failure();
    WW_TRY(in_copied, device.copy_in(*in.address(), ready.operands.in));
    WW_TRY(scratch_copied, device.copy_in(*scratch.address(), ready.operands.scratch));
    WW_TRY(poisoned, device.fill(*out.address(), 0xa5, layout.out_bytes, false));
    (void)in_copied, (void)scratch_copied, (void)poisoned;
    device::Launch launch;
    launch.grid = {test.trials.x, test.trials.y, test.trials.z};
    launch.block = {test.threads.x, test.threads.y, test.threads.z};
    launch.cluster = {test.cluster.x, test.cluster.y, test.cluster.z};
    launch.dynamic_shared_bytes = test.dynamic_shared_bytes;
    for (const Buffer* buffer : {&in, &out, &scratch})
        launch.arguments.push_back(device::Argument::of(*buffer->address()));
    WW_TRY(report, device.launch(kernel, launch));
    (void)report;
    // The gaps between slots stay unwritten, so slots are read one by one.
    std::vector<std::byte> packed;
    auto take = [&](const std::vector<Slot>& slots, device::Address from) -> Status {
        for (const Slot& slot : slots) {
            size_t at = packed.size();
            packed.resize(at + slot.bytes);
            WW_TRY(copied, device.copy_out(std::span(packed).subspan(at), from + slot.offset));
            (void)copied;
        }
        return ok();
    };
    WW_TRY(outputs, take(layout.out, *out.address()));
    WW_TRY(arrays, take(layout.scratch, *scratch.address()));
    (void)outputs, (void)arrays;
    return packed;
}

Result<std::vector<std::byte>> Runner::outputs_of(const Prepared& ready) {
    WW_TRY(loadable, image(ready));
    Device& device = device_for(ready.test);
    WW_TRY(module, device.load(loadable));
    auto outputs = launch(device, module, ready);
    // What is recorded must be the same each time.
    if (outputs && options_.record) {
        auto again = launch(device, module, ready);
        if (again && *again != *outputs) {
            auto different = find_mismatch(ready.test, ready.expanded.layout, ready.operands,
                                           *outputs, *again);
            if (different) outputs = fail("two runs differ: " + *different);
        } else if (!again) {
            outputs = again.failure();
        }
    }
    Status unloaded = device.unload(module);
    if (outputs && !unloaded) return unloaded.failure();
    return outputs;
}

void Runner::judge(const Prepared& ready, const std::vector<std::byte>& outputs,
                   TestResult& result) {
    const Layout& layout = ready.expanded.layout;
    const TestFile& test = ready.test;
    std::vector<std::byte> expected;
    auto found = archive_.tests.find(test.name);
    if (test.has_expect()) {
        expected = expected_outputs(test, layout);
    } else if (options_.record) {
        result.outcome = Outcome::passed;
        recorded_[test.name] = {0, ready.hash, outputs};
        return;
    } else if (found == archive_.tests.end()) {
        result.compared = false;
        if (options_.allow_unrecorded) result.outcome = Outcome::passed;
        else result.message = "neither recorded nor expected; record it on a GPU, or give the "
                              "outputs in 'expect' lines";
        return;
    } else if (found->second.hash != ready.hash) {
        result.message = "stale record: the test or its operands changed since it was recorded";
        return;
    } else {
        expected = found->second.outputs;
    }
    auto mismatch = find_mismatch(test, layout, ready.operands, expected, outputs);
    if (mismatch) result.message = *mismatch;
    else result.outcome = Outcome::passed;
}

TestResult Runner::one(const TestFile& test) {
    TestResult result;
    result.name = test.name;
    if (gpu_) {
        const Target target = target_of(test);
        int sm = gpu_->info().sm;
        if (target.suffix ? sm != target.sm : sm < target.sm) {
            result.outcome = Outcome::skipped;
            result.message = fmt::format("for {}, this device is sm_{}", test.target, sm);
            return result;
        }
        if (!test.fault.empty()) {
            result.outcome = Outcome::skipped;
            result.message = "a fault would end the device's context, and with it every later test";
            return result;
        }
    }
    auto start = std::chrono::steady_clock::now();
    Prepared ready = prepare(test);
    auto outputs = outputs_of(ready);
    if (outputs && !test.fault.empty()) {
        result.message = "it ran to its end; expected the fault '" + test.fault + "'";
    } else if (outputs) {
        result.output_hash = hash_of(*outputs);
        judge(ready, *outputs, result);
    } else {
        Diagnostics errors = outputs.error();
        for (Diagnostic& error : errors) error = relocate(error, test, ready.expanded);
        result.message = trim(format(errors));
        if (!test.fault.empty() && result.message.find(test.fault) != std::string::npos) {
            result.outcome = Outcome::passed;
        } else if (gpu_ && too_new_for_assembler(errors)) {
            result.outcome = Outcome::skipped;
        }
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

std::string ptxas_version() {
    for (const toolchain::Found& part : toolchain::survey())
        if (part.component == "ptxas") return "ptxas " + part.version + " --fmad=false";
    return "ptxas --fmad=false";
}

// A full recording without failures replaces the archive; any other replaces its tests' entries.
Status Runner::save(RunReport& report) {
    device::Info info = gpu_->info();
    RecordingRun run;
    run.device = info.name;
    run.sm = info.sm;
    run.driver = info.driver;
    run.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    run.toolchain = assemble_ ? ptxas_version() : "the driver's compiler";
    report.log = fmt::format("{}, driver {}, {}, {}\n", run.device, run.driver, run.toolchain,
                             run.date);
    for (const TestResult& test : report.tests)
        report.log += fmt::format("{:016x} {} {}\n", test.output_hash, test.name,
                                  outcome_name(test.outcome));
    report.log_hash = run.log_hash = XXH64(report.log.data(), report.log.size(), 0);
    if (options_.pattern.empty() && report.failed == 0) archive_ = {};
    archive_.runs.push_back(run);
    for (auto& [name, recording] : recorded_) {
        recording.run = static_cast<uint32_t>(archive_.runs.size() - 1);
        archive_.tests[name] = std::move(recording);
    }
    return save_archive(options_.archive, archive_);
}

Result<RunReport> Runner::run() {
    WW_TRY(tests, load_tests(options_.folder, options_.pattern));
    if (tests.empty())
        return fail(fmt::format("no instruction test in {} matches '{}'", options_.folder.string(),
                                options_.pattern));
    WW_TRY(archive, load_archive(options_.archive));
    archive_ = std::move(archive);
    RunReport report;
    if (gpu_) report.device = gpu_->info().name + ", driver " + gpu_->info().driver;
    else report.device = "Warpwright emulator";
    for (const TestFile& test : tests) {
        TestResult result = one(test);
        if (options_.progress) options_.progress(result);
        report.passed += result.outcome == Outcome::passed;
        report.failed += result.outcome == Outcome::failed;
        report.skipped += result.outcome == Outcome::skipped;
        report.unrecorded += !result.compared;
        report.tests.push_back(std::move(result));
    }
    if (options_.record) {
        WW_TRY(saved, save(report));
        (void)saved;
    }
    return report;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed: return "passed";
        case Outcome::failed: return "failed";
        case Outcome::skipped: return "skipped";
    }
    return "failed";
}

Result<RunReport> run_tests(const RunOptions& options, Device* gpu) {
    if (options.on_cuda && !gpu) return fail("no GPU to run the tests on");
    if (options.record && !gpu)
        return fail("records come from a GPU only: add --on cuda");
    return Runner(options, gpu).run();
}

}  // namespace ww::exectest
