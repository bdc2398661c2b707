// SPDX-License-Identifier: Apache-2.0
#include "sage3_hopper/hopper_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ww::sage3 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kSmallest = 1e-15f;

size_t at(int64_t index) { return static_cast<size_t>(index); }

// One query of one sequence and head.
struct Line {
    const Problem& p;
    const HopperOperands& operands;
    const HopperOptions& options;
    const Sequence &queries, &keys;
    int64_t bh, kv, query;

    int64_t line() const { return bh * p.lq + queries.first + query; }
    int64_t after(int64_t tile) const { return (bh * (p.columns() / kTile) + tile) * p.lq + queries.first + query; }
    int64_t row_of_key(int64_t key) const { return kv * p.lkp() + keys.stored + key; }

    // Logits times log2 e of a tile; -inf where hidden.
    Values logits(int64_t tile) const {
        const double log2e = 1 / std::log(2.0);
        const Range range = p.visible(query, queries.length, keys.length);
        const double c = operands.q_scales[at(bh * p.lqp() + queries.stored + query)] *
                         operands.k_scales[at(row_of_key(tile * kTile) / kTile)] * p.scale * log2e;
        Values s(kTile, -kInfinity);
        for (int64_t j = 0; j < kTile; ++j) {
            const int64_t key = tile * kTile + j;
            if (key < range.begin || key >= range.end) continue;
            double dot = 0;
            for (int64_t d = 0; d < p.dp(); ++d)
                dot += operands.q[at(line() * p.dp() + d)] * operands.k[at(row_of_key(key) * p.dp() + d)];
            s[at(j)] = dot * c + (options.mask ? options.mask(bh, query, key) * log2e : 0);
        }
        return s;
    }
};

// The running softmax of a query.
struct Running {
    double max = -kInfinity, sum = 0;
    Values o;

    void add_tile(const Line& line, int64_t tile) {
        const Problem& p = line.p;
        const HopperOptions& options = line.options;
        const Values s = line.logits(tile);
        const int64_t after = line.after(tile), column = line.line() * p.columns() + tile * kTile;
        const double before = max;
        max = std::max(max, *std::max_element(s.begin(), s.end()));
        if (options.given) max = options.given->row_max[at(after)];
        const double rescale = before == -kInfinity ? 0 : std::exp2(before - max);
        sum *= rescale;
        for (double& each : o) each *= rescale;
        for (int64_t j = 0; j < kTile; ++j) {
            const double exact = s[at(j)] == -kInfinity ? 0 : 448 * std::exp2(s[at(j)] - max);
            const double weight = options.given ? options.given->p_codes[at(column + j)] : rounded(numerics::Format::e4m3, exact);
            if (options.taps) options.taps->s[at(column + j)] = s[at(j)], options.taps->p_codes[at(column + j)] = exact;
            sum += weight;
            if (weight == 0) continue;
            for (int64_t d = 0; d < p.dp(); ++d)
                o[at(d)] += weight * line.operands.v[at(line.row_of_key(tile * kTile + j) * p.dp() + d)];
        }
        if (options.taps) options.taps->row_max[at(after)] = max, options.taps->row_sum[at(after)] = sum;
    }
};

}  // namespace

int64_t code_bytes_index(int64_t row, int64_t byte, int64_t row_bytes) {
    constexpr int64_t kChunk = 16, kLine = 128;
    const int64_t exchange = row / (kLine / row_bytes) % (row_bytes / kChunk);
    return row * row_bytes + (byte / kChunk ^ exchange) * kChunk + byte % kChunk;
}

int64_t int8_index(int64_t row, int64_t channel, int64_t row_bytes) {
    constexpr int64_t kPanel = 128;  // channels of a tile's rows that lie together
    if (row_bytes <= kPanel) return code_bytes_index(row, channel, row_bytes);
    const int64_t panel = row / kTile * (row_bytes / kPanel) + channel / kPanel;
    return code_bytes_index(panel * kTile + row % kTile, channel % kPanel, kPanel);
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
      row_max(at(p.b * p.h * (p.columns() / kTile) * p.lq), -kInfinity),
      row_sum(row_max.size(), 0.0) {}

Output int8_attention(const Problem& p, const Sequences& sequences, const HopperOperands& operands, const HopperOptions& options) {
    Output out{Values(at(p.b * p.h * p.lq * p.d), 0.0), Values(at(p.b * p.h * p.lq), -kInfinity)};
    for (size_t i = 0; i < sequences.q.size(); ++i)
        for (int64_t head = 0; head < p.h; ++head)
            for (int64_t query = 0; query < sequences.q[i].length; ++query) {
                const Sequence &queries = sequences.q[i], &keys = sequences.k[i];
                const Line line{p, operands, options, queries, keys, queries.batch * p.h + head,
                                keys.batch * p.h_kv + p.kv_head(head), query};
                const int64_t first = query / kTile * kTile, last = std::min(first + kTile, queries.length) - 1;
                Running row{.o = Values(at(p.dp()), 0.0)};
                for (const int64_t tile : visits(p, first, last, queries.length, keys.length, kTile)) row.add_tile(line, tile);
                if (row.sum == 0) continue;
                const int64_t mean = (static_cast<int64_t>(i) * p.h_kv + p.kv_head(head)) * p.d;
                for (int64_t d = 0; d < p.d; ++d)
                    out.o[at(line.line() * p.d + d)] =
                        row.o[at(d)] / row.sum + (options.v_mean ? (*options.v_mean)[at(mean + d)] : 0);
                out.lse[at(line.line())] =
                    (row.max + std::log2(row.sum / 448)) * std::log(2.0) + operands.shift[at(line.line())] * p.scale;
            }
    return out;
}

}  // namespace ww::sage3
