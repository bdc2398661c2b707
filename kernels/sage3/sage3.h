// SPDX-License-Identifier: Apache-2.0
// Sage Attention 3 as a C API: o = softmax(scale q k^T) v in FP4, for sm_120a. Emulated; not yet run
// on silicon. Kernels are compiled at first use (NVRTC) into an on-disk cache. Thread safety: one
// handle, one thread at a time.
#ifndef WW_SAGE3_H
#define WW_SAGE3_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ww_sage3 ww_sage3;

/* What calls return. Whatever it is, ww_sage3_message tells more. */
typedef enum ww_sage3_status {
    WW_SAGE3_OK = 0,
    WW_SAGE3_FAILED = 1,    /* a compiler or the device failed */
    WW_SAGE3_INVALID = 2,   /* an argument is wrong or unsupported: nothing was launched */
    WW_SAGE3_NO_DEVICE = 77 /* no such device, or not one that runs these kernels */
} ww_sage3_status;

typedef enum ww_sage3_type { WW_SAGE3_F16 = 0, WW_SAGE3_BF16 = 1 } ww_sage3_type;

/* Which keys query i sees of Lk: all; j <= i + Lk - Lq (the last query sees the last key); j <= i. */
typedef enum ww_sage3_causal {
    WW_SAGE3_FULL = 0,
    WW_SAGE3_BOTTOM_RIGHT = 1,
    WW_SAGE3_TOP_LEFT = 2
} ww_sage3_causal;

/* Device memory [batch, head, token, channel], strides in elements; channels are contiguous. */
typedef struct ww_sage3_tensor {
    void* data; /* 2-byte aligned */
    int64_t batch, head, token;
} ww_sage3_tensor;

/* Range: |v| above 2688 is clipped to it, as are q and k this far from their means; a group of 16 values
 * none of which reaches 6 / 1024 becomes zeros. Differences from the means must fit the type. A NaN in q
 * makes its block of 128 queries NaN, one in k its head, one in v its channel of its head. */
typedef struct ww_sage3_problem {
    int64_t batches, heads, kv_heads, queries, keys, head_dim; /* head_dim 1 to 128; kv_heads divides heads */
    ww_sage3_type type;      /* of q, k, v and o */
    ww_sage3_causal causal;
    float scale;             /* of the logits, > 0; head_dim^-0.5 is usual */
    ww_sage3_tensor q;       /* [batches, heads, queries, head_dim] */
    ww_sage3_tensor k, v;    /* [batches, kv_heads, keys, head_dim]; not changed */
    ww_sage3_tensor o;       /* [batches, heads, queries, head_dim]; zeros in a row that sees no key */
    void* lse;               /* float [batches, heads, queries] without gaps, natural logarithm, -inf in
                                a row that sees no key; may be null */
} ww_sage3_problem;

/* device: "emulator" or "cuda". *handle is set, also on failure, so that the message can be read;
 * close it in any case. */
ww_sage3_status ww_sage3_open(const char* device, ww_sage3** handle);
void ww_sage3_close(ww_sage3* handle);

/* Runs and waits for the end. On "cuda" pointers of the device's primary context are taken. */
ww_sage3_status ww_sage3_attention(ww_sage3* handle, const ww_sage3_problem* problem);

/* Why the last call failed; empty after one that did not. Lives until the next call. */
const char* ww_sage3_message(const ww_sage3* handle);

/* Memory of the handle's device, for programs that have no other way to it. */
ww_sage3_status ww_sage3_allocate(ww_sage3* handle, uint64_t bytes, void** memory);
ww_sage3_status ww_sage3_release(ww_sage3* handle, void* memory);
ww_sage3_status ww_sage3_copy_in(ww_sage3* handle, void* to, const void* from, uint64_t bytes);
ww_sage3_status ww_sage3_copy_out(ww_sage3* handle, void* to, const void* from, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
