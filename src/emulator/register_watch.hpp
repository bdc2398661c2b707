// SPDX-License-Identifier: Apache-2.0
// Tells an observer of instructions that touch registers of wgmma: a second copy of the program, in
// which those instructions call it first. A launch that is not observed runs the first copy.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/decode.hpp"

namespace ww::emulator {

// Registers are numbered over the program. Of a product, accumulators are writes and fragments of A
// reads; a wgmma.fence names none.
struct RegisterUse {
    enum class Kind : uint8_t { other, product, fence };
    Kind kind = Kind::other;
    std::vector<uint32_t> reads, writes;
};
using OnRegisters = std::function<void(const machine::Warp&, const machine::Inst&, const RegisterUse&)>;

class RegisterWatch {
  public:
    RegisterWatch(const Kernel& kernel, OnRegisters observer);
    RegisterWatch(const RegisterWatch&) = delete;
    RegisterWatch& operator=(const RegisterWatch&) = delete;
    // Null: the kernel has no wgmma.
    const machine::Inst* code() const { return code_.empty() ? nullptr : code_.data(); }
    const std::string& name(uint32_t number) const { return names_[number]; }

  private:
    struct Watched {
        const RegisterWatch* watch;
        const machine::Inst* original;
        RegisterUse use;
    };
    static void run(machine::Warp& warp, const machine::Inst& inst);

    OnRegisters observer_;
    std::vector<machine::Inst> code_;
    std::vector<std::unique_ptr<Watched>> watched_;
    std::vector<std::string> names_;
};

}  // namespace ww::emulator
