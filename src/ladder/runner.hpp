// SPDX-License-Identifier: Apache-2.0
// Runs one implementation of one stage on given inputs, whatever kind it is, and hands back its
// outputs or why there are none. Compares nothing with a reference.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "ladder/library.hpp"
#include "ladder/report.hpp"
#include "port/port.hpp"

namespace ww::ladder {

using TensorMap = std::map<std::string, port::Tensor, std::less<>>;

struct RunRequest {
    const port::Stage* stage = nullptr;
    const port::StageImpl* impl = nullptr;
    const port::Scope* scope = nullptr;
    const TensorMap* inputs = nullptr;
    bool taps = false;
    bool in_double = false;  // float64: outputs and taps of float types are f64
    uint8_t poison = 0;      // outputs hold it before the run
    std::vector<const port::Tensor*> given;  // a library gets these as inputs, too
    // Ask who last wrote this element; a guard zone or input that was written is asked for anyway.
    struct Trace {
        std::string tensor;
        int64_t linear = 0;
        bool others = false;  // and who wrote the tensor's other elements
    };
    std::optional<Trace> trace;
    std::optional<RaceLevel> races;  // look for them
    uint32_t timed = 0;  // kernels: launch it as often again, by the device's clock
};

// failure: no outputs worth comparing. Its stage is set, its case is not.
struct RunResult {
    TensorMap outputs, taps;
    std::optional<device::WriteRecord> written_by;
    // With Trace::others: each place in the source that wrote the tensor, by the element nearest to
    // the traced one that it was the last to write; nearest first. Where nobody wrote any: who wrote
    // the same element of the stage's other tensors of that shape.
    struct Writer {
        std::string tensor;
        int64_t linear = 0;
        device::WriteRecord record;
    };
    std::vector<Writer> other_writers;
    std::optional<Failure> failure;
    std::vector<device::RaceRecord> races;
    double seconds = 0;
    std::vector<double> times;  // seconds of each timed launch; empty: the device has no clock
};

class Runner {
  public:
    Runner(const port::Port& port, device::Device& device, const LibraryTable& libraries,
           const PlanTable& plans, std::function<void(const std::string&)> on_printf = {})
        : port_(port), device_(device), libraries_(libraries), plans_(plans),
          on_printf_(std::move(on_printf)) {}

    RunResult run(const RunRequest& request);
    // Compiles and loads a kernel for the scope's defines (libraries are looked up); nothing runs.
    std::optional<Failure> prepare(const RunRequest& request);
    // The PTX of a kernel that was loaded before, and what the compiler warned of. Null for a cubin.
    struct Text {
        std::string ptx;
        Diagnostics warnings;
    };
    const Text* text_of(const RunRequest& request, const port::KernelImpl& kernel) const;
    // The kernel as port.toml has it, or as its plan function makes it for these sizes.
    Result<port::KernelImpl> planned(const port::KernelImpl& kernel, const RunRequest& request) const;
    // A kernel stage over tensors that the caller keeps on the device: compiled, loaded and checked.
    struct Ready {
        device::KernelId kernel = 0;
        device::Launch launch;
        std::string entry, image_hash;  // XXH64 of what was loaded
    };
    Result<Ready> ready(const RunRequest& request, const port::KernelImpl& kernel,
                        const std::function<device::Address(const std::string&)>& address_of);
    // The launch's sizes and arguments against the kernel's .param list; prepares first.
    std::optional<Failure> check_launch(const RunRequest& request);
    bool has_taps(const port::StageImpl& impl, const port::Stage& stage) const;
    device::Device& device() { return device_; }

  private:
    struct Loaded {
        device::KernelId id = 0;
        std::string image_hash;
        Text text;
    };
    RunResult run_once(const RunRequest& request);
    RunResult run_kernel(const RunRequest& request, const port::KernelImpl& kernel);
    RunResult run_library(const RunRequest& request, const port::LibraryImpl& library);
    RunResult run_process(const RunRequest& request, const port::ProcessImpl& process);
    Result<const Loaded*> load(const RunRequest& request, const port::KernelImpl& kernel);
    // The image to load, and through text what it was made from.
    Result<device::Image> image_of(const RunRequest& request, const port::KernelImpl& kernel,
                                   Text& text) const;
    Result<std::string> key_of(const RunRequest& request, const port::KernelImpl& kernel) const;
    Status check_entry(const port::KernelImpl& kernel, device::ModuleId module,
                       const std::string& image) const;
    // Whether the device will take the launch; a failure has its place in the port.toml.
    Status check_fit(const RunRequest& request, const port::KernelImpl& kernel,
                     device::KernelId loaded, const device::Launch& launch) const;
    // Diagnostics that point into the port.toml are wrong input.
    Failure failure_at(FailureKind otherwise, const std::string& stage,
                       const Diagnostics& diagnostics) const;
    Result<device::Argument> argument(const port::Arg& arg, const port::Scope& scope,
                                      const std::function<device::Address(const std::string&)>&
                                          address_of) const;
    Result<device::Launch> launch_of(const RunRequest& request, const port::KernelImpl& kernel,
                                     const std::function<device::Address(const std::string&)>&
                                         address_of) const;
    Result<port::Layout> layout(const std::string& tensor, const RunRequest& request) const;
    Result<TensorMap> make_results(const std::vector<std::string>& names,
                                   const RunRequest& request) const;

    const port::Port& port_;
    device::Device& device_;
    const LibraryTable& libraries_;
    const PlanTable& plans_;
    std::function<void(const std::string&)> on_printf_;
    std::map<std::string, Loaded> kernels_;  // by source, defines, target and taps
};

Failure failure_of(FailureKind kind, const std::string& stage, const Diagnostics& diagnostics);

}  // namespace ww::ladder
