// SPDX-License-Identifier: Apache-2.0
// One block of a grid without a program: tests put values into registers, run one instruction given
// as text and operands, and read registers and memory back. No PTX reader, no scheduler.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "isa/isa.hpp"
#include "isa/row.hpp"
#include "machine/block.hpp"
#include "machine/program.hpp"

namespace ww::isa {

using machine::kAllLanes;
using machine::kLanes;

// A register of 32 lanes, a predicate (width 0) or an immediate.
struct TestOperand {
    Operand::Kind kind = Operand::Kind::name;
    std::vector<machine::Operand> elements;
    int64_t displacement = 0;
    uint64_t value = 0;
    bool second = false;  // the p of d|p
};

class Bench {
  public:
    explicit Bench(uint32_t threads = 32, int sm = 90) : sm_(sm) {
        program_.functions.push_back({.register_bytes = 1 << 16});
        grid_.block_dim = {threads, 1, 1};
        grid_.static_shared_bytes = 16384;
        grid_.global = &global_;
        grid_.program = &program_;
        cluster_ = std::make_unique<machine::Cluster>(grid_, 0);
    }
    machine::Block& block() { return *cluster_->blocks[0]; }
    machine::Warp& warp(size_t i = 0) { return block().warps[i]; }
    machine::GlobalMemory& global() { return global_; }

    TestOperand reg(int width, int count = 1) {
        TestOperand operand;
        operand.kind = count > 1 ? Operand::Kind::vector : Operand::Kind::name;
        for (int i = 0; i < count; ++i) {
            operand.elements.push_back({.bank = machine::Bank::regs,
                                        .width = static_cast<uint8_t>(width),
                                        .offset = next_});
            next_ += 512;
        }
        return operand;
    }
    TestOperand predicate() { return reg(0); }
    TestOperand immediate(uint64_t value) {
        return {
            .kind = Operand::Kind::integer,
            .elements = {{.bank = machine::Bank::constants,
                          .offset = program_.constants.add(value, static_cast<uint32_t>(value))}},
            .value = value};
    }
    static TestOperand address(TestOperand base, int64_t displacement = 0) {
        base.kind = Operand::Kind::address;
        base.displacement = displacement;
        return base;
    }
    static TestOperand second(TestOperand p) {
        p.second = true;
        return p;
    }
    template <class T>
    T* values(const TestOperand& operand, size_t element = 0, size_t warp_index = 0) {
        return reinterpret_cast<T*>(warp(warp_index).registers + operand.elements[element].offset);
    }
    // Fits the text to its row and binds it; the error when there is one.
    std::string bind(const std::string& opcode, const std::vector<TestOperand>& operands) {
        Instruction instruction;
        instruction.opcode = opcode;
        for (const TestOperand& operand : operands) {
            isa::Operand written{.kind = operand.kind, .value = operand.value};
            if (operand.kind == Operand::Kind::vector)
                written.items.resize(operand.elements.size());
            if (operand.kind == Operand::Kind::address) written.items.resize(1);
            if (!operand.second) {
                instruction.operands.push_back(written);
                continue;
            }
            isa::Operand pair{.kind = Operand::Kind::pair,
                              .items = {instruction.operands.back(), written}};
            instruction.operands.back() = pair;
        }
        match(instruction);
        if (!instruction.row) return instruction.why;
        place(instruction, operands);
        Match found;
        found.row = instruction.row;
        found.choices = instruction.choices;
        found.target_sm = sm_;
        found.operands = infos_;
        Binding binding;
        if (!instruction.row->bind) return "no semantics";
        instruction.row->bind(found, binding);
        if (!binding.run) return binding.error;
        inst_.run = binding.run;
        inst_.aux = binding.aux;
        return "";
    }
    // Runs on one warp; true when it went on to the next instruction.
    bool run(const std::string& opcode, const std::vector<TestOperand>& operands,
             uint32_t active = kAllLanes, size_t warp_index = 0) {
        const std::string error = bind(opcode, operands);
        EXPECT_EQ(error, "") << opcode;
        return error.empty() && step(active, warp_index);
    }
    bool step(uint32_t active = kAllLanes, size_t warp_index = 0) {
        machine::Warp& w = warp(warp_index);
        w.constants = program_.constants.data();
        w.active = active & w.mask;
        w.next_pc = w.pc + 1;
        inst_.run(w, inst_);
        return w.next_pc == w.pc + 1;
    }

  private:
    void place(const Instruction& instruction, const std::vector<TestOperand>& operands) {
        args_.assign(instruction.positions.size(), {});
        infos_.assign(instruction.positions.size(), {});
        kept_.clear();
        for (size_t i = 0; i < args_.size(); ++i) {
            if (instruction.positions[i] < 0) {
                args_[i].elements = kept_.emplace_back(1).data();
                continue;
            }
            const TestOperand& operand = operands[static_cast<size_t>(instruction.positions[i])];
            args_[i].elements = kept_.emplace_back(operand.elements).data();
            args_[i].count = static_cast<uint16_t>(operand.elements.size());
            args_[i].displacement = operand.displacement;
            OperandInfo& info = infos_[i];
            size_t index = 0;  // the first that is not the sink
            while (index + 1 < operand.elements.size() &&
                   operand.elements[index].bank == machine::Bank::none)
                ++index;
            const machine::Operand& first = operand.elements[index];
            const bool is_register = first.bank == machine::Bank::regs;
            info.kind = operand.kind == Operand::Kind::address ? OperandInfo::Kind::address
                        : is_register && first.width == 0      ? OperandInfo::Kind::predicate
                                                               : OperandInfo::Kind::value;
            info.width = first.width;
            info.count = static_cast<int>(operand.elements.size());
            info.immediate = first.bank == machine::Bank::constants;
            info.value = operand.value;
        }
        inst_.args = args_.data();
        inst_.arg_count = static_cast<uint16_t>(args_.size());
    }

    int sm_;
    machine::GlobalMemory global_;
    machine::Program program_;
    machine::Grid grid_;
    std::unique_ptr<machine::Cluster> cluster_;
    uint32_t next_ = 0;
    machine::Inst inst_;
    std::vector<machine::Arg> args_;
    std::vector<OperandInfo> infos_;
    std::deque<std::vector<machine::Operand>> kept_;
};

}  // namespace ww::isa
