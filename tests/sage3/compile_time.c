// SPDX-License-Identifier: Apache-2.0
// How long libsage3.so takes to its kernels: cold (NVRTC, empty cache) and from the cache (a new handle:
// look-up and read of the cubins), on a fake driver, so that no GPU's loading is in the figures. Then what a call takes of
// the host's time, the fake driver's note of it included, where the kernels are there.
//   compile_time FOLDER LIMIT_COLD_S LIMIT_CACHED_MS    exit code 1 beyond a limit; FOLDER becomes the cache
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake_cuda.h"
#include "sage3/sage3.h"

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wall time, and processor time of all threads: on a machine that is busy with other things the smaller counts. */
struct took {
    double wall, cpu;
};

static void must(sage3_status status) {
    if (status == SAGE3_OK) return;
    fprintf(stderr, "%s\n", sage3_message());
    exit(1);
}

static struct took prepare(const sage3_problem* p) {
    sage3* handle = NULL;
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(sage3_open("cuda", &handle));
    must(sage3_prepare(handle, p));
    const struct took out = {seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu};
    sage3_close(handle);
    return out;
}

static void time_calls(sage3_problem p, int sm) {
    enum { kCalls = 2000, kRuns = 10 };
    sage3* handle = NULL;
    void *memory = NULL, *workspace = NULL;
    uint64_t due = 0;
    fake_set_sm(sm);
    must(sage3_open("cuda", &handle));
    must(sage3_workspace_bytes(handle, &p, &due));
    must(sage3_allocate(handle, 4096, &memory));
    must(sage3_allocate(handle, due, &workspace));
    p.q.data = p.k.data = p.v.data = p.o.data = memory;
    double best = 1;
    for (int run = 0; run <= kRuns; ++run) {  /* the first compiles */
        const double begin = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < kCalls; ++i) {
            fake_clear();
            must(sage3_attention(handle, &p, workspace, due, NULL));
        }
        const double took = (seconds(CLOCK_MONOTONIC) - begin) / kCalls;
        if (run > 0 && took < best) best = took;
    }
    printf("a call on sm_%d: %.1f us of the host's time\n", sm, 1e6 * best);
    sage3_release(handle, workspace);
    sage3_release(handle, memory);
    sage3_close(handle);
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    setenv("WARPWRIGHT_CACHE", argv[1], 1);
    void* context = NULL;
    if (cuDevicePrimaryCtxRetain(&context, 0) != 0 || cuCtxSetCurrent(context) != 0) return 1;
    double worst_cold = 0, worst_cached = 0;
    for (int i = 0; i < 4; ++i) {
        const int64_t dim = i & 1 ? 128 : 64;
        const int64_t heads = 8, length = 1024;
        const sage3_tensor x = {NULL, heads * length * dim, length * dim, dim};
        const sage3_problem p = {.struct_bytes = sizeof p, .batches = 1, .heads = heads, .kv_heads = heads,
                                 .queries = length, .keys = length, .head_dim = dim,
                                 .type = i & 2 ? SAGE3_BF16 : SAGE3_F16, .causal = SAGE3_FULL, .scale = 0.1f,
                                 .q = x, .k = x, .v = x, .o = x};
        const struct took cold = prepare(&p);
        struct took cached = prepare(&p);
        for (int repeat = 0; repeat < 20; ++repeat) {
            const struct took again = prepare(&p);
            if (again.wall < cached.wall) cached = again;
        }
        printf("%-4s head_dim %3d: cold %.2f s (%.2f s of processor time), cached %.2f ms\n",
               p.type == SAGE3_F16 ? "f16" : "bf16", (int)dim, cold.wall, cold.cpu, 1e3 * cached.wall);
        const double alone = cold.wall < cold.cpu ? cold.wall : cold.cpu;
        if (alone > worst_cold) worst_cold = alone;
        if (cached.wall > worst_cached) worst_cached = cached.wall;
        if (i == 3)
            for (int sm = 90; sm <= 120; sm += 30) time_calls(p, sm);
    }
    if (worst_cold > atof(argv[2]) || 1e3 * worst_cached > atof(argv[3])) {
        fprintf(stderr, "beyond the limit: %.2f s cold (%s), %.2f ms cached (%s)\n", worst_cold, argv[2],
                1e3 * worst_cached, argv[3]);
        return 1;
    }
    return 0;
}
