// SPDX-License-Identifier: Apache-2.0
// What the CUDA runtime keeps for a process, over an emulated device: modules and functions that the
// program registered, memory, the last error; and what a run reports (report.hpp). The functions of
// the runtime (api_*.cpp) are thin layers over it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cudart/fatbin.hpp"
#include "cudart/replacement.hpp"
#include "cudart/report.hpp"
#include "cudart/settings.hpp"
#include "device/emulated.hpp"

namespace ww::cudart {

enum Code : int {
#define WW_CODE(constant, name, number, text) constant = number,
#include "cudart/codes.def"
#undef WW_CODE
};

// A fat binary, PTX text or a library of the program: loaded into the device when it is first used.
struct Binary {
    std::vector<EmbeddedPtx> images;
    std::optional<Diagnostics> unreadable;
    std::string name;  // for messages
    std::optional<device::ModuleId> module;
};

// What cudaFuncSetAttribute and launches speak of. Its address is the program's cudaKernel_t.
struct Function {
    Binary* binary = nullptr;
    std::string name;
    std::optional<device::KernelId> kernel;
    std::vector<device::Param> params;
    device::KernelNeeds needs;
    std::optional<int> max_dynamic_shared;  // set by the program
    bool non_portable_cluster = false;
};

struct Variable {
    Binary* binary = nullptr;
    std::string name;
};

constexpr uint32_t kDefaultShared = 48 * 1024;  // of a block, without an opt-in
constexpr uint32_t kPortableCluster = 8;

class Session {
  public:
    // One a process; never destroyed, since a program's destructors may call the runtime.
    static Session& get();

    std::mutex mutex;
    int last_error = 0;
    int sticky = 0;  // a kernel faulted: everything fails from now on

    // Prints what is wrong, naming the function; returns the code.
    int complain(const char* function, Code code, const Diagnostics& why);
    int complain(const char* function, Code code, std::string why);

    device::Device& device();
    device::EmulatedServices& services();
    uint32_t multiprocessors();
    Report& report() { return report_; }

    Binary* add_binary(const void* fat_binary);
    Result<Binary*> add_image(const void* image);  // PTX text, a fat binary, or the wrapper of one
    void add_function(Binary* binary, const void* key, std::string name);
    void add_variable(Binary* binary, const void* key, std::string name);

    // By the address of the host's stand-in, or by cudaKernel_t; null when it is neither.
    Function* function(const void* key);
    Variable* variable(const void* key);
    Function* kernel_of(Binary* binary, const std::string& name);
    Status load(Binary& binary);
    Status load(Function& function);

    // Blocks of a launch, or their failure: prints, reports, and says which code it is.
    int launch(const char* caller, Function& function, device::Launch launch, void** arguments);

    // Whether these are bytes of the device (and not of the host).
    bool on_device(const void* at) const;
    std::map<uint64_t, uint64_t> allocations, known_variables;  // address -> bytes
    struct HostMemory {
        uint64_t bytes = 0;
        bool managed = false;
    };
    std::map<uint64_t, HostMemory> host_memory;  // pinned or managed: the host and kernels see it

  private:
    Session();
    Result<device::Image> image_of(Binary& binary);
    Settings settings_;
    std::optional<Replacement> replacement_;
    Report report_;
    device::Emulated emulated_;
    std::vector<std::unique_ptr<Binary>> binaries_;
    std::vector<std::unique_ptr<Function>> functions_;
    std::map<const void*, Function*> by_key_;
    std::map<const void*, Variable> variables_;
    size_t named_ = 0;
};

// A function of the runtime: one at a time, with the last error kept; our own bugs end the process.
template <class F>
int call(const char* name, F&& body) {
    Session& session = Session::get();
    const std::lock_guard lock(session.mutex);
    if (session.sticky != 0) return session.last_error = session.sticky;
    int code = 0;
    guard(name, [&] { code = body(session); });
    if (code != 0 && code != kNotReady) session.last_error = code;
    return code;
}

}  // namespace ww::cudart
