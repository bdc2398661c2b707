// SPDX-License-Identifier: Apache-2.0
// Some rows of plain attention in double, by head, so that a large problem can be judged by a sample: what `bench` calls.
#include <algorithm>
#include <cmath>
#include <map>

#include "sage3/sage3_setting.hpp"

namespace ww::kernels {
namespace {

using ladder::LibraryCall;
using port::Tensor;
using sage3::at;
using sage3::Problem;
using sage3::Sequence;

// [L, D] of one head, by value.
sage3::Values head_of(const Tensor& x, int64_t head, int64_t length, int64_t d) {
    sage3::Values out(at(length * d));
    for (int64_t i = 0; i < length * d; ++i) out[at(i)] = x.get(head * length * d + i);
    return out;
}

// softmax(scale q k^T) v of one query against the keys first + begin to first + end - 1; zeros where there are none.
sage3::Values attend(const Problem& p, const double* q, const sage3::Values& k, const sage3::Values& v, int64_t first,
                     const sage3::Range& seen) {
    sage3::Values logits, out(at(p.d), 0.0);
    for (int64_t key = first + seen.begin; key < first + seen.end; ++key) {
        double sum = 0;
        for (int64_t d = 0; d < p.d; ++d) sum += q[d] * k[at(key * p.d + d)];
        logits.push_back(sum * p.scale);
    }
    if (logits.empty()) return out;
    const double most = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
        const double weight = std::exp(logits[i] - most);
        const auto key = static_cast<size_t>(first + seen.begin) + i;
        total += weight;
        for (size_t d = 0; d < out.size(); ++d) out[d] += weight * v[key * out.size() + d];
    }
    for (double& each : out) each /= total;
    return out;
}

}  // namespace

Status sage3_rows(const LibraryCall& call) {
    WW_TRY(setting, sage3::setting_of(call, {"q", "k", "v", "rows"}, true, true));
    const Problem& p = setting.p;
    if (p.mask != sage3::Mask::none) return fail("sage3_rows does not know masks: this case cannot be judged by rows");
    const Tensor& rows = call.input("rows");
    const int64_t count = rows.layout.shape[0];
    if (rows.layout.rank() != 2 || rows.layout.shape[1] != 3) return fail("sage3_rows takes rows as [batch, head, query]");
    WW_TRY(fits, call.require_elements("o", count * p.d));
    (void)fits;
    Tensor* o = call.output("o");
    std::map<int64_t, std::vector<int64_t>> of_head;  // rows, by b * H + h
    for (int64_t i = 0; i < count; ++i)
        of_head[static_cast<int64_t>(rows.code(3 * i)) * p.h + static_cast<int64_t>(rows.code(3 * i + 1))].push_back(i);
    for (const auto& [head, of] : of_head) {
        const int64_t batch = head / p.h, kv = batch * p.h_kv + p.kv_head(head % p.h);
        const sage3::Values q = head_of(call.input("q"), head, p.lq, p.d);
        const sage3::Values k = head_of(call.input("k"), kv, p.lk, p.d), v = head_of(call.input("v"), kv, p.lk, p.d);
        for (const int64_t i : of) {
            const auto query = static_cast<int64_t>(rows.code(3 * i + 2));
            for (size_t s = 0; s < setting.sequences.q.size(); ++s) {
                const Sequence &of_q = setting.sequences.q[s], &of_k = setting.sequences.k[s];
                if (of_q.batch != batch || query < of_q.first || query >= of_q.first + of_q.length) continue;
                const sage3::Range seen = p.visible(query - of_q.first, of_q.length, of_k.length);
                const sage3::Values row = attend(p, q.data() + query * p.d, k, v, of_k.first, seen);
                for (int64_t d = 0; d < p.d; ++d) o->set(i * p.d + d, row[at(d)]);
            }
        }
    }
    return ok();
}

}  // namespace ww::kernels
