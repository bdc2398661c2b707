// SPDX-License-Identifier: Apache-2.0
#include "sass/estimate.hpp"

#include <algorithm>

namespace ww::sass {

std::string Estimate::bound() const {
    size_t most = 0;
    for (size_t i = 1; i < kPipes; ++i)
        if (pipe[i] > pipe[most]) most = i;
    return pipe[most] > issue ? std::string(name(static_cast<Pipe>(most))) : "issue";
}

double Estimate::cycles() const {
    return std::max(issue, *std::max_element(pipe.begin(), pipe.end()));
}

double Estimator::tensor_cycles(const Instruction& instruction) {
    const auto work = tensor_work(instruction.opcode);
    const int rate = !work ? 0
                           : (work->warpgroup ? rates_.wgmma : rates_.mma)[static_cast<size_t>(work->type)];
    if (rate == 0) {
        ++sum_.tensor_unknown;
        return 0;
    }
    // A warpgroup's four warps share the work and the tensor cores of the multiprocessor.
    const double share = work->warpgroup ? 1 : kSchedulers;
    return static_cast<double>(work->multiply_adds()) * share / rate;
}

void Estimator::add(const Instruction& instruction) {
    constexpr double kLanes = 32;
    sum_.issue += 1;
    if (instruction.words[1] != 0) {
        const Control control = control_of(instruction.words);
        sum_.scheduled = std::max(sum_.scheduled, 0) + scheduled_cycles(control);
    }
    const Pipe pipe = classify(instruction.opcode).pipe;
    double& sum = sum_.pipe[static_cast<size_t>(pipe)];
    if (pipe == Pipe::tensor) {
        sum += tensor_cycles(instruction);
    } else if (pipe == Pipe::shared) {
        sum += static_cast<double>(shared_bytes(instruction.opcode)) / rates_.shared_bytes * kSchedulers;
    } else if (const int lanes = rates_.lanes[static_cast<size_t>(pipe)]; lanes > 0) {
        sum += kLanes * kSchedulers / lanes;
    }
}

}  // namespace ww::sass
