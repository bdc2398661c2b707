// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/formats.hpp"

namespace ww::sage3 {
namespace {

using numerics::Format;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t at(int64_t index) { return static_cast<size_t>(index); }

double rounded(Format format, double value) {
    return numerics::decode(format, numerics::encode(format, value, {.saturate = true}));
}

// [n, rows, d] -> [n, d, rows]: so that the loop over keys is the inner one.
Values transposed(const Values& x, int64_t rows, int64_t d) {
    Values out(x.size());
    for (int64_t n = 0; n < static_cast<int64_t>(x.size()) / (rows * d); ++n)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < d; ++c)
                out[at((n * d + c) * rows + r)] = x[at((n * rows + r) * d + c)];
    return out;
}

// One query against 128 keys: dots[j] += sum over c of q[c] k_t[c][first + j].
void add_dots(const double* q, const double* k_t, int64_t d, int64_t keys, int64_t first,
              std::span<double> dots) {
    for (int64_t c = 0; c < d; ++c) {
        const double* k = k_t + c * keys + first;
        for (size_t j = 0; j < dots.size(); ++j) dots[j] += q[c] * k[j];
    }
}

// One row of the running softmax.
class Row {
  public:
    Row(const Problem& problem, PQuantisation quantisation)
        : problem_(problem), quantisation_(quantisation), c_(problem.scale / std::log(2.0)),
          o_(at(problem.dp()), 0.0) {}

    // s: 128 logits without the scale, -inf where masked; v: their 128 rows of V [128, DP].
    // given: P by value and the maximum after the tile, in place of what follows from s.
    struct GivenTile {
        const double *codes, *scales;
        double max;
    };
    void add_tile(std::span<const double> s, const double* v, const std::optional<GivenTile>& given) {
        const double before = max_;
        for (size_t g = 0; g < kGroups; ++g) {
            group_max[g] = *std::max_element(s.begin() + g * kGroup, s.begin() + (g + 1) * kGroup);
            max_ = std::max(max_, group_max[g]);
        }
        if (given) max_ = given->max;
        // Of a row that has seen nothing, sum and O are 0 and any factor will do.
        const double rescale = before == -kInfinity ? 0 : std::exp2((before - max_) * c_);
        sum_ *= rescale;
        for (double& each : o_) each *= rescale;
        for (size_t g = 0; g < kGroups; ++g) quantize_group_of_p(s, g);
        for (size_t j = 0; given && j < s.size(); ++j)
            weights_[j] = given->codes[j] * given->scales[j / kGroup];
        for (size_t j = 0; j < s.size(); ++j) {
            const double p = weights_[j];
            if (p == 0) continue;
            for (int64_t c = 0; c < problem_.dp(); ++c)
                o_[at(c)] += p * v[static_cast<int64_t>(j) * problem_.dp() + c];
        }
    }

    // O without the division, for the tap; the row's results.
    const Values& o() const { return o_; }
    double max() const { return max_; }
    double sum() const { return sum_; }
    double result(int64_t channel) const { return sum_ == 0 ? 0 : o_[at(channel)] / sum_; }
    double lse(double shift) const {
        if (sum_ == 0) return -kInfinity;
        return (max_ + shift) * problem_.scale + std::log(sum_ / kPScale);
    }

    // Of the last tile: the group maxima; P over its unrounded scale; that scale.
    static constexpr size_t kGroups = kTile / kGroup;
    std::array<double, kGroups> group_max{}, scales{};
    std::array<double, kTile> codes{};

  private:
    void quantize_group_of_p(std::span<const double> s, size_t g) {
        const double top = group_max[g];
        const bool empty = top == -kInfinity;
        // P = 2688 * 2^((S - m) c), and of the group's maximum: 6 * scale.
        scales[g] = empty ? 0 : kPScale / 6 * std::exp2((top - max_) * c_);
        const bool direct = quantisation_ == PQuantisation::direct;
        const double range = direct ? kPScale : 1;  // direct: the scale is that of P in [0, 1]
        const double scale = rounded(Format::e4m3, scales[g] / range) * range;
        for (size_t j = g * kGroup; j < (g + 1) * kGroup; ++j) {
            codes[j] = empty ? 0 : 6 * std::exp2((s[j] - top) * c_);
            sum_ += codes[j] * scales[g];
            weights_[j] = quantisation_ == PQuantisation::none
                              ? codes[j] * scales[g]
                              : rounded(Format::e2m1, codes[j]) * scale;
        }
    }

    const Problem& problem_;
    PQuantisation quantisation_;
    double c_;
    double max_ = -kInfinity, sum_ = 0;
    Values o_;
    std::array<double, kTile> weights_{};
};

void record(Taps& taps, const Problem& p, int64_t bh, int64_t query, int64_t tile,
            std::span<const double> s, const Row& row) {
    const int64_t line = bh * p.lq + query;
    std::copy(s.begin(), s.end(), taps.s.begin() + line * p.lkp() + tile * kTile);
    std::copy(row.codes.begin(), row.codes.end(), taps.p_codes.begin() + line * p.lkp() + tile * kTile);
    const int64_t group = line * (p.lkp() / kGroup) + tile * (kTile / kGroup);
    std::copy(row.group_max.begin(), row.group_max.end(), taps.group_max.begin() + group);
    std::copy(row.scales.begin(), row.scales.end(), taps.p_scales.begin() + group);
    const int64_t after = (bh * p.key_tiles() + tile) * p.lq + query;
    taps.row_max[at(after)] = row.max();
    taps.row_sum[at(after)] = row.sum();
    std::copy(row.o().begin(), row.o().end(), taps.o_tile.begin() + after * p.dp());
}

}  // namespace

Values mean_rows(const Values& x, int64_t rows, int64_t d, int64_t rows_per_mean) {
    const int64_t n = static_cast<int64_t>(x.size()) / (rows * d);
    const int64_t runs = (rows + rows_per_mean - 1) / rows_per_mean;
    Values out(at(n * runs * d), 0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < d; ++c)
                out[at((i * runs + r / rows_per_mean) * d + c)] += x[at((i * rows + r) * d + c)];
    for (int64_t i = 0; i < n * runs; ++i) {
        const int64_t first = i % runs * rows_per_mean;
        for (int64_t c = 0; c < d; ++c)
            out[at(i * d + c)] /= static_cast<double>(std::min(rows_per_mean, rows - first));
    }
    return out;
}

Group quantize_group(std::span<const float, kGroup> x) {
    float largest = 0;  // NaN if there is one
    for (const float each : x)
        if (!(std::fabs(each) <= largest)) largest = std::isnan(largest) ? largest : std::fabs(each);
    Group out;
    out.scale = static_cast<uint8_t>(
        numerics::encode(Format::e4m3, static_cast<double>(largest / 6.0f), {.saturate = true}));
    const auto scale = static_cast<float>(numerics::decode(Format::e4m3, out.scale));
    const float inverse = scale == 0 ? 0.0f : 1.0f / scale;
    for (size_t i = 0; i < x.size(); ++i)
        out.codes[i] = static_cast<uint8_t>(
            numerics::encode(Format::e2m1, static_cast<double>(x[i] * inverse), {.saturate = true}));
    return out;
}

int64_t token_of_stored_key(int64_t p) { return p / 32 * 32 + 2 * (p % 32 / 8) + 8 * (p % 8 / 2) + p % 2; }

int64_t code_index(int64_t row, int64_t element, int64_t row_elements) {
    constexpr int64_t kChunk = 32, kLine = 256;  // codes in 16 and in 128 bytes
    const int64_t exchange = row / (kLine / row_elements) % (row_elements / kChunk);
    return row * row_elements + (element / kChunk ^ exchange) * kChunk + element % kChunk;
}

int64_t scale_index(int64_t row, int64_t column, int64_t columns) {
    return row / 64 * 64 * columns + column / 4 * 256 + row % 16 * 16 + row % 64 / 16 * 4 + column % 4;
}

Taps::Taps(const Problem& p)
    : s(at(p.b * p.h * p.lq * p.lkp()), -kInfinity),
      group_max(s.size() / kGroup, -kInfinity),
      p_codes(s.size(), 0.0),
      p_scales(group_max.size(), 0.0),
      row_max(at(p.b * p.h * p.key_tiles() * p.lq), -kInfinity),
      row_sum(row_max.size(), 0.0),
      o_tile(row_max.size() * at(p.dp()), 0.0) {}

Output quantised_attention(const Problem& p, const Values& q, const Values& k, const Values& v,
                           const Values& bias, const Values& shift, const Options& options) {
    Output out{Values(at(p.b * p.h * p.lq * p.d)), Values(at(p.b * p.h * p.lq))};
    const Values k_t = transposed(k, p.lkp(), p.dp());
    std::array<double, kTile> s;
    for (int64_t bh = 0; bh < p.b * p.h; ++bh) {
        const double* keys = &k_t[at(p.kv_of(bh) * p.lkp() * p.dp())];
        const double* values = &v[at(p.kv_of(bh) * p.lkp() * p.dp())];
        for (int64_t query = 0; query < p.lq; ++query) {
            Row row(p, options.quantisation);
            const int64_t end = p.visible(query), line = bh * p.lq + query;
            const int64_t bias_row = bh * p.query_tiles() + query / kTile;
            for (int64_t tile = p.key_tiles() - 1; tile >= 0; --tile) {
                const int64_t first = tile * kTile;
                if (first >= end) continue;  // taps say so already
                std::copy_n(&bias[at(bias_row * p.lkp() + first)], kTile, s.begin());
                add_dots(&q[at(line * p.dp())], keys, p.dp(), p.lkp(), first, s);
                for (int64_t j = std::max<int64_t>(end - first, 0); j < kTile; ++j) s[at(j)] = -kInfinity;
                std::optional<Row::GivenTile> given;
                if (const Given* g = options.given)
                    given = {&g->p_codes[at(line * p.lkp() + first)],
                             &g->p_scales[at((line * p.lkp() + first) / kGroup)],
                             g->row_max[at((bh * p.key_tiles() + tile) * p.lq + query)]};
                row.add_tile(s, values + first * p.dp(), given);
                if (options.taps) record(*options.taps, p, bh, query, tile, s, row);
            }
            for (int64_t c = 0; c < p.d; ++c) out.o[at(line * p.d + c)] = row.result(c);
            out.lse[at(line)] = row.lse(shift[at(line)]);
        }
    }
    return out;
}

Output plain_attention(const Problem& p, const Values& q, const Values& k, const Values& v) {
    Output out{Values(at(p.b * p.h * p.lq * p.d), 0.0), Values(at(p.b * p.h * p.lq), -kInfinity)};
    const Values k_t = transposed(k, p.lk, p.d);
    for (int64_t line = 0; line < p.b * p.h * p.lq; ++line) {
        const int64_t kv = p.kv_of(line / p.lq), end = p.visible(line % p.lq);
        if (end == 0) continue;
        Values s(at(end), 0.0);
        add_dots(&q[at(line * p.d)], &k_t[at(kv * p.lk * p.d)], p.d, p.lk, 0, s);
        const double max = *std::max_element(s.begin(), s.end()) * p.scale;
        double sum = 0;
        for (double& each : s) sum += each = std::exp(each * p.scale - max);
        for (int64_t key = 0; key < end; ++key)
            for (int64_t c = 0; c < p.d; ++c)
                out.o[at(line * p.d + c)] += s[at(key)] / sum * v[at((kv * p.lk + key) * p.d + c)];
        out.lse[at(line)] = max + std::log(sum);
    }
    return out;
}

}  // namespace ww::sage3
