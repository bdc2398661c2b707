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

    // s: logits of a tile without the scale, -inf where masked; v: their rows of V [keys, DP].
    // given: P by value and the maximum after the tile, in place of what follows from s.
    struct GivenTile {
        const double *codes, *scales;
        double max;
    };
    void add_tile(std::span<const double> s, const double* v, const std::optional<GivenTile>& given) {
        const double before = max_;
        const size_t groups = s.size() / kGroup;
        for (size_t g = 0; g < groups; ++g) {
            group_max[g] = *std::max_element(s.begin() + g * kGroup, s.begin() + (g + 1) * kGroup);
            max_ = std::max(max_, group_max[g]);
        }
        if (given) max_ = given->max;
        // Of a row that has seen nothing, sum and O are 0 and any factor will do.
        const double rescale = before == -kInfinity ? 0 : std::exp2((before - max_) * c_);
        sum_ *= rescale;
        for (double& each : o_) each *= rescale;
        for (size_t g = 0; g < groups; ++g) quantize_group_of_p(s, g);
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
    std::array<double, kTile / kGroup> group_max{}, scales{};
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

// Where a query's values lie: line of [BH, Lq]; of a tile, of [BH, key tiles, Lq].
struct Line {
    const Problem& p;
    int64_t bh, token;

    int64_t line() const { return bh * p.lq + token; }
    int64_t after(int64_t tile) const { return (bh * p.key_tiles() + tile) * p.lq + token; }
};

void record(Taps& taps, const Line& at_line, int64_t tile, std::span<const double> s, const Row& row) {
    const Problem& p = at_line.p;
    const int64_t keys = p.key_tile(), key = at_line.line() * p.columns() + tile * keys;
    std::copy(s.begin(), s.end(), taps.s.begin() + key);
    std::copy_n(row.codes.begin(), keys, taps.p_codes.begin() + key);
    std::copy_n(row.group_max.begin(), keys / kGroup, taps.group_max.begin() + key / kGroup);
    std::copy_n(row.scales.begin(), keys / kGroup, taps.p_scales.begin() + key / kGroup);
    const int64_t after = at_line.after(tile);
    taps.row_max[at(after)] = row.max();
    taps.row_sum[at(after)] = row.sum();
    std::copy(row.o().begin(), row.o().end(), taps.o_tile.begin() + after * p.dp());
}

}  // namespace

std::vector<Sequence> sequences(const Problem& p, const std::vector<int64_t>& starts, int64_t tokens, int64_t longest) {
    std::vector<Sequence> out;
    for (int64_t i = 0; i < p.sequences(); ++i) {
        if (!p.packed) {
            out.push_back({i, 0, tokens, 0});
            continue;
        }
        const int64_t first = starts[at(i)], length = starts[at(i) + 1] - first;
        out.push_back({0, first, std::clamp<int64_t>(length, 0, longest), (first / kTile + i) * kTile});
    }
    return out;
}

Sequences whole_batches(const Problem& p) { return {sequences(p, {}, p.lq, p.lq), sequences(p, {}, p.lk, p.lk)}; }

double rounded(Format format, double value) {
    return numerics::decode(format, numerics::encode(format, value, {.saturate = true}));
}

Values mean_of(std::span<const double> rows, int64_t d) {
    Values out(at(d), 0.0);
    const size_t count = rows.size() / at(d);
    for (size_t i = 0; i < rows.size(); ++i) out[i % at(d)] += rows[i];
    for (double& each : out) each /= static_cast<double>(std::max<size_t>(count, 1));
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

int64_t scale_index(int64_t row, int64_t column, int64_t columns, int64_t run) {
    const int64_t of_64_rows = row / 64 * (columns / run) + column / run;  // 64 rows and `run` columns lie together
    return of_64_rows * 64 * run + row % 32 * 2 * run + row % 64 / 32 * run + column % run;
}

Taps::Taps(const Problem& p)
    : s(at(p.b * p.h * p.lq * p.columns()), -kInfinity),
      group_max(s.size() / kGroup, -kInfinity),
      p_codes(s.size(), 0.0),
      p_scales(group_max.size(), 0.0),
      row_max(at(p.b * p.h * p.key_tiles() * p.lq), -kInfinity),
      row_sum(row_max.size(), 0.0),
      o_tile(row_max.size() * at(p.dp()), 0.0) {}

std::vector<int64_t> visits(const Problem& p, int64_t first, int64_t last, int64_t queries, int64_t keys) {
    return visits(p, first, last, queries, keys, p.key_tile());
}

std::vector<int64_t> visits(const Problem& p, int64_t first, int64_t last, int64_t queries, int64_t keys, int64_t size) {
    const Range of_first = p.visible(first, queries, keys), of_last = p.visible(last, queries, keys);
    std::vector<int64_t> right, left, whole;
    for (int64_t tile = (keys + size - 1) / size - 1; tile >= 0; --tile) {
        const int64_t begin = tile * size, end = begin + size;
        if (end <= of_first.begin || begin >= of_last.end || of_first.begin >= of_last.end) continue;  // nobody sees it
        const bool cut_right = end > of_first.end || p.mask != Mask::none, cut_left = begin < of_last.begin;
        (cut_right ? right : cut_left ? left : whole).push_back(tile);
    }
    right.insert(right.end(), left.rbegin(), left.rend());
    right.insert(right.end(), whole.begin(), whole.end());
    return right;
}

namespace {

// One call of quantised_attention.
struct Quantised {
    const Problem& p;
    const Values &q, &k_t, &v, &bias, &shift;
    const Options& options;

    // One query of a sequence: its result and log-sum-exp.
    void row(const Line& line, int64_t query, int64_t queries, const Sequence& keys, int64_t kv, const double* bias_row,
             const std::vector<int64_t>& tiles, const double* v_mean, Output& out) const {
        std::array<double, kTile> logits;
        const std::span<double> s(logits.data(), at(p.key_tile()));
        Row row(p, options.quantisation);
        const Range range = p.visible(query, queries, keys.length);
        for (const int64_t tile : tiles) {
            const int64_t first = tile * p.key_tile(), stored = keys.stored + first;
            std::copy_n(bias_row + first, s.size(), s.begin());
            add_dots(&q[at(line.line() * p.dp())], &k_t[at(kv * p.lkp() * p.dp())], p.dp(), p.lkp(), stored, s);
            for (int64_t j = 0; j < p.key_tile(); ++j) {
                const int64_t key = first + j;
                if (key < range.begin || key >= range.end) s[at(j)] = -kInfinity;
                else if (options.mask) s[at(j)] += options.mask(line.bh, query, key) / p.scale;
            }
            std::optional<Row::GivenTile> given;
            if (const Given* g = options.given) {
                const int64_t key = line.line() * p.columns() + first;
                given = {&g->p_codes[at(key)], &g->p_scales[at(key / kGroup)], g->row_max[at(line.after(tile))]};
            }
            row.add_tile(s, &v[at((kv * p.lkp() + stored) * p.dp())], given);
            if (options.taps) record(*options.taps, line, tile, s, row);
        }
        for (int64_t c = 0; c < p.d; ++c)
            out.o[at(line.line() * p.d + c)] = row.result(c) + (v_mean && row.sum() != 0 ? v_mean[c] : 0);
        out.lse[at(line.line())] = row.lse(shift[at(line.line())]);
    }
};

}  // namespace

Output quantised_attention(const Problem& p, const Sequences& sequences, const Values& q, const Values& k,
                           const Values& v, const Values& bias, const Values& shift, const Options& options) {
    Output out{Values(at(p.b * p.h * p.lq * p.d)), Values(at(p.b * p.h * p.lq))};
    const Values k_t = transposed(k, p.lkp(), p.dp());
    const Quantised call{p, q, k_t, v, bias, shift, options};
    for (size_t i = 0; i < sequences.q.size(); ++i) {
        const Sequence &queries = sequences.q[i], &keys = sequences.k[i];
        const int64_t number = static_cast<int64_t>(i);
        for (int64_t head = 0; head < p.h; ++head)
            for (int64_t query = 0; query < queries.length; ++query) {
                const int64_t bh = queries.batch * p.h + head, first = query / kTile * kTile;
                const int64_t mean = p.global_mean ? number * p.h + head
                                                   : bh * p.query_tiles() + (queries.stored + query) / kTile;
                const std::vector<int64_t> tiles =
                    visits(p, first, std::min(first + kTile, queries.length) - 1, queries.length, keys.length);
                const double* v_mean =
                    options.v_mean ? &(*options.v_mean)[at((number * p.h_kv + p.kv_head(head)) * p.d)] : nullptr;
                call.row({p, bh, queries.first + query}, query, queries.length, keys,
                         keys.batch * p.h_kv + p.kv_head(head), &bias[at(mean * p.columns())], tiles, v_mean, out);
            }
    }
    return out;
}

Output plain_attention(const Problem& p, const Sequences& sequences, const Values& q, const Values& k, const Values& v,
                       const MaskFunction& mask) {
    Output out{Values(at(p.b * p.h * p.lq * p.d), 0.0), Values(at(p.b * p.h * p.lq), -kInfinity)};
    const Values k_t = transposed(k, p.lk, p.d);
    for (size_t i = 0; i < sequences.q.size(); ++i)
        for (int64_t head = 0; head < p.h; ++head)
            for (int64_t query = 0; query < sequences.q[i].length; ++query) {
                const Sequence &queries = sequences.q[i], &keys = sequences.k[i];
                const int64_t bh = queries.batch * p.h + head, kv = keys.batch * p.h_kv + p.kv_head(head);
                const int64_t line = bh * p.lq + queries.first + query;
                const Range range = p.visible(query, queries.length, keys.length);
                if (range.begin >= range.end) continue;
                Values s(at(range.end - range.begin), 0.0);
                add_dots(&q[at(line * p.d)], &k_t[at(kv * p.lk * p.d)], p.d, p.lk, keys.first + range.begin, s);
                for (size_t j = 0; j < s.size(); ++j) {
                    s[j] *= p.scale;
                    if (mask) s[j] += mask(bh, query, range.begin + static_cast<int64_t>(j));
                }
                const double max = *std::max_element(s.begin(), s.end());
                if (max == -kInfinity) continue;
                double sum = 0;
                for (double& each : s) sum += each = std::exp(each - max);
                for (size_t j = 0; j < s.size(); ++j) {
                    const int64_t row = kv * p.lk + keys.first + range.begin + static_cast<int64_t>(j);
                    for (int64_t c = 0; c < p.d; ++c) out.o[at(line * p.d + c)] += s[j] / sum * v[at(row * p.d + c)];
                }
                out.lse[at(line)] = max + std::log(sum);
            }
    return out;
}

}  // namespace ww::sage3
