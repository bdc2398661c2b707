// SPDX-License-Identifier: Apache-2.0
// The model of a port.toml: what a port is made of. Filled by load_port (reader.hpp); it holds no
// device and runs nothing. docs/port_toml.md describes the file.
#pragma once
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "port/distribution.hpp"
#include "port/dtype.hpp"
#include "port/expr.hpp"
#include "port/tensor.hpp"
#include "port/tolerance.hpp"

namespace ww::port {

struct Axis {
    std::string name;
    std::optional<Expr> value;  // default (a number) or definition (an expression of earlier axes)
    bool derived = false;       // true: a definition, no case may set it
    Place place;
};

// An element type that a case may choose: tensors name it instead of a dtype.
struct NamedType {
    std::string name;
    Dtype dtype = Dtype::f32;  // for cases that say nothing
    Place place;
};

// A kernel argument or define that is not a size. Integer scalars may stand in expressions.
struct Scalar {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::optional<Expr> value;  // real for float types; nothing: every case gives it
    Place place;
};

enum class Role { input, output, intermediate, tap, scratch };
std::string_view name(Role role);

struct TensorSpec {
    std::string name;
    Dtype dtype = Dtype::f32;  // with a type: its default
    std::string type;          // a NamedType; empty: the dtype is the same in every case
    Role role = Role::input;
    std::vector<Expr> shape;
    std::optional<std::vector<Expr>> strides;  // elements
    std::vector<Expr> tile;  // extents of the tile one block makes, as the shape; empty: unknown
    std::string stage;       // taps and scratch: the stage it belongs to
    // Taps and outputs: earlier taps of the stage that the reference takes from the kernel itself
    // when it makes the expected values of this one. An output is then judged a second time, where
    // the taps are there, by a tolerance of its own.
    std::vector<std::string> given;
    Tolerance given_tolerance;  // outputs
    Place given_place;
    Tolerance tolerance;     // outputs, intermediates and taps
    std::optional<Tolerance> also;     // outputs: a second one, in every case
    std::optional<Distribution> data;  // inputs: for cases that say nothing
    std::string description;
    Place place;
};

struct Stage {
    std::string name;
    std::vector<std::string> inputs, outputs;
    std::vector<std::string> taps;  // in program order: the first bad one localises
    std::vector<std::string> scratch;
    Place place;
};

struct TensorArg {
    std::string tensor;
};
struct ScalarArg {
    Dtype dtype = Dtype::i32;
    Expr value;  // real for float types
};
// Lists follow the tensor's axes, outermost first (cuTensorMapEncodeTiled wants them reversed).
struct TensorMapArg {
    std::string tensor;
    std::vector<Expr> box;
    std::optional<std::vector<Expr>> sizes;    // default: the tensor's shape
    std::optional<std::vector<Expr>> strides;  // elements; default: the tensor's, the last one is 1
    std::vector<Expr> element_strides;         // empty: all 1
    std::string data_type;                     // "" from the dtype, or u8, u16, u32, f32, ...
    uint32_t interleave = 0, swizzle = 0, l2_promotion = 0, oob_fill = 0;  // CUtensorMap* values
};
struct Arg {
    std::variant<TensorArg, ScalarArg, TensorMapArg> value;
    Place place;
};

struct Define {
    std::string name;
    std::variant<Expr, std::string> value;  // integer expression, or text taken as it is
};

// How one __global__ function is compiled and launched.
struct KernelImpl {
    enum class Source { cuda, ptx, cubin };
    // A function of this program that gives all that follows, case by case; empty: port.toml does.
    std::string plan;
    Source kind = Source::cuda;
    std::filesystem::path source;  // absolute when the port came from a file
    std::string entry;
    Place entry_place;
    std::string target;  // "" = the device's
    Place target_place;
    std::vector<Define> defines;
    std::vector<std::filesystem::path> include;  // folders
    std::vector<std::string> options;            // further compiler options
    std::vector<Place> option_places;            // of each of them
    std::array<Expr, 3> grid, block, cluster;
    Expr shared_bytes;  // dynamic shared memory
    bool cooperative = false;
    std::vector<Arg> args;
    // With taps on the same source is compiled with this define set to 1 (PTX and cubin: from
    // taps_source) and launched with tap_args behind args. No tap_args: it has no taps.
    std::string tap_define = "WW_TAPS";
    std::filesystem::path taps_source;
    std::vector<Arg> tap_args;
};

// A C function: registered in this program, or exported by a shared object.
struct LibraryImpl {
    std::string symbol;
    std::filesystem::path path;  // empty: registered
};

// A command. {in} and {out} in argv are safetensors files, {port} the port's folder.
struct ProcessImpl {
    std::vector<std::string> argv;
    double timeout_s = 60;
};

struct StageImpl {
    std::variant<KernelImpl, LibraryImpl, ProcessImpl> value;
    std::vector<Expr> require;  // conditions; a case that breaks one is "unsupported" here
    Place place;
};

// "reference", "original" and "float64" have meaning; every other name is a candidate.
struct Implementation {
    std::string name;
    std::string description;
    // By stage name; under "chain" what makes the port's outputs from its inputs in one call.
    std::map<std::string, StageImpl, std::less<>> stages;
    bool baseline = false;  // for tolerances alone: no rungs of its own
    Place place;
    bool is_candidate() const {
        return name != "reference" && name != "original" && name != "float64" && !baseline;
    }
};

struct Case {
    std::string id;
    Axes axes;  // as given; scope_of adds defaults and definitions
    std::map<std::string, Dtype, std::less<>> types;
    std::map<std::string, Expr, std::less<>> scalars;
    std::map<std::string, Distribution, std::less<>> data;
    std::map<std::string, Tolerance, std::less<>> tolerances;
    uint64_t seed = 0;
    bool held_out = false;
    bool slow = false;                 // left out unless asked for
    bool bench = false;                // for times: likewise
    std::optional<Expr> flops, bytes;  // of the whole chain; the port's where a case has none
    Place place;
};

// Types that tensor cores multiply, as peaks are given: f16 is bf16, too.
std::span<const std::string> product_names();

// What `warpwright bench` times and judges.
struct Bench {
    std::string kernel;      // the stage that is "the kernel"; all of them are "end to end"
    std::string output;      // the tensor that is judged
    std::string truth;       // a function of this program: some rows of it in double, from the port's inputs
    double relative_l1 = 0;  // an error above it is incorrect
    std::vector<std::string> without;  // tensors that are not asked for: null pointers; a stage that makes nothing else is not run
    std::map<std::string, std::string, std::less<>> products;  // of an implementation
    std::vector<std::filesystem::path> other_gpus;             // folders of ports of the same to other GPUs
    Place place;

    bool is_without(std::string_view tensor) const { return std::find(without.begin(), without.end(), tensor) != without.end(); }
    // All that it makes is not asked for.
    bool is_without(const Stage& stage) const {
        return std::all_of(stage.outputs.begin(), stage.outputs.end(), [this](const std::string& name) { return is_without(name); });
    }
};

// Somebody else's implementation, which is timed beside ours: a process that speaks docs/bench.md's protocol.
struct Peer {
    std::string name, description;
    ProcessImpl process;        // the time limit is that of an answer
    std::string products;       // one of product_names(); empty: unknown
    std::optional<Expr> bytes;  // that it must move at least
    double relative_l1 = 0.25;  // an error above it: it computes something else
    std::vector<Expr> require;  // a case that breaks one is "unavailable" here
    Place place;
};

struct Port {
    std::string name, description;
    std::filesystem::path folder, file;
    std::string target;  // what an emulator is to be; empty: no matter
    std::vector<Axis> axes;
    std::vector<NamedType> types;
    std::vector<Scalar> scalars;
    std::vector<TensorSpec> tensors;
    std::vector<Stage> stages;
    Stage chain;  // all of them as one: the port's inputs and outputs
    std::vector<Implementation> implementations;  // in file order
    std::vector<Case> cases;
    std::vector<Expr> require;  // conditions that every case must meet
    std::optional<Bench> bench;
    std::vector<Peer> peers;

    const TensorSpec* tensor(std::string_view name) const;
    const Stage* stage(std::string_view name) const;
    const Implementation* implementation(std::string_view name) const;
    const Scalar* scalar(std::string_view name) const;
    const NamedType* type(std::string_view name) const;
    const Case* find_case(std::string_view id) const;
};

// Values of all axes and scalars in a case.
Result<Scope> scope_of(const Port& port, const Case& c);
Dtype dtype_of(const TensorSpec& tensor, const Scope& scope);
// as: another dtype with the same shape (float64 references write f64), row-major.
Result<Layout> layout_of(const TensorSpec& tensor, const Scope& scope,
                         std::optional<Dtype> as = std::nullopt);
// The input tensor of a case. seed is added to the case's: 0 gives the recorded data.
Result<Tensor> make_input(const Port& port, const Case& c, const TensorSpec& tensor,
                          const Scope& scope, uint64_t seed = 0);
const Tolerance& tolerance_of(const Case& c, const TensorSpec& tensor);
// Extents of the tile, clipped to the shape; empty when the port names none.
Result<std::vector<int64_t>> tile_of(const TensorSpec& tensor, const Scope& scope);
// The condition of an implementation that the case breaks, or nothing: then it can run.
Result<std::optional<std::string>> unmet(const StageImpl& impl, const Scope& scope);
Result<std::optional<std::string>> unmet(const std::vector<Expr>& require, const Scope& scope);

struct LaunchSize {
    std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    uint32_t shared_bytes = 0;
};
Result<LaunchSize> launch_size(const KernelImpl& kernel, const Scope& scope);
// The bytes of a scalar argument, little endian, in its own type. A value that the type cannot
// hold is a failure.
Result<std::vector<std::byte>> scalar_bytes(const ScalarArg& arg, const Scope& scope);
// {name, value} pairs as text: the compile line's -Dname=value.
Result<std::vector<std::pair<std::string, std::string>>> defines_of(const KernelImpl& kernel,
                                                                    const Scope& scope);

}  // namespace ww::port
