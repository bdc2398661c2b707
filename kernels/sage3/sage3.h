// SPDX-License-Identifier: Apache-2.0
// Sage Attention 3 as a C API (C11): o = softmax(scale q k^T + mask) v, in FP4 on sm_120 and sm_121 (emulated; not yet run
// on silicon), in INT8 and FP8 on sm_90, or there, with SAGE3_EXACT_FP4, in the numbers of FP4. How to use it:
// docs/sage3.md.
//
// Kernels are in the library, compiled by NVRTC at first use, and kept on disk. A call allocates nothing on
// the device and waits for nothing: it launches on the caller's stream, in the caller's current context.
// Any number of threads may use one handle at once; only sage3_close() wants it alone.
#ifndef SAGE3_H
#define SAGE3_H

#include <stdint.h>

#if defined(__GNUC__)
#define SAGE3_API __attribute__((visibility("default")))
#else
#define SAGE3_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sage3 sage3;

/* What calls return. Whatever it is, sage3_message() tells more. */
typedef enum sage3_status {
    SAGE3_OK = 0,
    SAGE3_FAILED = 1,    /* a compiler or the device failed */
    SAGE3_INVALID = 2,   /* an argument is wrong or unsupported: nothing was launched */
    SAGE3_NO_DEVICE = 77 /* no such device, or not one that runs these kernels */
} sage3_status;

typedef enum sage3_type { SAGE3_F16 = 0, SAGE3_BF16 = 1 } sage3_type;

/* Which keys query i sees of Lk: all; j <= i + Lk - Lq (the last query sees the last key); j <= i. */
typedef enum sage3_causal {
    SAGE3_FULL = 0,
    SAGE3_BOTTOM_RIGHT = 1,
    SAGE3_TOP_LEFT = 2
} sage3_causal;

/* What an element of the mask is: a byte, 0 of which hides the key; or what is added to the scaled logit (-inf hides
 * the key), in the type of q or in float. */
typedef enum sage3_mask {
    SAGE3_NO_MASK = 0,
    SAGE3_MASK_BYTES = 1,
    SAGE3_MASK_OF_TYPE = 2,
    SAGE3_MASK_F32 = 3
} sage3_mask;

/* For sage3_problem.flags. */
enum {
    SAGE3_WINDOW = 1,        /* query i sees keys i' - window_left to i' + window_right alone, i' = i + Lk - Lq (i
                                with SAGE3_TOP_LEFT), and of these what `causal` leaves */
    SAGE3_GLOBAL_Q_MEAN = 2, /* one mean for all queries of a head instead of one for each 128: less exact, and
                                less workspace (keys * 4 bytes a head instead of for each 128 queries). Of INT8, on
                                sm_90, q has a scale for each query and keeps its mean: no effect there */
    SAGE3_SMOOTH_V = 4,      /* v is quantised without the mean of its keys, which is added to o */
    SAGE3_EXACT_FP4 = 8      /* the numbers of FP4 on every GPU: q, k, v and the weights are quantised as on sm_120, to
                                the bit, and multiplied in f16 on sm_90, where it costs speed; nothing else on sm_120 */
};

/* Device memory [batch, head, token, channel], strides in elements; channels are contiguous. */
typedef struct sage3_tensor {
    void* data; /* 2-byte aligned */
    int64_t batch, head, token;
} sage3_tensor;

/* Range in FP4: |v| above 2688 is clipped to it, as are q and k this far from their means; a group of 16 values
 * none of which reaches 6 / 1024 becomes zeros. Differences from the means must fit the type. A NaN in q
 * makes its block of 128 queries NaN, one in k its head, one in v its channel of its head. */
typedef struct sage3_problem {
    uint64_t struct_bytes;   /* sizeof(sage3_problem): a later library knows what an older caller sets */
    int64_t batches, heads, kv_heads, queries, keys, head_dim; /* head_dim 1 to 256; kv_heads divides heads */
    sage3_type type;         /* of q, k, v and o */
    sage3_causal causal;
    float scale;             /* of the logits, > 0; head_dim^-0.5 is usual */
    sage3_tensor q;          /* [batches, heads, queries, head_dim] */
    sage3_tensor k, v;       /* [batches, kv_heads, keys, head_dim]; not changed */
    sage3_tensor o;          /* [batches, heads, queries, head_dim]; zeros in a row that sees no key */
    void* lse;               /* float [batches, heads, queries] without gaps, natural logarithm, -inf in
                                a row that sees no key; may be null */
    uint32_t flags;          /* SAGE3_WINDOW, SAGE3_GLOBAL_Q_MEAN, SAGE3_SMOOTH_V, SAGE3_EXACT_FP4 */
    int64_t window_left, window_right; /* with SAGE3_WINDOW: keys before and after; -1: all */
    sage3_mask mask_type;
    sage3_tensor mask;       /* [batches, heads, queries, keys], `token` strides queries; stride 0 repeats */
    /* Sequences of different lengths: batches is 1, and tokens starts[s] to starts[s + 1] - 1 of q and o, and of
     * k and v, are sequence s. 0: each batch is one. queries and keys are of all together. */
    int64_t sequences;
    const int32_t *q_starts, *k_starts; /* device memory, [sequences + 1], from 0 on, not falling */
    int64_t longest_queries, longest_keys; /* what is beyond of a longer sequence is left out */
} sage3_problem;

/* device: "cuda". *handle is set to null unless the result is SAGE3_OK. */
SAGE3_API sage3_status sage3_open(const char* device, sage3** handle);
/* What was launched through it must have ended. */
SAGE3_API void sage3_close(sage3* handle);

/* How much workspace sage3_attention() wants for the problem, on any GPU that the process sees (where it sees none, on
 * any that has kernels). Reads no data pointer, and asks of lse only whether it is there. */
SAGE3_API sage3_status sage3_workspace_bytes(sage3* handle, const sage3_problem* problem, uint64_t* bytes);

/* Compiles what the problem needs and loads it into the current context, so that the first
 * sage3_attention() only launches. Data pointers may be null. */
SAGE3_API sage3_status sage3_prepare(sage3* handle, const sage3_problem* problem);

/* Launches on the stream (a CUstream or cudaStream_t; null: the context's default one) and returns. The
 * workspace, 256-byte aligned, and the tensors stay the kernels' until the stream has come past them; calls
 * that may run at the same time need a workspace each. May be captured in a CUDA graph, also when it is the
 * first call. Where the thread has no current context, the one that q was allocated in is taken. */
SAGE3_API sage3_status sage3_attention(sage3* handle, const sage3_problem* problem, void* workspace,
                                       uint64_t workspace_bytes, void* stream);

/* Why the calling thread's last call failed; empty after one that did not. Lives until its next call. */
SAGE3_API const char* sage3_message(void);
SAGE3_API const char* sage3_version(void);

/* Memory of the handle's device, for programs that have no other way to it. These do wait. */
SAGE3_API sage3_status sage3_allocate(sage3* handle, uint64_t bytes, void** memory);
SAGE3_API sage3_status sage3_release(sage3* handle, void* memory);
SAGE3_API sage3_status sage3_copy_in(sage3* handle, void* to, const void* from, uint64_t bytes);
SAGE3_API sage3_status sage3_copy_out(sage3* handle, void* to, const void* from, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
