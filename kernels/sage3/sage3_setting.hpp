// SPDX-License-Identifier: Apache-2.0
// What the references of the ports share: the problem and sequences of a ladder's call, tensors as values, and loops over
// sequences and heads.
#pragma once
#include "references.hpp"
#include "sage3/sage3_reference.hpp"

namespace ww::sage3 {

inline size_t at(int64_t index) { return static_cast<size_t>(index); }

Values values_of(const port::Tensor& tensor);
// Writes as many values as the tensor has, where it is wanted.
Status fill(const ladder::LibraryCall& call, const char* name, port::Tensor* tensor, const Values& values);
Status fill_output(const ladder::LibraryCall& call, const char* name, const Values& values);

// The problem and where its sequences lie.
struct Setting {
    Problem p;
    Sequences sequences;
};
// Of a stage that has these inputs, and q_starts and k_starts among them where it says so.
Result<Setting> setting_of(const ladder::LibraryCall& call, std::initializer_list<std::string_view> inputs, bool q_starts,
                           bool k_starts);

// The mask's value for a query and key of a head; empty without one. An axis of extent 1 is the same for all.
MaskFunction mask_of(const ladder::LibraryCall& call, const Problem& problem);

// body(sequence's number, sequence, head, first row of x [BH, L, D]) for every sequence and head.
template <class F>
void for_each_head(const std::vector<Sequence>& sequences, int64_t heads, int64_t length, F body) {
    for (size_t i = 0; i < sequences.size(); ++i)
        for (int64_t head = 0; head < heads; ++head)
            body(static_cast<int64_t>(i), sequences[i], head,
                 (sequences[i].batch * heads + head) * length + sequences[i].first);
}

// Means over all tokens of each sequence: [sequences, heads, D].
Values means_of_sequences(const ladder::LibraryCall& call, const Problem& p, const std::vector<Sequence>& sequences,
                          const char* x_name, int64_t heads, int64_t length);

// [n, stored rows, D] -> [n, L, D]: the tokens alone.
Values without_padding(const Values& x, const std::vector<Sequence>& sequences, int64_t heads, int64_t rows, int64_t length,
                       int64_t d);

}  // namespace ww::sage3
