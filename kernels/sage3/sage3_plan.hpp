// SPDX-License-Identifier: Apache-2.0
// The one way from a problem to launches: which kernels, compiled how, with which grid and arguments,
// and which workspace lies between them. Pure: no device, no files. The C API launches by it, and
// port.toml's kernels are its steps.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "sage3/sage3_problem.hpp"

namespace ww::sage3 {

enum class Type { f16, bf16 };

// Of a caller's tensor [B, H, L, D], in elements; the channels are contiguous.
struct Strides {
    int64_t batch = 0, head = 0, token = 0;

    static Strides dense(int64_t heads, int64_t length, int64_t d) {
        return {heads * length * d, length * d, d};
    }
};

// What is computed with: NVFP4 on sm_120, INT8 and FP8 on sm_90; or there, exact, NVFP4's numbers in f16.
enum class Path { fp4, int8, exact };

struct Request {
    Path path = Path::fp4;
    Problem problem;
    Type type = Type::f16;  // of q, k, v and o
    Strides q, k, v, o;
    Strides mask;  // token: of queries; 0 where all have the same
    bool lse = true;
    uint32_t multiprocessors = 1;  // of the GPU: as many blocks of the attention kernel stay on it
};

struct Buffer {
    std::string_view name;
};
// What a kernel parameter receives; a buffer's address.
using Argument = std::variant<Buffer, int32_t, uint32_t, int64_t, float>;

struct Step {
    std::string_view name;    // of the stage
    std::string_view source;  // file in kernels/sage3
    std::string_view entry;
    std::vector<std::pair<std::string, std::string>> defines;
    uint32_t grid = 1, block = 1, cluster = 1, dynamic_shared_bytes = 0;
    std::vector<Argument> arguments;
    std::vector<Argument> tap_arguments;  // behind them, in a build with WW_TAPS=1
};

struct Workspace {
    std::string_view name;
    uint64_t bytes = 0;
};

// Buffers that steps name and workspace does not hold are the caller's: q, k, v, o, lse, mask, q_starts, k_starts, and taps.
struct Plan {
    std::vector<Step> steps;
    std::vector<Workspace> workspace;
};

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;  // blocks of a launch

// Whether it is sound, whatever its path. The failure names the argument and its value, as that of plan() does.
Status check(const Request& request);
Result<Plan> plan(const Request& request);

}  // namespace ww::sage3
