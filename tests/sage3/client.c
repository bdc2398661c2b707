// SPDX-License-Identifier: Apache-2.0
// libsage3.so as a C11 program sees it, on a fake driver: what is launched where, what is refused, and that
// nothing else of the driver is called.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "sage3/sage3.h"

enum { kBatches = 2, kHeads = 4, kKvHeads = 2, kQueries = 130, kKeys = 200, kDim = 96 };

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n  message: %s\n  record:\n%s", __FILE__, __LINE__, #condition, \
                    sage3_message(), fake_record()); \
            exit(1); \
        } \
    } while (0)
#define CHECK_OK(call) CHECK((call) == SAGE3_OK)

static sage3* handle;
static void* workspace;
static uint64_t workspace_bytes;

static sage3_tensor tensor(int64_t heads, int64_t length) {
    sage3_tensor out = {NULL, heads * length * kDim, length * kDim, kDim};
    CHECK_OK(sage3_allocate(handle, (uint64_t)(kBatches * out.batch * 2), &out.data));
    return out;
}

static sage3_problem problem(void) {
    sage3_problem p = {.struct_bytes = sizeof p, .batches = kBatches, .heads = kHeads, .kv_heads = kKvHeads,
                       .queries = kQueries, .keys = kKeys, .head_dim = kDim, .type = SAGE3_BF16,
                       .causal = SAGE3_BOTTOM_RIGHT, .scale = 0.1f};
    p.q = tensor(kHeads, kQueries), p.o = tensor(kHeads, kQueries);
    p.k = tensor(kKvHeads, kKeys), p.v = tensor(kKvHeads, kKeys);
    return p;
}

static sage3_status run(const sage3_problem* p, void* stream) {
    return sage3_attention(handle, p, workspace, workspace_bytes, stream);
}

static int count(const char* word) {
    int found = 0;
    for (const char* at = fake_record(); (at = strstr(at, word)) != NULL; at += strlen(word)) ++found;
    return found;
}

static int lines(void) { return count("\n"); }

static int says(const char* text) { return strstr(sage3_message(), text) != NULL; }

/* The first call comes while a stream is captured; the second launches the same and loads nothing. */
static void launches_only(const sage3_problem* p) {
    void* stream = (void*)(uintptr_t)4242;
    fake_clear();
    fake_capture(1);
    CHECK_OK(run(p, stream));
    const int launches = count("Launch ");
    CHECK(launches > 1 && count(" stream 4242 ") == launches);
    CHECK(count("LibraryLoadData") >= 1 && lines() == launches + count("LibraryLoadData"));
    CHECK(strstr(fake_record(), "Launch sage3_attention stream 4242 ") != NULL);
    fake_clear();
    CHECK_OK(run(p, stream));
    fake_capture(0);
    CHECK(count("Launch ") == launches && lines() == launches);
    fake_clear();
    CHECK_OK(sage3_prepare(handle, p));
    CHECK(lines() == 0);
}

static void refused(const sage3_problem* p, sage3_status status, const char* text) {
    fake_clear();
    CHECK(run(p, NULL) == status);
    CHECK(says(text));
    CHECK(lines() == 0);
}

static void memory_is_checked(const sage3_problem* p) {
    static uint16_t on_the_host[1024];
    sage3_problem wrong = *p;
    wrong.k.data = on_the_host;
    refused(&wrong, SAGE3_INVALID, "no memory that CUDA knows; memory of GPU 0 is due");
    CHECK(strncmp(sage3_message(), "k is 0x", 7) == 0);
    wrong.k.data = NULL;
    refused(&wrong, SAGE3_INVALID, "k is null");
    fake_describe(p->v.data, 2, 1, 0);
    refused(p, SAGE3_INVALID, "memory of GPU 1; memory of GPU 0 is due");
    fake_describe(p->v.data, 1, 0, 0);
    refused(p, SAGE3_INVALID, "memory of the host");
    fake_describe(p->v.data, 1, 1, 1);  /* managed: any GPU can use it */
    CHECK_OK(run(p, NULL));
    fake_describe(p->v.data, 2, 0, 0);
    CHECK(sage3_attention(handle, p, on_the_host, 0, NULL) == SAGE3_INVALID);
}

static void other_gpus_are_refused(const sage3_problem* p) {
    fake_set_sm(80);
    refused(p, SAGE3_NO_DEVICE, "device is Fake GPU (GPU 0, sm_80): these kernels need sm_90, sm_120 or sm_121");
    fake_set_sm(121);
    CHECK_OK(sage3_prepare(handle, p));  /* compiled anew */
    CHECK(count("LibraryLoadData") >= 1);
    fake_set_sm(120);
}

static uint64_t due_on(int sm, const sage3_problem* p) {
    uint64_t bytes = 0;
    fake_set_sm(sm);
    CHECK_OK(sage3_workspace_bytes(handle, p, &bytes));
    fake_set_sm(120);
    return bytes;
}

/* Nobody on an sm_90 GPU pays for the biases of keys, which grow with the square of the length. */
static void workspace_is_for_the_gpus_that_are_here(void) {
    const int64_t heads = 56, tokens = 73774, dim = 128;
    const sage3_tensor x = {NULL, heads * tokens * dim, tokens * dim, dim};
    sage3_problem p = {.struct_bytes = sizeof p, .batches = 1, .heads = heads, .kv_heads = heads, .queries = tokens,
                       .keys = tokens, .head_dim = dim, .type = SAGE3_BF16, .causal = SAGE3_FULL, .scale = 0.1f,
                       .q = x, .k = x, .v = x, .o = x};
    const uint64_t of_120 = due_on(120, &p), of_90 = due_on(90, &p);
    printf("workspace of 73774 tokens of 56 heads: %.1f GB on sm_120, %.1f GB on sm_90\n", 1e-9 * (double)of_120, 1e-9 * (double)of_90);
    CHECK(of_90 > 3 * (uint64_t)(heads * tokens * dim) && of_90 < 2000000000u && of_120 > 12000000000u);
    CHECK(due_on(80, &p) == of_120);  /* none that has kernels: enough for each */
    p.flags = SAGE3_EXACT_FP4;
    CHECK(due_on(90, &p) > of_120 && due_on(120, &p) == of_120);  /* the same biases, and operands of two bytes */
    CHECK(due_on(80, &p) == due_on(90, &p));
}

static void a_failed_launch_is_named(const sage3_problem* p) {
    fake_fail("sage3_attention");
    CHECK(run(p, NULL) == SAGE3_FAILED);
    CHECK(says("sage3_attention: launch: CUDA_ERROR_LAUNCH_FAILED (719)"));
    fake_fail("");
    CHECK_OK(run(p, NULL));
    CHECK(!*sage3_message());
}

/* A thread without a context works in that of q, and has none afterwards. */
static void* without_context(void* argument) {
    const sage3_problem* p = argument;
    CHECK(fake_current() == NULL);
    CHECK_OK(run(p, NULL));
    CHECK(fake_current() == NULL);
    sage3_problem empty = *p;
    empty.q.data = NULL;
    CHECK(sage3_prepare(handle, &empty) == SAGE3_NO_DEVICE);
    CHECK(says("no CUDA context is current in this thread"));
    return NULL;
}

struct job {
    sage3_problem problem;
    void* context;
    void* workspace;
    pthread_t thread;
};

static void* one_of_many(void* argument) {
    struct job* job = argument;
    cuCtxSetCurrent(job->context);
    for (int i = 0; i < 50; ++i)
        CHECK_OK(sage3_attention(handle, &job->problem, job->workspace, workspace_bytes, (void*)argument));
    return NULL;
}

/* Threads that come at once to kernels that nobody has loaded: each is loaded once. */
static void many_threads(void* context, int loads) {
    struct job jobs[4];
    sage3_close(handle);
    CHECK_OK(sage3_open("cuda", &handle));
    for (int i = 0; i < 4; ++i) {
        jobs[i].problem = problem();
        jobs[i].context = context;
        CHECK_OK(sage3_allocate(handle, workspace_bytes, &jobs[i].workspace));
    }
    fake_clear();
    for (int i = 0; i < 4; ++i) CHECK(pthread_create(&jobs[i].thread, NULL, one_of_many, &jobs[i]) == 0);
    for (int i = 0; i < 4; ++i) CHECK(pthread_join(jobs[i].thread, NULL) == 0);
    CHECK(count("LibraryLoadData") == loads);
    CHECK(lines() == loads + count("Launch "));
}

static void no_compiler(const sage3_problem* p) {
    sage3_close(handle);
    CHECK_OK(sage3_open("cuda", &handle));
    setenv("WARPWRIGHT_NVRTC", "/nowhere/libnvrtc.so.13", 1);
    fake_clear();
    CHECK(run(p, NULL) == SAGE3_FAILED);
    CHECK(says("was not found at /nowhere/libnvrtc.so.13 (WARPWRIGHT_NVRTC): install it (pip install"));
    CHECK(lines() == 0);
    unsetenv("WARPWRIGHT_NVRTC");
    CHECK_OK(run(p, NULL));  /* the failure was not kept */
}

int main(void) {
    void* context = NULL;
    CHECK(sage3_open("emulator", &handle) == SAGE3_NO_DEVICE);
    CHECK_OK(sage3_open("cuda", &handle));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0);
    const sage3_problem p = problem();
    CHECK_OK(sage3_workspace_bytes(handle, &p, &workspace_bytes));
    CHECK_OK(sage3_allocate(handle, workspace_bytes, &workspace));
    fake_clear();
    launches_only(&p);
    memory_is_checked(&p);
    other_gpus_are_refused(&p);
    workspace_is_for_the_gpus_that_are_here();
    a_failed_launch_is_named(&p);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, without_context, (void*)&p) == 0 && pthread_join(thread, NULL) == 0);
    many_threads(context, 2);
    no_compiler(&p);
    CHECK_OK(sage3_release(handle, workspace));
    sage3_close(handle);
    printf("libsage3 %s\n", sage3_version());
    return 0;
}
