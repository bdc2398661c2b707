// SPDX-License-Identifier: Apache-2.0
// What a cubin says about each kernel: registers, barriers, memory, launch bounds, parameters,
// code. Read from the ELF image alone, no tool of NVIDIA's. Not here: the instructions (nvdisasm),
// how many blocks fit an SM (occupancy.hpp), and what only ptxas tells (bytes of spill loads and
// stores).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::cubin {

struct Parameter {
    int ordinal = 0;
    uint32_t offset = 0, bytes = 0;  // in the parameter block, which begins at parameter_base
};

struct Kernel {
    std::string_view name;    // as the linker knows it: mangled where C++ mangles
    bool entry = false;       // a kernel; false: a device function that was not inlined
    std::string_view inside;  // the kernel that has the function within its code: "" for kernels
                              // and for functions with a section of their own
    int registers = 0;        // per thread; 0: not told (functions within a kernel: the kernel's)
    int max_registers = 0;    // the bound that ptxas worked under: 255 or, by launch bounds, less
    int barriers = 0;         // named barriers, bar.sync's barrier 0 included
    uint64_t static_shared_bytes = 0;    // what the program declared, as ptxas -v "bytes smem"
    uint64_t reserved_shared_bytes = 0;  // ahead of it in .nv.shared, the system's (sm_90 and
                                         // later): cuobjdump's SHARED is the sum of the two
    uint64_t local_bytes = 0;            // per thread, other than stack: code without ABI only
    uint64_t frame_bytes = 0;            // the function's own stack frame, spills included
    uint64_t stack_bytes = 0;  // with the frames it calls, as far as those are known: alloca and
                               // calls through pointers come on top
    bool stack_known = true;   // false: recursion, which the compiler could not bound
    std::map<int, uint64_t> constant_bytes;  // by bank: 0 holds the parameters
    std::array<int, 3> max_block{};          // .maxntid; zeros: not given
    std::array<int, 3> required_block{};     // .reqntid; zeros: not given
    int max_threads = 0;                     // a block's, by either of them; 0: not given
    std::array<int, 3> cluster_size{};       // blocks; zeros: none required
    bool explicit_cluster = false;           // .explicitcluster
    int max_cluster_rank = 0;                // .maxclusterrank; 0: not given
    bool blocks_are_clusters = false;        // .blocksareclusters
    uint32_t parameter_base = 0;             // where parameters begin in constant bank 0
    uint32_t parameter_bytes = 0;            // of all of them, with padding
    std::vector<Parameter> parameters;       // by ordinal
    uint64_t code_bytes = 0;
    uint32_t section = 0;         // ELF index of its .text section
    uint64_t section_offset = 0;  // of its first instruction therein
    std::string_view code;        // a view into the image
};

struct Cubin {
    std::string target;         // "sm_90a"; the suffix where the file tells it
    int sm = 0;                 // 90
    bool relocatable = false;   // before nvlink (-dc): stack and registers are each function's own
    std::string tool;           // "ptxas", "nvlink"; these three are empty before CUDA 13
    std::string tool_version;   // "Cuda compilation tools, release 13.0, V13.0.88"
    std::string tool_options;   // "-v -arch sm_90a -m 64"
    std::string toolkit;        // "13.0"; empty: not told
    uint64_t global_bytes = 0;  // __device__ variables
    std::map<int, uint64_t> constant_bytes;  // of all kernels together, by bank: 3 is __constant__
    std::vector<Kernel> kernels;  // kernels in file order, then device functions in file order
    std::string ptx;  // the PTX that nvdisasm -gp numbers the lines of; empty without line info

    const Kernel* find(std::string_view name) const;  // null: no kernel or function of that name
};

// name is the file's name, for messages. Views in the result last as long as the bytes.
Result<Cubin> read(std::string_view bytes, const std::string& name);

}  // namespace ww::cubin
