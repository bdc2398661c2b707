// SPDX-License-Identifier: Apache-2.0
// The one interface to something that runs kernels. Two implementations: open_emulated (a CPU
// emulator of PTX) and open_cuda (the driver API). Code above it never asks which one it has.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory_label.hpp"
#include "base/policy.hpp"
#include "base/race_level.hpp"
#include "base/result.hpp"

namespace ww::device {

using Address = uint64_t;  // a device address; 0 is never a valid one

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t{x} * y * z; }
};

struct Info {
    std::string kind;    // "emulator" or "cuda"
    std::string name;    // "NVIDIA H200", or "Warpwright emulator"
    int sm = 0;          // compute capability, 90 for 9.0
    std::string target;  // what to compile for: "sm_90a"
    std::string driver;  // driver version; empty for the emulator
    uint32_t multiprocessors = 0;
    uint64_t memory_bytes = 0;
    uint32_t max_shared_bytes = 0;  // of a block, static and dynamic together
    // What the driver says of the hardware; 0: it says nothing.
    uint64_t l2_bytes = 0;
    double clock_hz = 0;                 // the highest, of multiprocessors
    double memory_bytes_per_second = 0;  // the memory's clock and width
};

// How a GPU is doing; 0 where nobody tells.
struct Condition {
    uint32_t sm_mhz = 0, memory_mhz = 0, celsius = 0;
    double watts = 0;
    std::string driver;  // "580.159.04"
};

// What a module is loaded from. PTX runs on both devices; a cubin only on a GPU.
struct Image {
    enum class Kind { ptx, cubin };
    Kind kind = Kind::ptx;
    std::string name;   // for messages: usually the file's path
    std::string bytes;  // PTX text or the ELF image
};

using ModuleId = uint32_t;
using KernelId = uint32_t;

struct Param {
    std::string name;
    uint32_t offset = 0, size = 0;  // bytes
    uint32_t align = 0;             // 0: the device does not tell
};

// One kernel argument: the bytes that its .param receives, and the alignment that its type has.
struct Argument {
    std::vector<std::byte> bytes;
    uint32_t align = 1;
    template <class T>
    static Argument of(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        Argument argument;
        argument.bytes.resize(sizeof(T));
        argument.align = alignof(T);
        __builtin_memcpy(argument.bytes.data(), &value, sizeof(T));
        return argument;
    }
};

struct Launch {
    Dim3 grid, block, cluster;
    uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    bool programmatic_dependent = false;  // may start before the previous launch has ended
    std::vector<Argument> arguments;      // one for each .param, in order
};

struct SourceLine {
    std::string file;
    int line = 0;
};

// Two accesses that nothing orders, or not as they need it (docs/memory_model.md).
struct RaceRecord {
    struct Access {
        std::string what;  // "write", "atomic", "read by cp.async"
        Dim3 block, thread;  // an asynchronous operation: of the thread that issued it
        std::string instruction;  // PTX text
        int ptx_line = 0;
        std::vector<SourceLine> source;  // its line, then where that was inlined; may be empty
    };
    RaceLevel level = RaceLevel::error;
    std::string rule, kernel, file;
    std::string where;    // "tile[12] in shared memory of block (0, 0, 0)", "tensor 'o', byte 12 of 4096"
    std::string missing;  // the synchronisation that is not there
    Access first, second;
    uint64_t count = 0;   // pieces of memory for which this pair of lines was found
};
Diagnostic race_diagnostic(const RaceRecord& race);

// Lanes of a warp in a launch that could not go on: where they stood, what for, and who could have
// released them.
struct WaitRecord {
    Dim3 block;
    uint32_t warp = 0, lanes = 0;
    std::string kind;   // "barrier", "cluster barrier", "lanes", "groups", "mbarrier"; "none": they could run
    std::string waits;  // "waits at barrier 2 for 32 more thread(s)"
    std::string instruction;  // PTX text
    int ptx_line = 0;
    std::vector<SourceLine> source;  // its line, then where that was inlined; may be empty
    std::optional<uint32_t> barrier;
    struct Mbarrier {
        std::string name;  // "full[1]"
        uint32_t address = 0;  // in shared memory
        uint32_t phase = 0;    // parity of the phase in progress
        uint32_t arrivals_pending = 0, arrivals_expected = 0;
        int32_t bytes_pending = 0;
    };
    std::optional<Mbarrier> mbarrier;
    std::vector<std::string> releasers;  // a sentence each
};

// Launches one behind the other.
struct Queued {
    KernelId kernel = 0;
    const Launch* launch = nullptr;
};
using Turn = std::vector<Queued>;

struct LaunchReport {
    uint64_t lane_instructions = 0;  // executed lanes summed over instructions; 0 on a GPU
    double seconds = 0;              // device time; on the emulator, wall time of the launch
    std::string printf_output;
};

// Who last wrote a byte (only after trace_writes(true), only where the device can tell).
struct WriteRecord {
    Dim3 block, thread;
    std::string kernel;
    std::string instruction;  // PTX text
    int ptx_line = 0;
    std::string source_file;  // from .loc; empty without line info
    int source_line = 0;
    std::vector<SourceLine> call_sites;  // where source_line was inlined, innermost first
    // The instructions that defined what was written and where: value, address, guard.
    struct Definition {
        std::string instruction;
        int ptx_line = 0;
        std::vector<SourceLine> source;  // its line, then its call sites; empty without line info
    };
    std::vector<Definition> operands;
};

// Arguments of cuTensorMapEncodeTiled, same meaning and limits.
struct TensorMapTiled {
    uint32_t data_type = 0;  // CUtensorMapDataType
    Address address = 0;
    std::vector<uint64_t> sizes, strides;  // elements; bytes (one fewer than sizes)
    std::vector<uint32_t> box, element_strides;
    uint32_t interleave = 0, swizzle = 0, l2_promotion = 0, oob_fill = 0;
};
using TensorMap = std::array<std::byte, 128>;

class Device {
  public:
    virtual ~Device() = default;
    virtual Info info() const = 0;

    // Memory is uninitialised: the emulator reports a read of a byte nobody wrote. Aligned to 512.
    // Messages about an access call the memory by its label.
    virtual Result<Address> allocate(uint64_t bytes, MemoryLabel label = {}) = 0;
    virtual Status release(Address address) = 0;
    virtual Status copy_in(Address to, std::span<const std::byte> from) = 0;
    virtual Status copy_out(std::span<std::byte> to, Address from) = 0;
    // Bytes become value. With initialise = false the emulator still takes a read of them for a
    // read of uninitialised memory: how output buffers are poisoned.
    virtual Status fill(Address to, uint8_t value, uint64_t bytes, bool initialise = true) = 0;

    virtual Result<ModuleId> load(const Image& image) = 0;
    virtual Status unload(ModuleId module) = 0;
    // Names of the module's kernels; fails where the device cannot tell.
    virtual Result<std::vector<std::string>> kernels(ModuleId module) = 0;
    // The failure names the kernels that the module has.
    virtual Result<KernelId> kernel(ModuleId module, const std::string& name) = 0;
    virtual Result<std::vector<Param>> params(KernelId kernel) = 0;
    // What can be known before anything runs: the arguments fit params(), sizes and shared memory
    // are within the limits of the kernel and the device.
    virtual Status check(KernelId kernel, const Launch& launch) = 0;
    // Checks, then waits for the end. A guest fault is a failure whose diagnostic carries block,
    // thread, instruction and line.
    virtual Result<LaunchReport> launch(KernelId kernel, const Launch& launch) = 0;
    // Launches it once, then `count` times in a row, and gives the seconds that each of these took by
    // the device's own clock. Empty where the device has none: wall time of an emulator says nothing.
    virtual Result<std::vector<double>> time_launches(KernelId, const Launch&, uint32_t /*count*/) {
        return std::vector<double>{};
    }
    // Runs the turns one behind the other without a pause, and gives the seconds that each took by the
    // device's own clock; the first `untimed` ones fill its queue and have no times. Empty where the
    // device has no clock: then it ran the last turn alone.
    virtual Result<std::vector<double>> time_turns(std::span<const Turn> turns, uint32_t untimed);
    virtual std::optional<Condition> condition() { return std::nullopt; }

    virtual Result<TensorMap> encode_tensor_map(const TensorMapTiled& tiled) = 0;

    virtual void trace_writes(bool on) = 0;
    // From now on launches are checked for races up to this level; nullopt: no more. Ignored where the
    // device cannot, and while writes are traced.
    virtual void check_races(std::optional<RaceLevel>) {}
    // What was found since the last call, also in launches that failed.
    virtual std::vector<RaceRecord> take_races() { return {}; }
    // Of the last launch that failed because its warps could not go on; told once.
    virtual std::vector<WaitRecord> take_waits() { return {}; }
    virtual std::optional<WriteRecord> last_write(Address address) const = 0;
};

struct EmulatorOptions {
    std::string target = "sm_90a";    // as parse_target (base/target.hpp) reads it
    uint32_t threads = 0;             // host threads; 0: one a core
    uint64_t instruction_budget = 0;  // warp instructions a launch may run; 0: the default (2^36)
    bool unordered_float_atomics = false;
    AsyncPolicy async;        // when asynchronous operations complete
    SchedulePolicy schedule;  // in which order warps run
};

std::unique_ptr<Device> open_emulated(const EmulatorOptions& options = {});
// Fails where there is no driver or no GPU; the message says which.
Result<std::unique_ptr<Device>> open_cuda(int ordinal = 0);

// Size and alignment of one argument against its .param; kernel and index are for the message.
Status check_argument(const std::string& kernel, const Param& param, size_t index,
                      const Argument& argument);
// All of them, and their count; the failure names the first that does not fit. Devices call it.
Status check_arguments(const std::string& kernel, std::span<const Param> params,
                       std::span<const Argument> arguments);

}  // namespace ww::device
