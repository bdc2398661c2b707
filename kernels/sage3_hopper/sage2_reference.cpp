// SPDX-License-Identifier: Apache-2.0
#include "sage3_hopper/sage2_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace ww::sage3 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kQueryRows = 16, kKeyRows = 128;  // that share a scale

size_t at(int64_t index) { return static_cast<size_t>(index); }

// Rows of d values by `rows` rows a scale, to the nearest of 255 steps of it.
void round_to_int8(std::span<double> x, int64_t d, int64_t rows) {
    for (size_t first = 0; first < x.size(); first += at(rows * d)) {
        const std::span<double> group = x.subspan(first, std::min(at(rows * d), x.size() - first));
        double largest = 0;
        for (const double each : group) largest = std::max(largest, std::fabs(each));
        const double scale = largest / 127;
        for (double& each : group) each = scale == 0 ? 0 : scale * std::nearbyint(each / scale);
    }
}

// Each of d channels by a scale of its own.
void round_to_e4m3(std::span<double> x, int64_t d) {
    for (int64_t c = 0; c < d; ++c) {
        double largest = 0;
        for (size_t i = at(c); i < x.size(); i += at(d)) largest = std::max(largest, std::fabs(x[i]));
        const double scale = largest / 448;
        for (size_t i = at(c); i < x.size(); i += at(d)) x[i] = scale == 0 ? 0 : scale * rounded(numerics::Format::e4m3, x[i] / scale);
    }
}

// One head of one sequence.
struct Head {
    const Problem& p;
    int64_t bh, queries, keys;
    Values q, k_t, v;  // [queries, D], [D, keys], [keys, D], rounded

    Values logits(int64_t query, const MaskFunction& mask) const {
        const Range range = p.visible(query, queries, keys);
        Values s(at(keys), 0.0);
        for (int64_t c = 0; c < p.d; ++c)
            for (int64_t j = std::max<int64_t>(range.begin, 0); j < range.end; ++j)
                s[at(j)] += q[at(query * p.d + c)] * k_t[at(c * keys + j)];
        for (int64_t j = 0; j < keys; ++j) {
            const bool seen = j >= range.begin && j < range.end;
            s[at(j)] = seen ? s[at(j)] * p.scale + (mask ? mask(bh, query, j) : 0) : -kInfinity;
        }
        return s;
    }
    // o: D values, zeros before. Returns the logarithm of the sum; k's mean has not come back to it.
    double row(int64_t query, const MaskFunction& mask, double* o) const {
        const Values s = logits(query, mask);
        double max = -kInfinity, sum = 0;
        for (int64_t first = 0; first < keys; first += kKeyRows) {
            const int64_t end = std::min(first + kKeyRows, keys);
            const double before = max;
            max = std::max(max, *std::max_element(s.begin() + first, s.begin() + end));
            if (max == -kInfinity) continue;
            const double rescale = std::exp(before - max);
            sum *= rescale;
            for (int64_t c = 0; c < p.d; ++c) o[c] *= rescale;
            for (int64_t j = first; j < end; ++j) {
                const double weight = 448 * std::exp(s[at(j)] - max);
                sum += weight;
                if (weight == 0) continue;
                const double code = rounded(numerics::Format::e4m3, weight);
                for (int64_t c = 0; c < p.d; ++c) o[c] += code * v[at(j * p.d + c)];
            }
        }
        if (sum == 0) return -kInfinity;
        for (int64_t c = 0; c < p.d; ++c) o[c] /= sum;
        return max + std::log(sum / 448);
    }
};

std::span<const double> rows_of(const Values& x, int64_t heads, int64_t tokens, int64_t d, const Sequence& sequence, int64_t head) {
    const int64_t first = (sequence.batch * heads + head) * tokens + sequence.first;
    return std::span(x).subspan(at(first * d), at(sequence.length * d));
}

Head head_of(const Problem& p, const Sequence& queries, const Sequence& keys, int64_t head, const Values& q, const Values& k,
             const Values& v, const Values& k_mean) {
    const auto q_rows = rows_of(q, p.h, p.lq, p.d, queries, head), k_rows = rows_of(k, p.h_kv, p.lk, p.d, keys, p.kv_head(head)),
               v_rows = rows_of(v, p.h_kv, p.lk, p.d, keys, p.kv_head(head));
    Head out{p, queries.batch * p.h + head, queries.length, keys.length, {q_rows.begin(), q_rows.end()}, {},
             {v_rows.begin(), v_rows.end()}};
    Values smooth(k_rows.begin(), k_rows.end());
    for (size_t i = 0; i < smooth.size(); ++i) smooth[i] -= k_mean[i % at(p.d)];
    round_to_int8(out.q, p.d, kQueryRows);
    round_to_int8(smooth, p.d, kKeyRows);
    round_to_e4m3(out.v, p.d);
    out.k_t.resize(smooth.size());
    for (int64_t j = 0; j < keys.length; ++j)
        for (int64_t c = 0; c < p.d; ++c) out.k_t[at(c * keys.length + j)] = smooth[at(j * p.d + c)];
    return out;
}

}  // namespace

Output sage2_attention(const Problem& p, const Sequences& sequences, const Values& q, const Values& k, const Values& v,
                       const MaskFunction& mask) {
    Output out{Values(at(p.b * p.h * p.lq * p.d), 0.0), Values(at(p.b * p.h * p.lq), -kInfinity)};
    for (size_t i = 0; i < sequences.q.size(); ++i)
        for (int64_t h = 0; h < p.h; ++h) {
            const Sequence &queries = sequences.q[i], &keys = sequences.k[i];
            const Values mean = mean_of(rows_of(k, p.h_kv, p.lk, p.d, keys, p.kv_head(h)), p.d);
            const Head head = head_of(p, queries, keys, h, q, k, v, mean);
            for (int64_t query = 0; query < queries.length; ++query) {
                const int64_t line = head.bh * p.lq + queries.first + query;
                double shift = 0;
                for (int64_t c = 0; c < p.d; ++c) shift += q[at(line * p.d + c)] * mean[at(c)];
                out.lse[at(line)] = head.row(query, mask, &out.o[at(line * p.d)]) + shift * p.scale;
            }
        }
    return out;
}

}  // namespace ww::sage3
