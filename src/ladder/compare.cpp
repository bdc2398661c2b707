// SPDX-License-Identifier: Apache-2.0
// Element errors and the tolerance's verdict on them.
#include "ladder/compare.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <limits>

namespace ww::ladder {
namespace {

using port::Tensor;
using port::Tolerance;

// |got - want|, with equal infinities at distance 0 and anything else not finite at infinity.
double distance(double got, double want) {
    if (got == want) return 0;
    const double error = std::fabs(got - want);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

// Sums over all elements, from which the metrics follow. Equal infinities count as no error and
// stay out of the norms.
struct Sums {
    double abs_error = 0, square_error = 0, abs_want = 0, square_want = 0, square_got = 0, product = 0;

    void add(double got, double want, double error) {
        if (std::isinf(want) && error == 0) return;
        abs_error += error;
        square_error += error * error;
        abs_want += std::fabs(want);
        square_want += want * want;
        square_got += got * got;
        product += got * want;
    }
};

double ratio(double a, double b) {
    if (b != 0) return a / b;
    return a == 0 ? 0 : std::numeric_limits<double>::infinity();
}

void finish(Metrics& metrics, const Sums& sums) {
    metrics.relative_l1 = ratio(sums.abs_error, sums.abs_want);
    metrics.relative_l2 = std::sqrt(ratio(sums.square_error, sums.square_want));
    metrics.rmse = std::sqrt(sums.square_error / static_cast<double>(metrics.elements));
    const bool both_zero = sums.square_got == 0 && sums.square_want == 0;
    metrics.cosine =
        both_zero ? 1 : ratio(sums.product, std::sqrt(sums.square_got) * std::sqrt(sums.square_want));
    metrics.gain = both_zero ? 1 : ratio(sums.product, sums.square_want);
}

struct BaselineError {
    double max_abs = 0, relative_l1 = 0, relative_l2 = 0;
};

BaselineError baseline_error(const Tensor& baseline, const Tensor& truth) {
    BaselineError out;
    Sums sums;
    for (int64_t i = 0; i < truth.layout.elements; ++i) {
        const double got = baseline.get(i), want = truth.get(i);
        if (std::isnan(got) || std::isnan(want)) continue;
        const double error = distance(got, want);
        out.max_abs = std::max(out.max_abs, error);
        sums.add(got, want, error);
    }
    out.relative_l1 = ratio(sums.abs_error, sums.abs_want);
    out.relative_l2 = std::sqrt(ratio(sums.square_error, sums.square_want));
    return out;
}

// Elements of a row of so many trailing axes.
int64_t row_elements(const port::Layout& layout, int64_t axes) {
    int64_t out = 1;
    for (size_t i = 0; i < layout.rank() && i < static_cast<size_t>(axes); ++i)
        out *= layout.shape[layout.rank() - 1 - i];
    return out;
}

// The largest finite magnitude of each row.
std::vector<double> row_magnitudes(const Tensor& tensor, int64_t row) {
    std::vector<double> out(static_cast<size_t>(tensor.layout.elements / row), 0.0);
    for (int64_t i = 0; i < tensor.layout.elements; ++i) {
        double& largest = out[static_cast<size_t>(i / row)];
        const double magnitude = std::fabs(tensor.get(i));
        if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
    return out;
}

// The largest error that the tolerance lets an element have whose errors are measured in units in
// the last place of `want`; exact mode is not asked here.
double allowed(const Tolerance& tolerance, port::Dtype dtype, double want, double baseline_max) {
    const double ulp = std::isfinite(want) ? port::ulp(dtype, want) : 0;
    if (tolerance.mode != Tolerance::Mode::relative_to) return tolerance.max_ulp * ulp;
    return tolerance.factor * baseline_max + tolerance.floor_ulp * ulp;
}

std::string tolerance_text(const Tolerance& tolerance) {
    switch (tolerance.mode) {
        case Tolerance::Mode::exact: return "differ from the reference's bits";
        case Tolerance::Mode::ulp:
            return fmt::format("are more than {} ulp off", tolerance.max_ulp);
        case Tolerance::Mode::row_ulp:
            return fmt::format("are more than {} ulp of their row's largest off", tolerance.max_ulp);
        case Tolerance::Mode::relative_to:
            return fmt::format("are more than {} times the error of {} plus {} ulp off",
                               tolerance.factor, tolerance.baseline, tolerance.floor_ulp);
        case Tolerance::Mode::l1_relative_to: return "are not numbers";  // no other element is bad by itself
    }
    return "";
}

void note_baseline(Metrics& metrics, const Tolerance& tolerance, const BaselineError& baseline) {
    if (tolerance.mode == Tolerance::Mode::l1_relative_to) {
        metrics.baseline_relative_l1 = baseline.relative_l1;
        metrics.l1_baseline = tolerance.baseline;
        return;
    }
    metrics.baseline_max_abs = baseline.max_abs;
    metrics.baseline_relative_l2 = baseline.relative_l2;
}

// What relative tolerances say of all elements together: the complaint, if there is one.
std::optional<std::string> too_far_in_all(const Metrics& metrics, const Tolerance& tolerance, const BaselineError& baseline,
                                          port::Dtype dtype) {
    if (!tolerance.has_baseline()) return std::nullopt;
    const bool l1 = tolerance.mode == Tolerance::Mode::l1_relative_to;
    const double error = l1 ? metrics.relative_l1 : metrics.relative_l2;
    const double of = l1 ? baseline.relative_l1 : baseline.relative_l2;
    if (error <= tolerance.factor * of + tolerance.floor_ulp * port::ulp(dtype, 1.0)) return std::nullopt;
    return fmt::format("relative {} error of {} is {:.3g}; {} has {:.3g}", l1 ? "L1" : "L2", metrics.output, error,
                       tolerance.baseline, of);
}

struct Judge {
    const Tensor& got;
    const Expected& expected;
    const Tolerance& tolerance;
    double baseline_max = 0;
    int64_t row = 1;                 // row_ulp: elements of a row, and the magnitude of each
    std::vector<double> magnitudes;

    bool good(int64_t i, double value, double want, double error) const {
        const port::Dtype dtype = got.layout.dtype;
        if (tolerance.mode == Tolerance::Mode::exact)
            return got.code(i) == expected.reference->code(i);
        if (tolerance.mode == Tolerance::Mode::l1_relative_to) return true;
        const bool by_row = tolerance.mode == Tolerance::Mode::row_ulp && std::isfinite(want);
        const double unit_of = by_row ? magnitudes[static_cast<size_t>(i / row)] : want;
        if (error <= allowed(tolerance, dtype, unit_of, baseline_max)) return true;
        // Overflow: the nearest value of the type is infinite, and so is the output.
        return std::isinf(value) && port::decode(dtype, port::encode(dtype, want)) == value;
    }
};

}  // namespace

std::string hash_text(std::span<const std::byte> bytes) {
    return fmt::format("{:016x}", XXH64(bytes.data(), bytes.size(), 0));
}

std::optional<int64_t> first_difference(const Tensor& a, const Tensor& b) {
    for (int64_t i = 0; i < a.layout.elements; ++i)
        if (a.code(i) != b.code(i)) return i;
    return std::nullopt;
}

Element element_at(const Tensor& got, const Tensor& expected, int64_t linear) {
    Element element;
    element.coordinates = got.layout.coordinates(linear);
    element.got_bits = port::code_text(got.layout.dtype, got.code(linear));
    element.got = got.get(linear);
    element.expected = expected.get(linear);
    element.error = distance(element.got, element.expected);
    const double unit =
        std::isfinite(element.expected) ? port::ulp(got.layout.dtype, element.expected) : 1;
    element.ulp = element.error / unit;
    return element;
}

Comparison compare(const Tensor& got, const Expected& expected, const Tolerance& tolerance) {
    Comparison out;
    const Tensor& truth = expected.truth ? *expected.truth : *expected.reference;
    Judge judge{.got = got, .expected = expected, .tolerance = tolerance};
    if (tolerance.mode == Tolerance::Mode::row_ulp) {
        judge.row = row_elements(truth.layout, tolerance.row_axes);
        judge.magnitudes = row_magnitudes(truth, judge.row);
    }
    BaselineError baseline;
    if (tolerance.has_baseline()) {
        WW_CHECK(expected.baseline != nullptr, "a relative tolerance without its baseline");
        baseline = baseline_error(*expected.baseline, truth);
        judge.baseline_max = baseline.max_abs;
        note_baseline(out.metrics, tolerance, baseline);
    }
    out.metrics.output = got.name;
    out.metrics.elements = got.layout.elements;
    out.metrics.output_hash = hash_text(got.bytes);
    Sums sums;
    int64_t worst = -1, nans = 0;
    double worst_error = -1;
    for (int64_t i = 0; i < got.layout.elements; ++i) {
        const double value = got.get(i), want = truth.get(i);
        if (std::isnan(value) && std::isnan(want)) continue;
        const double error = distance(value, want);
        const bool is_nan = std::isnan(value) || std::isnan(want);
        if (!is_nan) {
            sums.add(value, want, error);
            out.metrics.max_abs = std::max(out.metrics.max_abs, error);
            const double unit = std::isfinite(want) ? port::ulp(got.layout.dtype, want) : 1;
            out.metrics.max_ulp = std::max(out.metrics.max_ulp, error / unit);
        }
        if (!is_nan && judge.good(i, value, want, error)) continue;
        nans += is_nan;
        if (out.metrics.mismatches++ == 0) out.first_linear = i;
        if (error > worst_error) worst = i, worst_error = error;
    }
    finish(out.metrics, sums);
    if (out.metrics.mismatches > 0) {
        out.pass = false;
        out.kind = nans > 0 ? FailureKind::not_a_number : FailureKind::wrong;
        out.first = element_at(got, truth, out.first_linear);
        out.worst = element_at(got, truth, worst);
        out.message = fmt::format("{} of {} elements of {} {}", out.metrics.mismatches,
                                  out.metrics.elements, got.name, tolerance_text(tolerance));
        if (nans > 0) out.message += fmt::format("; {} are NaN where none is expected", nans);
    } else if (auto message = too_far_in_all(out.metrics, tolerance, baseline, got.layout.dtype)) {
        out.pass = false;
        out.message = std::move(*message);
    }
    return out;
}

}  // namespace ww::ladder
