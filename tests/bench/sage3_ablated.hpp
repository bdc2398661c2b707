// SPDX-License-Identifier: Apache-2.0
// The reference algorithm of sage3 from tensors to output, with a part of it left out: for the table of sage3_ablation and
// for the unit tests.
#pragma once
#include <string>

#include "port/distribution.hpp"
#include "sage3/sage3_reference.hpp"
#include "sage3/sage3_setting.hpp"

namespace ww::sage3 {

struct Data {
    std::string name;
    Problem problem;
    Values q, k, v;  // [BH, L, D], values of f16
};

enum class QMean { block, global, none };
struct Variant {
    std::string name;
    bool smooth_k = true;
    QMean q_mean = QMean::block;
    bool smooth_v = false;
    PQuantisation p = PQuantisation::two_level;
};

// q, k and v of a problem with one batch and as many key heads as heads.
Result<Data> generated(std::string name, const Problem& problem, const port::Distribution& q, const port::Distribution& k,
                       const port::Distribution& v, uint64_t seed);

// o [BH, L, D].
Values ablated_attention(const Data& data, const Variant& variant);

struct Errors {
    double cosine = 0, relative_l2 = 0, relative_l1 = 0;
};
Errors errors_of(const Values& got, const Values& truth);

}  // namespace ww::sage3
