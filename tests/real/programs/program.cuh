// SPDX-License-Identifier: Apache-2.0
// What every program here shares: inputs that depend on nothing but a seed, device arrays, the
// comparison with float64, the file of raw outputs. An ordinary CUDA program: it runs on a GPU, and
// without one by `warpwright run`.
//
//     PROGRAM [--long] [OUTPUTS]
//
// --long: a problem in which rings of stages wrap several times and blocks compute several tiles, for
// mutants of synchronisation (tests/mutation/sync); what is recorded of GPUs is of the short one.
// OUTPUTS receives the bytes of all outputs, one after the other. stdout has a line a comparison.
// Exit code 0: everything within its bound, 1: not, 2: wrong usage or an error of CUDA.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace real {

// splitmix64
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t bound) { return next() % bound; }
    // Multiples of 2^-20 from -1 to 1: the same on every host.
    float uniform() { return static_cast<float>(static_cast<int>(below((1u << 21) + 1)) - (1 << 20)) / (1 << 20); }

  private:
    uint64_t state_;
};

inline void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(2);
}

template <class T>
std::vector<T> uniform(size_t count, uint64_t seed, float scale = 1) {
    Random random(seed);
    std::vector<T> values(count);
    for (T& each : values) each = T(scale * random.uniform());
    return values;
}

// Integers from -most to most, so that sums do not depend on their order.
template <class T>
std::vector<T> integers(size_t count, uint64_t seed, int most) {
    Random random(seed);
    std::vector<T> values(count);
    for (T& each : values) each = T(static_cast<float>(static_cast<int>(random.below(2 * most + 1)) - most));
    return values;
}

// Device memory for a scope. Made from a count alone it is filled with zero.
template <class T>
class Array {
  public:
    explicit Array(size_t count) : count_(count) {
        check(cudaMalloc(&data_, bytes()), "cudaMalloc");
        check(cudaMemset(data_, 0, bytes()), "cudaMemset");
    }
    explicit Array(const std::vector<T>& values) : count_(values.size()) {
        check(cudaMalloc(&data_, bytes()), "cudaMalloc");
        check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    T* get() const { return static_cast<T*>(data_); }
    size_t bytes() const { return count_ * sizeof(T); }
    std::vector<T> host() const {
        std::vector<T> values(count_);
        check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return values;
    }

  private:
    void* data_ = nullptr;
    size_t count_;
};

// What an element should be, and how far from it a right kernel may be.
struct Wanted {
    double value, bound;
};

class Outcome {
  public:
    Outcome(int argc, char** argv) : long_(argc > 1 && std::strcmp(argv[1], "--long") == 0) {
        const int files = argc - 1 - (long_ ? 1 : 0);
        if (files > 1) {
            std::fprintf(stderr, "usage: %s [--long] [OUTPUTS]\n", argv[0]);
            std::exit(2);
        }
        if (files == 1 && !(file_ = std::fopen(argv[argc - 1], "wb"))) {
            std::fprintf(stderr, "cannot write %s\n", argv[argc - 1]);
            std::exit(2);
        }
    }
    bool is_long() const { return long_; }

    // Waits for the kernels and fails when one did.
    void launched(const char* what) {
        check(cudaGetLastError(), what);
        check(cudaDeviceSynchronize(), what);
    }

    template <class T>
    void keep(const std::vector<T>& values) {
        if (file_ && std::fwrite(values.data(), sizeof(T), values.size(), file_) != values.size()) {
            std::fprintf(stderr, "cannot write the outputs\n");
            std::exit(2);
        }
    }

    // wanted(i) -> Wanted. Keeps the values too.
    template <class T, class F>
    void compare(const char* name, const std::vector<T>& got, F&& wanted) {
        keep(got);
        double worst = 0, error_there = 0, bound_there = 0;
        size_t at = 0, wrong = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            const Wanted want = wanted(i);
            const double error = std::fabs(static_cast<double>(static_cast<float>(got[i])) - want.value);
            const double share = want.bound > 0 ? error / want.bound : error == 0 ? 0 : HUGE_VAL;
            if (!(share <= 1)) ++wrong;
            if (!(share <= worst)) worst = share, error_there = error, bound_there = want.bound, at = i;
        }
        std::printf("{\"output\": \"%s\", \"values\": %zu, \"wrong\": %zu, \"at\": %zu, \"error\": %.6g, "
                    "\"bound\": %.6g}\n", name, got.size(), wrong, at, error_there, bound_there);
        failed_ |= wrong > 0;
    }

    int finish() {
        if (file_ && std::fclose(file_) != 0) {
            std::fprintf(stderr, "cannot write the outputs\n");
            return 2;
        }
        return failed_ ? 1 : 0;
    }

  private:
    bool long_;
    std::FILE* file_ = nullptr;
    bool failed_ = false;
};

// Half the distance between neighbours of a format with so many significant bits, near value; the
// least exponent keeps it above zero.
inline double half_ulp(double value, int significant_bits, int least_exponent) {
    int exponent = least_exponent;
    if (value != 0) exponent = std::max(std::ilogb(value), least_exponent);
    return std::ldexp(1.0, exponent - significant_bits);
}
inline double half_ulp_bf16(double value) { return half_ulp(value, 8, -126); }
inline double half_ulp_f16(double value) { return half_ulp(value, 11, -14); }
inline double half_ulp_f32(double value) { return half_ulp(value, 24, -126); }
inline double half_ulp_e4m3(double value) { return half_ulp(value, 4, -6); }

}  // namespace real
