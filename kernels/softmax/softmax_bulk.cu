// SPDX-License-Identifier: Apache-2.0
// Row softmax for Hopper: the form of softmax_cp_async with bulk copies. One thread asks for a whole
// piece of a row, and an mbarrier a buffer says when its bytes are there; the block works through
// kRowsPerBlock rows with the next piece on its way. Grid: ceil(rows / 4). Block: 128. Runs on sm_90
// and later. The same bits as softmax_plain.
#include "../common/ptx_bulk.cuh"
#include "../common/ptx_cp_async.cuh"
#include "softmax_common.cuh"

using namespace softmax;

namespace {

constexpr unsigned kRowsPerBlock = 4;
constexpr unsigned kChunk = 1024;  // columns; a multiple of kThreads, so columns keep their thread
constexpr unsigned kVector = 8;    // bf16 values in one 16-byte copy

struct Smem {
    // A chunk keeps its global address modulo 16 bytes, hence the room for one more vector.
    alignas(16) Bf16 buffer[2][kChunk + kVector];
    alignas(8) unsigned long long arrived[2];  // mbarriers: the buffer's piece is there
    float partial_max[kWarps];
    float partial_sum[kWarps];
};

// One step of the pipeline: a chunk of a row in one of its passes.
struct Step {
    unsigned row, column, visible, count, pass, misaligned;
    const Bf16* from;
};

__device__ __forceinline__ Step step_at(const Params& params, unsigned first_row, unsigned index,
                                        unsigned chunks, unsigned passes) {
    Step step;
    step.row = first_row + index / (passes * chunks);
    step.pass = index / chunks % passes;
    step.column = index % chunks * kChunk;
    step.visible = visible_columns(params, step.row);
    const unsigned left = step.visible > step.column ? step.visible - step.column : 0u;
    step.count = left < kChunk ? left : kChunk;
    step.from = params.scores + static_cast<size_t>(step.row) * params.lk + step.column;
    step.misaligned = static_cast<unsigned>(reinterpret_cast<size_t>(step.from) % 16 / sizeof(Bf16));
    return step;
}

// Whole 16-byte vectors by one bulk copy; the elements before and after them by ordinary loads.
__device__ __forceinline__ void start_load(const Step& step, Bf16* buffer, unsigned mbarrier) {
    const unsigned to_boundary = (kVector - step.misaligned) % kVector;
    const unsigned head = to_boundary < step.count ? to_boundary : step.count;
    const unsigned tail = head + (step.count - head) / kVector * kVector;
    Bf16* to = buffer + step.misaligned;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        const unsigned bytes = (tail - head) * sizeof(Bf16);
        ptx::mbarrier_arrive_expect_tx_relaxed_cta(mbarrier, bytes);
        if (bytes > 0) ptx::cp_async_bulk_shared_global(ptx::cvta_to_shared(to + head), step.from + head, bytes, mbarrier);
    }
    if (t < head) to[t] = step.from[t];
    if (t < step.count - tail) to[tail + t] = step.from[tail + t];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
softmax_bulk(const Bf16* scores, float* p_f32, Bf16* p_bf16, unsigned rows, unsigned lq, unsigned lk,
             float scale, unsigned causal
#if WW_TAPS
             ,
             float* row_max, float* row_sum
#endif
) {
    __shared__ Smem smem;
    Params params{scores, p_f32, p_bf16, rows, lq, lk, scale, causal};
#if WW_TAPS
    params.row_max = row_max;
    params.row_sum = row_sum;
#endif
    const float scale2 = scale_base2(params);
    const unsigned first_row = blockIdx.x * kRowsPerBlock;
    const unsigned my_rows = rows - first_row < kRowsPerBlock ? rows - first_row : kRowsPerBlock;
    const unsigned chunks = (lk + kChunk - 1) / kChunk;
    const unsigned passes = chunks == 1 ? 1 : 3;
    const unsigned steps = my_rows * passes * chunks;

    float max = minus_infinity(), sum = 0.0f, base = 0.0f, inverse = 0.0f;
    Step now = step_at(params, first_row, 0, chunks, passes);
    const unsigned arrived = ptx::cvta_to_shared(smem.arrived);  // the second one lies 8 bytes behind
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(arrived, 1);
        ptx::mbarrier_init(arrived + 8, 1);
        ptx::fence_mbarrier_init_release_cluster();
    }
    ptx::bar_sync(0);
    start_load(now, smem.buffer[0], arrived);
    for (unsigned index = 0; index < steps; ++index) {
        Step next = now;
        if (index + 1 < steps) {
            next = step_at(params, first_row, index + 1, chunks, passes);
            start_load(next, smem.buffer[(index + 1) % 2], arrived + (index + 1) % 2 * 8);
        }
        while (!ptx::mbarrier_try_wait_parity(arrived + index % 2 * 8, index / 2 % 2)) {
        }
        ptx::bar_sync(0);  // and the elements at its ends are there

        const Bf16* row = smem.buffer[index % 2] + now.misaligned;
        const bool last_chunk = now.column + kChunk >= lk;
        const bool whole = passes == 1;
        if (whole || now.pass == 0) {
            if (now.column == 0) max = minus_infinity();
            for (unsigned j = threadIdx.x; j < now.count; j += kThreads)
                max = ptx::max_f32(max, ptx::mul_rn_f32(widen(row[j]), scale2));
            if (last_chunk) max = block_max(max, smem.partial_max);
        }
        if (whole || now.pass == 1) {
            base = finite_base(max);
            if (now.column == 0) sum = 0.0f;
            for (unsigned j = threadIdx.x; j < now.count; j += kThreads)
                sum = ptx::add_rn_f32(sum, numerator(row[j], scale2, base));
            if (last_chunk) {
                sum = block_sum(sum, smem.partial_sum);
                store_taps(params, now.row, max, sum);
            }
        }
        if (whole || now.pass == 2) {
            inverse = reciprocal(sum);
            const size_t first = static_cast<size_t>(now.row) * lk + now.column;
            const unsigned end = lk - now.column < kChunk ? lk - now.column : kChunk;
            for (unsigned j = threadIdx.x; j < now.count; j += kThreads)
                store(params, first + j, ptx::mul_rn_f32(numerator(row[j], scale2, base), inverse));
            for (unsigned j = now.count + threadIdx.x; j < end; j += kThreads)
                store(params, first + j, 0.0f);
        }
        // Everyone is done with this buffer; a bulk copy of the next step may overwrite what ordinary
        // stores put at the ends of this piece.
        ptx::fence_proxy_async_shared_cta();
        ptx::bar_sync(0);
        now = next;
    }
}
