// SPDX-License-Identifier: Apache-2.0
// What the language can put into PTX: recursion, function pointers, printf, assert, textures,
// managed and constant data, switch tables, large parameters, double arithmetic.
__managed__ int counter = 3;
__constant__ float table[3][2] = {{1.5f, 2.0f}, {3.25f}};
__device__ const char* message = "a \"quoted\" text\n";
__device__ double wide[4] = {1e300, -0.0, 0.1};
struct Node { int value; Node* next; };
__device__ Node tail = {7, nullptr};
__device__ Node head = {1, &tail};

typedef float (*Function)(float);
__device__ __noinline__ float add_one(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ Function functions[2] = {add_one, twice};

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct Shape {
    __device__ virtual float area() const { return 0; }
};
struct Square : Shape {
    float side;
    __device__ float area() const override { return side * side; }
};

struct Large { int values[256]; };

extern "C" __global__ void __launch_bounds__(128, 2) features(float* out, Large large, int n, cudaTextureObject_t texture) {
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = tex2D<float>(texture, 1.f, 2.f) + table[n % 3][n & 1];
    __syncthreads();
    float v = functions[n & 1](dynamic[threadIdx.x ^ 1]) + large.values[n & 255];
    Square square;
    square.side = v;
    const Shape* shape = &square;
    assert(n >= 0);
    printf("%d %f %s", fibonacci(n), shape->area(), message);
    atomicAdd(&counter, head.next->value);
    switch (n) {
        case 0: v = sinf(v); break;
        case 1: v = __expf(v); break;
        case 2: v = powf(v, 1.7f); break;
        case 3: v = static_cast<float>(wide[n] / v); break;
        case 4: v = static_cast<float>(fmod(static_cast<double>(v), 3.0)); break;
        case 5: v = static_cast<float>(__clz(n) + __popc(n) + __brev(n)); break;
        case 6: __trap(); break;
        default: v = static_cast<float>(__umul64hi(clock64(), ~0ull / 3));
    }
    out[threadIdx.x] = v;
}
