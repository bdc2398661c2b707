// SPDX-License-Identifier: Apache-2.0
// The emulated device: the interface of device.hpp over src/emulator.
#include "device/emulated.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "base/host.hpp"
#include "base/target.hpp"
#include "device/host_view.hpp"
#include "device/races.hpp"
#include "device/tensor_map.hpp"
#include "device/waits.hpp"
#include "emulator/launch.hpp"
#include "emulator/module_image.hpp"
#include "emulator/observers.hpp"
#include "races/checker.hpp"

namespace ww::device {
namespace {

using emulator::Kernel;
using machine::Coordinates;

// Shared memory that a block may have on a GPU of this compute capability, as the CUDA C++
// Programming Guide tells it ("Technical Specifications per Compute Capability").
uint32_t max_shared_bytes(int sm) {
    uint32_t kib = 227;
    if (sm < 80) kib = sm == 75 ? 64 : 96;
    else if (sm == 86 || sm == 89 || sm >= 120) kib = 99;
    else if (sm < 90) kib = 163;
    return kib * 1024;
}

Coordinates coordinates(const Dim3& d) { return {d.x, d.y, d.z}; }

class EmulatedDevice final : public Device, public EmulatedServices {
  public:
    explicit EmulatedDevice(const EmulatorOptions& options)
        : options_(options), sm_(parse_target(options.target).value().sm) {}

    Info info() const override {
        return Info{.kind = "emulator",
                    .name = "Warpwright emulator",
                    .sm = sm_,
                    .target = options_.target,
                    .multiprocessors = host_threads(),
                    .memory_bytes = machine::GlobalMemory::kReserve,
                    .max_shared_bytes = max_shared_bytes(sm_)};
    }

    Result<Address> allocate(uint64_t bytes, MemoryLabel label) override {
        return memory_.allocate(bytes, std::move(label));
    }
    Status release(Address address) override {
        host_views_.erase(address);
        return memory_.release(address);
    }
    Result<Address> allocate_shared_with_host(uint64_t bytes) override {
        WW_TRY(address, memory_.allocate(bytes, {}, true));
        WW_TRY(view, HostView::open(address, bytes, memory_.find(address, bytes)->data));
        host_views_.emplace(address, std::move(view));
        return address;
    }

    Status copy_in(Address to, std::span<const std::byte> from) override {
        if (from.empty()) return ok();
        WW_TRY(region, range(to, from.size()));
        std::memcpy(region->data + (to - region->base), from.data(), from.size());
        if (region->valid) std::memset(region->valid + (to - region->base), 1, from.size());
        return ok();
    }
    Status copy_out(std::span<std::byte> to, Address from) override {
        if (to.empty()) return ok();
        WW_TRY(region, range(from, to.size()));
        std::memcpy(to.data(), region->data + (from - region->base), to.size());
        return ok();
    }
    Status fill(Address to, uint8_t value, uint64_t bytes, bool initialise) override {
        if (bytes == 0) return ok();
        WW_TRY(region, range(to, bytes));
        std::memset(region->data + (to - region->base), value, bytes);
        if (region->valid) std::memset(region->valid + (to - region->base), initialise ? 1 : 0, bytes);
        return ok();
    }
    Status copy(Address to, Address from, uint64_t bytes) override {
        if (bytes == 0) return ok();
        WW_TRY(target, range(to, bytes));
        WW_TRY(source, range(from, bytes));
        std::memmove(target->data + (to - target->base), source->data + (from - source->base), bytes);
        if (!target->valid) return ok();
        uint8_t* const valid = target->valid + (to - target->base);
        if (source->valid) std::memmove(valid, source->valid + (from - source->base), bytes);
        else std::memset(valid, 1, bytes);
        return ok();
    }

    Result<ModuleId> load(const Image& image) override {
        if (image.kind != Image::Kind::ptx)
            return fail(Diagnostic{.file = image.name, .message = "the emulator runs PTX; a cubin needs a GPU"});
        WW_TRY(loaded, emulator::ModuleImage::load(image.bytes, image.name, memory_, next_id_));
        modules_[next_id_] = std::move(loaded);
        return next_id_++;
    }
    Status unload(ModuleId module) override {
        if (modules_.erase(module) == 0) return fail(fmt::format("module {} is not loaded", module));
        std::erase_if(kernels_, [&](const auto& entry) { return entry.second.module == module; });
        return ok();
    }
    Result<std::vector<std::string>> kernels(ModuleId module) override {
        const auto it = modules_.find(module);
        if (it == modules_.end()) return fail(fmt::format("module {} is not loaded", module));
        return it->second->kernel_names();
    }
    Result<KernelId> kernel(ModuleId module, const std::string& name) override {
        const auto it = modules_.find(module);
        if (it == modules_.end()) return fail(fmt::format("module {} is not loaded", module));
        WW_TRY(found, it->second->kernel(name));
        kernels_[next_id_] = {module, found};
        return next_id_++;
    }
    Result<std::vector<Param>> params(KernelId id) override {
        WW_TRY(loaded, loaded_kernel(id));
        std::vector<Param> out;
        for (const emulator::KernelParam& p : loaded.kernel->params) out.push_back({p.name, p.offset, p.size, p.align});
        return out;
    }

    void permit_garbage_in_shared(bool permit) override { garbage_in_shared_ = permit; }
    Result<KernelNeeds> needs(KernelId id) override {
        WW_TRY(loaded, loaded_kernel(id));
        const Kernel& kernel = *loaded.kernel;
        KernelNeeds needs{.static_shared_bytes = kernel.program.static_shared_bytes, .local_bytes = kernel.stack_bytes};
        if (!kernel.max_threads.empty()) {
            uint64_t most = 1;
            for (const uint32_t each : kernel.max_threads) most *= each;
            needs.max_threads = static_cast<uint32_t>(std::min<uint64_t>(most, emulator::kMaxBlockThreads));
        }
        if (!kernel.cluster.empty()) {
            needs.cluster = {};
            uint32_t* const axes[] = {&needs.cluster.x, &needs.cluster.y, &needs.cluster.z};
            for (size_t i = 0; i < std::min<size_t>(3, kernel.cluster.size()); ++i) *axes[i] = kernel.cluster[i];
        }
        return needs;
    }
    Result<Variable> variable(ModuleId module, const std::string& name) override {
        WW_TRY(region, region_of(module, name));
        return Variable{region.base, region.size};
    }
    Status copy_to_variable(ModuleId module, const std::string& name, uint64_t offset,
                            std::span<const std::byte> from) override {
        WW_TRY(at, part_of(module, name, offset, from.size()));
        if (!from.empty()) std::memcpy(at, from.data(), from.size());
        return ok();
    }
    Status copy_from_variable(std::span<std::byte> to, ModuleId module, const std::string& name,
                              uint64_t offset) override {
        WW_TRY(at, part_of(module, name, offset, to.size()));
        if (!to.empty()) std::memcpy(to.data(), at, to.size());
        return ok();
    }

    Status check(KernelId id, const Launch& launch) override {
        WW_TRY(loaded, loaded_kernel(id));
        WW_TRY(declared, params(id));
        WW_TRY(checked, check_arguments(loaded.kernel->program.kernel, declared, launch.arguments));
        (void)checked;
        return emulator::check_launch(*loaded.kernel, options_of(launch));
    }

    Result<LaunchReport> launch(KernelId id, const Launch& launch) override {
        WW_TRY(loaded, loaded_kernel(id));
        const Kernel& kernel = *loaded.kernel;
        WW_TRY(declared, params(id));
        WW_TRY(checked, check(id, launch));
        (void)checked;
        std::vector<std::byte> buffer(kernel.param_bytes);
        for (size_t i = 0; i < declared.size(); ++i)
            std::memcpy(buffer.data() + declared[i].offset, launch.arguments[i].bytes.data(), launch.arguments[i].bytes.size());
        emulator::LaunchOptions options = options_of(launch);
        if (tracing_) {
            writers_.launch = static_cast<uint32_t>(launches_.size());
            launches_.push_back({loaded.kernel, options.grid, options.block});
            options.sink = &writers_;
        }
        std::optional<races::Checker> checker;
        std::optional<emulator::RegisterWatch> registers;
        if (race_level_ && !tracing_) {
            options.sink = &checker.emplace(*race_level_);
            registers.emplace(kernel, register_observer(*checker));
            options.code = registers->code();
        }
        std::shared_ptr<const emulator::Standing> standing;
        options.standing = &standing;
        const auto start = std::chrono::steady_clock::now();
        auto launched = emulator::launch(kernel, memory_, modules_[loaded.module]->constant_bank(), buffer, options);
        if (checker)
            for (RaceRecord& race : race_records(kernel, memory_, *registers, checker->findings())) races_.push_back(std::move(race));
        waits_ = standing ? wait_records(*standing) : std::vector<WaitRecord>();
        WW_TRY(result, std::move(launched));
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return LaunchReport{result.lane_instructions, elapsed.count(), std::move(result.printf_output)};
    }

    Result<TensorMap> encode_tensor_map(const TensorMapTiled& tiled) override { return encode_tiled(tiled); }

    void trace_writes(bool on) override {
        tracing_ = on;
        writers_.clear();
        launches_.clear();
    }

    void check_races(std::optional<RaceLevel> level) override { race_level_ = level; }
    std::vector<RaceRecord> take_races() override { return std::exchange(races_, {}); }
    std::vector<WaitRecord> take_waits() override { return std::exchange(waits_, {}); }

    std::optional<WriteRecord> last_write(Address address) const override {
        const std::optional<emulator::Writers::Record> record = writers_.last(address);
        if (!record) return std::nullopt;
        const TracedLaunch& traced = launches_[record->launch];
        const auto unlinear = [](uint64_t i, const Coordinates& dim) {
            return Dim3{static_cast<uint32_t>(i % dim[0]), static_cast<uint32_t>(i / dim[0] % dim[1]),
                        static_cast<uint32_t>(i / dim[0] / dim[1])};
        };
        const emulator::SourcePlace place = emulator::source_place(*traced.kernel, record->inst);
        WriteRecord out{.block = unlinear(record->block, traced.grid),
                        .thread = unlinear(record->thread, traced.block),
                        .kernel = traced.kernel->program.kernel,
                        .instruction = place.text,
                        .ptx_line = place.ptx_line,
                        .source_file = place.file,
                        .source_line = place.line};
        for (const ptx::SourceLine& each : place.call_sites) out.call_sites.push_back({each.file, each.line});
        for (const emulator::SourcePlace& each : emulator::operand_places(*traced.kernel, record->inst)) {
            WriteRecord::Definition definition{.instruction = each.text, .ptx_line = each.ptx_line};
            if (each.line > 0) definition.source.push_back({each.file, each.line});
            for (const ptx::SourceLine& site : each.call_sites) definition.source.push_back({site.file, site.line});
            out.operands.push_back(std::move(definition));
        }
        return out;
    }

  private:
    struct LoadedKernel {
        ModuleId module = 0;
        std::shared_ptr<const Kernel> kernel;
    };
    struct TracedLaunch {
        std::shared_ptr<const Kernel> kernel;  // outlives its module: last_write still names it
        Coordinates grid, block;
    };

    emulator::LaunchOptions options_of(const Launch& launch) const {
        return {.grid = coordinates(launch.grid),
                .block = coordinates(launch.block),
                .cluster = coordinates(launch.cluster),
                .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                .cooperative = launch.cooperative,
                .threads = options_.threads,
                .budget = options_.instruction_budget,
                .unordered_float_atomics = options_.unordered_float_atomics,
                .max_shared_bytes = max_shared_bytes(sm_),
                .async = options_.async,
                .schedule = options_.schedule,
                .garbage_in_shared = garbage_in_shared_};
    }
    Result<const machine::Region*> range(Address address, uint64_t bytes) {
        const machine::Region* region = memory_.find(address, bytes);
        if (!region) return fail(fmt::format("copy of {} bytes at the bad device address {:#x}: {}", bytes, address, memory_.describe(address)));
        return region;
    }
    // base 0: in the constant bank.
    Result<machine::Region> region_of(ModuleId module, const std::string& name) {
        const auto it = modules_.find(module);
        if (it == modules_.end()) return fail(fmt::format("module {} is not loaded", module));
        return it->second->variable(name);
    }
    // Variables are initialised as a whole when the module is loaded: there is no validity to set.
    Result<uint8_t*> part_of(ModuleId module, const std::string& name, uint64_t offset, uint64_t bytes) {
        WW_TRY(region, region_of(module, name));
        if (offset > region.size || bytes > region.size - offset)
            return fail(fmt::format("copy of {} bytes from byte {} on: variable {} has {}", bytes, offset, name, region.size));
        return region.data + offset;
    }
    Result<LoadedKernel> loaded_kernel(KernelId id) {
        const auto it = kernels_.find(id);
        if (it == kernels_.end()) return fail(fmt::format("kernel {} is not loaded", id));
        return it->second;
    }

    EmulatorOptions options_;
    int sm_;
    machine::GlobalMemory memory_;
    std::map<Address, HostView> host_views_;
    std::map<ModuleId, std::unique_ptr<emulator::ModuleImage>> modules_;
    std::map<KernelId, LoadedKernel> kernels_;
    uint32_t next_id_ = 1;
    bool tracing_ = false, garbage_in_shared_ = false;
    std::optional<RaceLevel> race_level_;
    std::vector<RaceRecord> races_;
    std::vector<WaitRecord> waits_;
    emulator::Writers writers_;
    std::vector<TracedLaunch> launches_;
};

}  // namespace

Emulated open_emulated_with_services(const EmulatorOptions& options) {
    auto device = std::make_unique<EmulatedDevice>(options);
    EmulatedServices* const services = device.get();
    return {std::move(device), services};
}

std::unique_ptr<Device> open_emulated(const EmulatorOptions& options) {
    return std::make_unique<EmulatedDevice>(options);
}

}  // namespace ww::device
