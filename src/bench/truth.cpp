// SPDX-License-Identifier: Apache-2.0
#include "bench/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/host.hpp"
#include "port/random.hpp"

namespace ww::bench {
namespace {

constexpr int64_t kHeads = 4, kRowsOfHead = 64;
constexpr uint64_t kStream = 0x726F7773;  // "rows"

// Up to `wanted` of `count` indices, the first and the last among them.
std::vector<int64_t> sample(int64_t count, int64_t wanted, uint64_t seed, uint64_t stream) {
    std::set<int64_t> out;
    if (count <= wanted) {
        for (int64_t i = 0; i < count; ++i) out.insert(i);
    } else {
        out = {0, count - 1};
        for (uint64_t i = 0; static_cast<int64_t>(out.size()) < wanted; ++i)
            out.insert(static_cast<int64_t>(port::random_below(seed, stream, i, static_cast<uint64_t>(count))));
    }
    return {out.begin(), out.end()};
}

std::vector<int64_t> coordinates_of(int64_t linear, const std::vector<int64_t>& shape, size_t axes) {
    std::vector<int64_t> out(axes);
    for (size_t i = axes; i-- > 0;) {
        out[i] = linear % shape[i];
        linear /= shape[i];
    }
    return out;
}

int64_t row_number(const std::vector<int64_t>& row, const std::vector<int64_t>& shape) {
    int64_t out = 0;
    for (size_t i = 0; i < row.size(); ++i) out = out * shape[i] + row[i];
    return out;
}

Result<std::vector<double>> values_of(const port::Port& port, const port::Scope& scope, const ladder::TensorMap& inputs,
                                      ladder::LibraryFunction function, std::span<const std::vector<int64_t>> rows,
                                      int64_t width) {
    const auto count = static_cast<int64_t>(rows.size()), axes = static_cast<int64_t>(rows.front().size());
    WW_TRY(row_layout, port::make_layout(port::Dtype::i64, {count, axes}));
    WW_TRY(row_tensor, port::Tensor::zeros("rows", row_layout));
    for (int64_t i = 0; i < count * axes; ++i)
        row_tensor.set_code(i, static_cast<uint64_t>(rows[static_cast<size_t>(i / axes)][static_cast<size_t>(i % axes)]));
    WW_TRY(layout, port::make_layout(port::Dtype::f64, {count, width}));
    WW_TRY(made, port::Tensor::zeros(port.bench->output, layout));
    ladder::LibraryCall call{.scope = &scope, .folder = port.folder};
    for (const auto& [name, tensor] : inputs) call.inputs[name] = &tensor;
    call.inputs["rows"] = &row_tensor;
    call.outputs[port.bench->output] = &made;
    WW_TRY(done, function(call));
    (void)done;
    std::vector<double> out;
    for (int64_t i = 0; i < count * width; ++i) out.push_back(made.get(i));
    return out;
}

}  // namespace

std::vector<std::vector<int64_t>> sample_rows(const port::Layout& layout, uint64_t seed) {
    const size_t leading = layout.rank() - 2;
    int64_t heads = 1;
    for (size_t i = 0; i < leading; ++i) heads *= layout.shape[i];
    std::vector<std::vector<int64_t>> out;
    for (const int64_t head : sample(heads, kHeads, seed, kStream))
        for (const int64_t row : sample(layout.shape[leading], kRowsOfHead, seed, kStream + 1 + static_cast<uint64_t>(head))) {
            out.push_back(coordinates_of(head, layout.shape, leading));
            out.back().push_back(row);
        }
    return out;
}

Result<Truth> make_truth(const port::Port& port, const port::Scope& scope, const ladder::TensorMap& inputs,
                         const ladder::LibraryTable& libraries, uint64_t seed) {
    const port::Bench& bench = *port.bench;
    const auto function = ladder::find_library(libraries, bench.truth, {});
    if (!function) return fail(port::placed(function.error(), bench.place));
    WW_TRY(layout, port::layout_of(*port.tensor(bench.output), scope));
    Truth out{.output = bench.output, .rows = sample_rows(layout, seed)};
    const size_t threads = std::min<size_t>(host_threads(), out.rows.size());
    std::vector<Result<std::vector<double>>> parts(threads, fail("not run"));
    std::vector<std::thread> running;
    for (size_t i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            const size_t begin = out.rows.size() * i / threads, end = out.rows.size() * (i + 1) / threads;
            parts[i] = values_of(port, scope, inputs, *function, std::span(out.rows).subspan(begin, end - begin),
                                 layout.shape.back());
        });
    for (std::thread& each : running) each.join();
    for (Result<std::vector<double>>& part : parts) {
        if (!part) return fail(port::placed(part.error(), bench.place));
        out.values.insert(out.values.end(), part->begin(), part->end());
    }
    for (const double value : out.values)
        if (!std::isfinite(value)) return fail(fmt::format("{}: an expected value of '{}' is not finite", bench.truth, bench.output));
    return out;
}

Result<Accuracy> accuracy_of(const port::Tensor& got, const Truth& truth) {
    const auto width = static_cast<int64_t>(truth.values.size() / truth.rows.size());
    const std::vector<int64_t>& shape = got.layout.shape;
    bool fits = shape.size() == truth.rows.front().size() + 1 && shape.back() == width && port::info(got.layout.dtype).is_float;
    for (const std::vector<int64_t>& row : truth.rows)
        for (size_t i = 0; fits && i < row.size(); ++i) fits = row[i] < shape[i];
    if (!fits) return fail(fmt::format("'{}' is {}, which is not what is judged", got.name, got.layout.text()));
    Accuracy out{.rows = static_cast<int64_t>(truth.rows.size())};
    double error1 = 0, error2 = 0, sum1 = 0, sum2 = 0, product = 0, own = 0;
    for (size_t i = 0; i < truth.rows.size(); ++i) {
        const int64_t first = row_number(truth.rows[i], shape) * width;
        for (int64_t d = 0; d < width; ++d) {
            const double due = truth.values[i * static_cast<size_t>(width) + static_cast<size_t>(d)];
            const double value = got.get(first + d), error = std::fabs(value - due);
            out.finite = out.finite && std::isfinite(value);
            error1 += error, error2 += error * error, out.max_abs = std::max(out.max_abs, error);
            sum1 += std::fabs(due), sum2 += due * due, product += value * due, own += value * value;
        }
    }
    out.relative_l1 = sum1 > 0 ? error1 / sum1 : error1;
    out.relative_l2 = sum2 > 0 ? std::sqrt(error2 / sum2) : std::sqrt(error2);
    out.cosine = own > 0 && sum2 > 0 ? product / std::sqrt(own * sum2) : 0;
    out.gain = sum2 > 0 ? product / sum2 : 0;
    return out;
}

int64_t poisoned_rows(const port::Tensor& got, uint8_t poison) {
    const auto row = static_cast<size_t>(got.layout.shape.back() * port::info(got.layout.dtype).bits / 8);
    int64_t out = 0;
    for (size_t at = 0; at + row <= got.bytes.size(); at += row)
        out += std::all_of(got.bytes.begin() + static_cast<ptrdiff_t>(at), got.bytes.begin() + static_cast<ptrdiff_t>(at + row),
                           [&](std::byte each) { return each == std::byte{poison}; });
    return out;
}

}  // namespace ww::bench
