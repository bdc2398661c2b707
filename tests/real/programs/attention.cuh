// SPDX-License-Identifier: Apache-2.0
// Attention in float64, and how far from it a kernel may be that rounds the probabilities to a type
// of few bits. Rows lie as [position, head, dimension].
#pragma once
#include "program.cuh"

namespace real {

struct Attention {
    int queries, keys, query_heads, kv_heads, dimension;
    bool causal;  // the last query sees all keys
    double scale;
};

struct AttentionRow {
    std::vector<double> value, magnitude;  // per dimension: of p v and of p |v|
    double log2_sum = 0;                   // base 2
};

template <class T>
AttentionRow attend(const Attention& a, const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
                    int query, int head) {
    const int kv_head = head / (a.query_heads / a.kv_heads), d = a.dimension;
    const int seen = a.causal ? a.keys - a.queries + query + 1 : a.keys;
    std::vector<double> logits(seen);
    double most = -HUGE_VAL, sum = 0;
    for (int j = 0; j < seen; ++j) {
        double dot = 0;
        for (int i = 0; i < d; ++i)
            dot += double(float(q[(size_t(query) * a.query_heads + head) * d + i])) *
                   double(float(k[(size_t(j) * a.kv_heads + kv_head) * d + i]));
        logits[j] = dot * a.scale;
        most = std::max(most, logits[j]);
    }
    for (double& each : logits) sum += each = std::exp(each - most);
    AttentionRow row{std::vector<double>(d), std::vector<double>(d), (most + std::log(sum)) / std::log(2.0)};
    for (int j = 0; j < seen; ++j)
        for (int i = 0; i < d; ++i) {
            const double x = double(float(v[(size_t(j) * a.kv_heads + kv_head) * d + i])), p = logits[j] / sum;
            row.value[i] += p * x;
            row.magnitude[i] += p * std::fabs(x);
        }
    return row;
}

// Compares o [queries, query_heads, dimension]; accuracy: of the probabilities, relative.
template <class T, class F>
void compare_attention(Outcome& outcome, const Attention& a, const std::vector<T>& q, const std::vector<T>& k,
                       const std::vector<T>& v, const std::vector<T>& o, F&& half_ulp, double accuracy) {
    AttentionRow row;
    outcome.compare("o", o, [&](size_t i) {
        const int at = static_cast<int>(i % a.dimension);
        const size_t line = i / a.dimension;
        if (at == 0) row = attend(a, q, k, v, static_cast<int>(line / a.query_heads), static_cast<int>(line % a.query_heads));
        return Wanted{row.value[at], half_ulp(row.value[at]) + accuracy * row.magnitude[at]};
    });
}

// bound: of the logarithm, absolute.
template <class T>
void compare_log_sums(Outcome& outcome, const Attention& a, const std::vector<T>& q, const std::vector<T>& k,
                      const std::vector<T>& v, const std::vector<float>& sums, double bound = 1e-4) {
    outcome.compare("lse", sums, [&](size_t i) {
        const double value = attend(a, q, k, v, static_cast<int>(i / a.query_heads), static_cast<int>(i % a.query_heads)).log2_sum;
        return Wanted{value, bound};
    });
}

}  // namespace real
