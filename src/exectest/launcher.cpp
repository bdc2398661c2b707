// SPDX-License-Identifier: Apache-2.0
#include "exectest/launcher.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/target.hpp"
#include "exectest/compare.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::exectest {
namespace {

using device::Device;

uint64_t hash_of(std::span<const std::byte> bytes, uint64_t seed = 0) {
    return XXH64(bytes.data(), bytes.size(), seed);
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

}  // namespace

Prepared prepare(const TestFile& test, uint64_t round) {
    Prepared ready{test, expand(test), {}, 0};
    ready.operands = make_operands(test, ready.expanded.layout, round);
    ready.hash = XXH64(ready.expanded.ptx.data(), ready.expanded.ptx.size(), 0);
    ready.hash = hash_of(ready.operands.in, ready.hash);
    ready.hash = hash_of(ready.operands.scratch, ready.hash);
    return ready;
}

Launcher::Launcher(Device* gpu, std::string emulate) : gpu_(gpu), emulate_(std::move(emulate)) {
    assemble_ = gpu_ && toolchain::find_part("ptxas").origin != toolchain::Origin::missing;
}

bool Launcher::can_run(const TestFile& test) const {
    if (!gpu_) return true;
    const Target target = target_of(test);
    const int sm = gpu_->info().sm;
    return target.suffix ? sm == target.sm : sm >= target.sm;
}

Device& Launcher::device_for(const TestFile& test) {
    if (gpu_) return *gpu_;
    // One GPU answers for all older targets, too.
    const Target target = target_of(test);
    const bool is_within = target.suffix ? target.text() == emulate_ : target.sm <= parse_target(emulate_).value().sm;
    std::string name = is_within ? emulate_ : test.target;
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

Result<device::Image> Launcher::image(const Prepared& ready) const {
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

Result<std::vector<std::byte>> Launcher::launch(Device& device, device::ModuleId module,
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

Result<std::vector<std::byte>> Launcher::outputs_of(const Prepared& ready, bool twice) {
    WW_TRY(loadable, image(ready));
    Device& device = device_for(ready.test);
    WW_TRY(module, device.load(loadable));
    auto outputs = launch(device, module, ready);
    // What is recorded must be the same each time.
    if (outputs && twice) {
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

}  // namespace ww::exectest
