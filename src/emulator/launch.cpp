// SPDX-License-Identifier: Apache-2.0
#include "emulator/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/host.hpp"
#include "emulator/deadlock.hpp"
#include "emulator/scheduler.hpp"

namespace ww::emulator {
namespace {

constexpr uint64_t kMaxPrintedBytes = uint64_t{1} << 20;  // as CUDA's printf buffer
constexpr uint64_t kDefaultBudget = uint64_t{1} << 36;
constexpr uint64_t kSlice = uint64_t{1} << 14;  // instructions of a block before another may run
// Blocks that are begun and not finished cost memory, so few are at first; when all of them had this
// many turns and none has finished, they may wait for blocks that are not begun: twice as many.
constexpr uint64_t kFirstWindow = 8, kTurnsToGrow = 32;

constexpr uint64_t kMaxClusterBlocks = 16;
constexpr uint8_t kGarbage = 0xff;
// Once a block has faulted, earlier ones may fault too, and the first is reported; but they may also
// wait for the one that is gone, so they get only this many more instructions.
constexpr int64_t kAfterFault = int64_t{1} << 22;

// A directive's one to three numbers.
machine::Coordinates extents(const std::vector<uint32_t>& given) {
    machine::Coordinates out{1, 1, 1};
    for (size_t i = 0; i < given.size() && i < 3; ++i) out[i] = given[i];
    return out;
}

// A kernel's own cluster holds where the launch names none.
LaunchOptions completed(const Kernel& kernel, LaunchOptions options) {
    if (!kernel.cluster.empty() && options.cluster == machine::Coordinates{1, 1, 1})
        options.cluster = extents(kernel.cluster);
    return options;
}

// What the driver provides for a cooperative launch: zeroed memory that starts with its size, whose
// address is in %envreg1 (high) and %envreg2 (low). cooperative_groups' grid barrier lives in it.
class GridWorkspace {
  public:
    explicit GridWorkspace(machine::GlobalMemory& global) : global_(global) {}
    ~GridWorkspace() {
        if (address_ != 0) (void)global_.release(address_);
    }
    GridWorkspace(const GridWorkspace&) = delete;
    GridWorkspace& operator=(const GridWorkspace&) = delete;

    Status provide(machine::Grid& grid) {
        constexpr uint32_t kBytes = 1024;
        WW_TRY(address, global_.allocate(kBytes, {"the workspace of the cooperative launch"}, true));
        address_ = address;
        std::memcpy(global_.find(address, kBytes)->data, &kBytes, sizeof kBytes);
        grid.environment[1] = static_cast<uint32_t>(address >> 32);
        grid.environment[2] = static_cast<uint32_t>(address);
        return ok();
    }

  private:
    machine::GlobalMemory& global_;
    uint64_t address_ = 0;
};

Diagnostic fault_diagnostic(const Kernel& kernel, const machine::Cluster& cluster, const BlockFault& fault) {
    const machine::Block& block = fault.block ? *fault.block : *cluster.blocks[0];
    Diagnostic d{.file = kernel.module->name, .message = fault.message};
    const auto& id = block.id;
    std::string where = fmt::format("kernel {}, block ({},{},{})", kernel.program.kernel, id[0], id[1], id[2]);
    if (fault.has_place) {
        const SourcePlace place = source_place(kernel, fault.inst);
        const machine::Coordinates thread = block.thread_of(fault.warp, std::max(fault.lane, 0));
        where += fmt::format(", thread ({},{},{}): {}", thread[0], thread[1], thread[2], place.text);
        if (place.line > 0) where += fmt::format("\n    source: {}:{}", place.file, place.line);
        for (const ptx::SourceLine& site : place.call_sites) where += fmt::format(", called from {}:{}", site.file, site.line);
        d.line = place.ptx_line;
        d.col = place.ptx_col;
    }
    d.message += "\n    in " + where;
    return d;
}

// Clusters (as a rule of one block) are begun in order; one that used up its slice waits in `parked`
// until the others had theirs.
class GridRun {
  public:
    GridRun(const Kernel& kernel, machine::Grid& grid, const LaunchOptions& options)
        : kernel_(kernel), grid_(grid), options_(options), count_(clusters(options)),
          budget_(static_cast<int64_t>(options.budget ? options.budget : kDefaultBudget)) {
        grid_.print = [this](const machine::Block& block, std::string_view text) {
            const std::lock_guard lock(mutex_);
            printed_bytes_ += text.size();
            if (printed_bytes_ <= kMaxPrintedBytes) printed_[block.linear_id] += text;
        };
        grid_.take_cluster = [this]() -> std::optional<uint64_t> {
            const std::lock_guard lock(mutex_);
            if (fresh_ >= count_ || fresh_ >= stop_from_) return std::nullopt;
            return fresh_++;
        };
    }

    Result<LaunchResult> run() {
        uint32_t threads = options_.threads ? options_.threads : host_threads();
        if (options_.sink || (kernel_.program.ordered && !options_.unordered_float_atomics)) threads = 1;
        threads = static_cast<uint32_t>(std::min<uint64_t>(threads, count_));
        first_window_ = window_ = options_.cooperative ? count_ : std::max<uint64_t>(kFirstWindow, 2 * uint64_t{threads});
        std::vector<std::thread> workers;
        for (uint32_t i = 1; i < threads; ++i) workers.emplace_back([this] { work(); });
        work();
        for (std::thread& worker : workers) worker.join();
        if (internal_) std::rethrow_exception(internal_);
        if (!faults_.empty()) {
            const Fault& first = faults_.begin()->second;
            if (options_.standing) *options_.standing = first.standing;
            return fail(first.diagnostic);
        }
        LaunchResult result{.lane_instructions = lane_instructions_};
        for (const auto& [block, text] : printed_) result.printf_output += text;
        if (printed_bytes_ > kMaxPrintedBytes)
            result.printf_output += fmt::format("[printf: {} bytes; what came after the first {} is dropped]\n",
                                                printed_bytes_, kMaxPrintedBytes);
        return result;
    }

  private:
    static uint64_t clusters(const LaunchOptions& options) {
        uint64_t count = 1;
        for (size_t axis = 0; axis < 3; ++axis) count *= options.grid[axis] / options.cluster[axis];
        return count;
    }

    std::unique_ptr<ClusterRunner> next() {
        const std::lock_guard lock(mutex_);
        const bool full = begun_ >= window_ && !parked_.empty();
        if (!full && fresh_ < count_ && fresh_ < stop_from_) {
            const uint64_t linear = fresh_++;
            ++begun_;
            auto runner = std::make_unique<ClusterRunner>(kernel_, grid_, linear, options_.schedule, options_.code);
            if (options_.garbage_in_shared) runner->fill_shared(kGarbage);
            return runner;
        }
        while (!parked_.empty()) {
            std::unique_ptr<ClusterRunner> runner = std::move(parked_.front());
            parked_.pop_front();
            if (runner->cluster().index < stop_from_) return runner;
            --begun_;
        }
        return nullptr;
    }

    void stop(const ClusterRunner& runner, const BlockFault& fault) {
        Diagnostic diagnostic = fault_diagnostic(kernel_, runner.cluster(), fault);
        const std::lock_guard lock(mutex_);
        const uint64_t linear = runner.cluster().index;
        stop_from_ = std::min(stop_from_, linear);
        faults_.emplace(linear, Fault{std::move(diagnostic), fault.standing});
        if (budget_.load() > kAfterFault) budget_ = kAfterFault;
    }

    bool out_of_budget_after_fault() {
        const std::lock_guard lock(mutex_);
        return !faults_.empty() && budget_.load() <= 0;
    }

    void work() try {
        while (std::unique_ptr<ClusterRunner> runner = next()) {
            if (out_of_budget_after_fault()) return;
            const uint64_t grant = std::min<uint64_t>(kSlice, static_cast<uint64_t>(std::max<int64_t>(budget_.load(), 1)));
            uint64_t left = grant;
            try {
                const ClusterRunner::State state = runner->run(left);
                budget_ -= static_cast<int64_t>(grant - left);
                if (state == ClusterRunner::State::finished) {
                    const std::lock_guard lock(mutex_);
                    lane_instructions_ += runner->lane_instructions();
                    --begun_;
                    turns_ = 0;
                    window_ = first_window_;
                } else if (budget_.load() <= 0) {
                    if (const std::lock_guard lock(mutex_); !faults_.empty()) continue;
                    const Standing standing = standing_of(kernel_, runner->cluster());
                    BlockFault fault{.message = "the launch used up its instruction budget: it hangs, or needs a larger one" + to_text(standing, false)};
                    fault.standing = std::make_shared<const Standing>(standing);
                    stop(*runner, fault);
                } else {
                    const std::lock_guard lock(mutex_);
                    parked_.push_back(std::move(runner));
                    if (++turns_ < kTurnsToGrow * window_) continue;
                    turns_ = 0;
                    window_ *= 2;
                }
            } catch (const BlockFault& fault) {
                stop(*runner, fault);
            }
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        stop_from_ = 0;
        internal_ = std::current_exception();
    }

    const Kernel& kernel_;
    machine::Grid& grid_;
    const LaunchOptions& options_;
    const uint64_t count_;
    std::atomic<int64_t> budget_;
    std::mutex mutex_;
    uint64_t fresh_ = 0;                   // the next cluster to begin
    uint64_t begun_ = 0, window_ = 0, first_window_ = 0, turns_ = 0;
    uint64_t stop_from_ = UINT64_MAX;  // clusters from here on need not run: an earlier one faulted
    std::deque<std::unique_ptr<ClusterRunner>> parked_;
    struct Fault {
        Diagnostic diagnostic;
        std::shared_ptr<const Standing> standing;
    };
    std::map<uint64_t, Fault> faults_;  // by cluster
    std::map<uint64_t, std::string> printed_;
    uint64_t printed_bytes_ = 0;
    uint64_t lane_instructions_ = 0;
    std::exception_ptr internal_;
};

}  // namespace

Status check_launch(const Kernel& kernel, const LaunchOptions& asked) {
    const LaunchOptions o = completed(kernel, asked);
    const uint64_t threads = uint64_t{o.block[0]} * o.block[1] * o.block[2];
    const std::string& name = kernel.program.kernel;
    for (size_t axis = 0; axis < 3; ++axis) {
        if (o.grid[axis] == 0 || o.block[axis] == 0 || o.cluster[axis] == 0)
            return fail(fmt::format("launch of {}: a grid, block or cluster dimension is 0", name));
        if (o.grid[axis] % o.cluster[axis] != 0)
            return fail(fmt::format("launch of {}: grid dimension {} is no multiple of the cluster's {}", name, o.grid[axis], o.cluster[axis]));
    }
    if (threads > kMaxBlockThreads)
        return fail(fmt::format("launch of {}: {} threads a block; the limit is {}", name, threads, kMaxBlockThreads));
    if (o.block[2] > 64 || o.grid[1] > 65535 || o.grid[2] > 65535 || o.grid[0] > 2147483647u)
        return fail(fmt::format("launch of {}: a dimension is over its limit (block z 64, grid y and z 65535)", name));
    const machine::Coordinates bound = extents(kernel.max_threads);
    const uint64_t most = uint64_t{bound[0]} * bound[1] * bound[2];
    if (!kernel.max_threads.empty() && kernel.exact_threads && o.block != bound)
        return fail(fmt::format("launch of {}: blocks of ({},{},{}) threads, but the kernel is compiled for exactly ({},{},{})",
                                name, o.block[0], o.block[1], o.block[2], bound[0], bound[1], bound[2]));
    if (!kernel.max_threads.empty() && threads > most)
        return fail(fmt::format("launch of {}: {} threads a block, but the kernel is compiled for at most {}", name, threads, most));
    const uint64_t cluster_blocks = uint64_t{o.cluster[0]} * o.cluster[1] * o.cluster[2];
    if (cluster_blocks > kMaxClusterBlocks)
        return fail(fmt::format("launch of {}: {} blocks a cluster; the limit is {}", name, cluster_blocks, kMaxClusterBlocks));
    if (!kernel.cluster.empty() && o.cluster != extents(kernel.cluster))
        return fail(fmt::format("launch of {}: clusters of ({},{},{}) blocks, but the kernel is compiled for ({},{},{})", name,
                                o.cluster[0], o.cluster[1], o.cluster[2], extents(kernel.cluster)[0],
                                extents(kernel.cluster)[1], extents(kernel.cluster)[2]));
    const uint64_t shared = uint64_t{kernel.program.static_shared_bytes} + o.dynamic_shared_bytes;
    if (shared > o.max_shared_bytes)
        return fail(fmt::format("launch of {}: {} bytes of shared memory ({} static); the limit is {}", name, shared,
                                kernel.program.static_shared_bytes, o.max_shared_bytes));
    return ok();
}

Result<LaunchResult> launch(const Kernel& kernel, machine::GlobalMemory& global, machine::Region constant,
                            std::span<const std::byte> params, const LaunchOptions& asked) {
    const LaunchOptions options = completed(kernel, asked);
    WW_TRY(shape, check_launch(kernel, options));
    (void)shape;
    std::vector<uint8_t> param_bytes(reinterpret_cast<const uint8_t*>(params.data()),
                                     reinterpret_cast<const uint8_t*>(params.data()) + params.size());
    machine::Grid grid{.grid_dim = options.grid, .block_dim = options.block, .cluster_dim = options.cluster};
    grid.global = &global;
    grid.constant = std::move(constant);
    grid.params = machine::Region{.size = param_bytes.size(), .data = param_bytes.data(), .writable = false,
                                  .name = "the kernel's parameters"};
    grid.static_shared_bytes = kernel.program.static_shared_bytes;
    grid.dynamic_shared_bytes = options.dynamic_shared_bytes;
    grid.local_bytes = kernel.recursive ? std::max(options.stack_bytes, 2 * kernel.stack_bytes) : kernel.stack_bytes;
    grid.local_bytes = (grid.local_bytes + 15) / 16 * 16;
    grid.program = &kernel.program;
    grid.sink = options.sink;
    grid.async = options.async;
    grid.describe_inst = [&kernel](uint32_t inst) {
        const SourcePlace place = source_place(kernel, inst);
        return fmt::format("{} at {}:{}", place.text, kernel.module->name, place.ptx_line);
    };
    GridWorkspace workspace(global);
    if (options.cooperative) {
        WW_TRY(provided, workspace.provide(grid));
        (void)provided;
    }
    return GridRun(kernel, grid, options).run();
}

}  // namespace ww::emulator
