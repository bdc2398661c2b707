// SPDX-License-Identifier: Apache-2.0
#include "sage3_hopper/hopper_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/formats.hpp"

namespace ww::sage3 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kSmallest = 1e-15f;

size_t at(int64_t index) { return static_cast<size_t>(index); }

double rounded_e4m3(double value) {
    return numerics::decode(numerics::Format::e4m3, numerics::encode(numerics::Format::e4m3, value, {.saturate = true}));
}

// One query: the running softmax.
struct Line {
    double max = -kInfinity, sum = 0;
    Values o;
};

}  // namespace

int64_t code_bytes_index(int64_t row, int64_t byte, int64_t row_bytes) {
    constexpr int64_t kChunk = 16, kLine = 128;
    const int64_t exchange = row / (kLine / row_bytes) % (row_bytes / kChunk);
    return row * row_bytes + (byte / kChunk ^ exchange) * kChunk + byte % kChunk;
}

int64_t token_of_stored_value(int64_t p) { return p / 16 * 16 + 8 * (p % 4 / 2) + 2 * (p % 16 / 4) + p % 2; }

float int8_inverse(float largest) { return 127.0f / std::max(largest, kSmallest); }
float int8_scale(float largest) { return std::max(largest, kSmallest) / 127.0f; }
int8_t int8_code(float x, float inverse) {
    return static_cast<int8_t>(std::clamp(std::nearbyintf(x * inverse), -128.0f, 127.0f));
}
float e4m3_inverse(float largest) { return 448.0f / std::max(largest, kSmallest); }

HopperTaps::HopperTaps(const Problem& p)
    : s(at(p.b * p.h * p.lq * p.columns()), -kInfinity),
      p_codes(s.size(), 0.0),
      row_max(at(p.b * p.h * p.key_tiles() * p.lq), -kInfinity),
      row_sum(row_max.size(), 0.0) {}

Output int8_attention(const Problem& p, const Sequences& sequences, const Values& q, const Values& q_scales,
                      const Values& k, const Values& k_scales, const Values& v, const Values& shift, HopperTaps* taps,
                      const HopperGiven* given) {
    Output out{Values(at(p.b * p.h * p.lq * p.d), 0.0), Values(at(p.b * p.h * p.lq), -kInfinity)};
    const double log2e = 1 / std::log(2.0);
    for (size_t i = 0; i < sequences.q.size(); ++i)
        for (int64_t head = 0; head < p.h; ++head)
            for (int64_t query = 0; query < sequences.q[i].length; ++query) {
                const Sequence &queries = sequences.q[i], &keys = sequences.k[i];
                const int64_t bh = queries.batch * p.h + head, line = bh * p.lq + queries.first + query;
                const int64_t kv = keys.batch * p.h_kv + p.kv_head(head), first = query / kTile * kTile;
                const Range range = p.visible(query, queries.length, keys.length);
                const double q_scale = q_scales[at(bh * p.lqp() + queries.stored + query)];
                Line row{.o = Values(at(p.dp()), 0.0)};
                for (const int64_t tile : visits(p, first, std::min(first + kTile, queries.length) - 1, queries.length,
                                                 keys.length)) {
                    const int64_t stored = keys.stored + tile * kTile, column = line * p.columns() + tile * kTile;
                    const double c = q_scale * k_scales[at((kv * p.lkp() + stored) / kTile)] * p.scale * log2e;
                    Values s(kTile, -kInfinity);
                    for (int64_t j = 0; j < kTile; ++j) {
                        const int64_t key = tile * kTile + j;
                        if (key < range.begin || key >= range.end) continue;
                        double dot = 0;
                        for (int64_t d = 0; d < p.dp(); ++d)
                            dot += q[at(line * p.dp() + d)] * k[at((kv * p.lkp() + stored + j) * p.dp() + d)];
                        s[at(j)] = dot * c;
                    }
                    const int64_t after = (bh * p.key_tiles() + tile) * p.lq + queries.first + query;
                    const double before = row.max;
                    row.max = std::max(row.max, *std::max_element(s.begin(), s.end()));
                    if (given) row.max = given->row_max[at(after)];
                    const double rescale = before == -kInfinity ? 0 : std::exp2(before - row.max);
                    row.sum *= rescale;
                    for (double& each : row.o) each *= rescale;
                    for (int64_t j = 0; j < kTile; ++j) {
                        const double exact = s[at(j)] == -kInfinity ? 0 : 448 * std::exp2(s[at(j)] - row.max);
                        const double weight = given ? given->p_codes[at(column + j)] : rounded_e4m3(exact);
                        if (taps) taps->s[at(column + j)] = s[at(j)], taps->p_codes[at(column + j)] = exact;
                        row.sum += weight;
                        if (weight == 0) continue;
                        for (int64_t d = 0; d < p.dp(); ++d)
                            row.o[at(d)] += weight * v[at((kv * p.lkp() + stored + j) * p.dp() + d)];
                    }
                    if (taps) taps->row_max[at(after)] = row.max, taps->row_sum[at(after)] = row.sum;
                }
                if (row.sum == 0) continue;
                for (int64_t d = 0; d < p.d; ++d) out.o[at(line * p.d + d)] = row.o[at(d)] / row.sum;
                out.lse[at(line)] = (row.max + std::log2(row.sum / 448)) / log2e + shift[at(line)] * p.scale;
            }
    return out;
}

}  // namespace ww::sage3
