// SPDX-License-Identifier: Apache-2.0
// What a test asks the fake driver (fake_cuda.cpp), which is libcuda.so.1 to the library under test.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

const char* fake_record(void); /* a line a call, since the last fake_clear() */
void fake_clear(void);
void fake_set_sm(int sm);             /* compute capability of the GPU: 120 for 12.0 */
void fake_capture(int on);            /* a stream is being captured */
void fake_fail(const char* kernel);   /* launches of it fail; "": none */
void* fake_current(void);             /* the calling thread's context */
/* What the driver says about memory of its: CUmemorytype, GPU, managed. */
void fake_describe(void* memory, unsigned type, int ordinal, unsigned managed);
/* Of the driver itself. */
int cuDevicePrimaryCtxRetain(void** context, int ordinal);
int cuCtxSetCurrent(void* context);

#ifdef __cplusplus
}
#endif

#endif
