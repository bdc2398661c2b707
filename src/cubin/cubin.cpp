// SPDX-License-Identifier: Apache-2.0
// ELF sections and symbols -> Cubin. How NVIDIA lays a cubin out is not published; every rule here
// was found by comparing images with what cuobjdump, nvdisasm and ptxas -v say about them.
#include "cubin/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/target.hpp"
#include "base/text.hpp"
#include "cubin/elf.hpp"
#include "cubin/nv_info.hpp"
#include "cubin/parts.hpp"

namespace ww::cubin {
namespace {

constexpr uint32_t kTypeInfo = 0x70000000;
constexpr uint64_t kFlagExecutable = 4;
// sm_100 and later carry a second description of every kernel, for later finalisation: sections
// named .nv.merc.* and .nv.capmerc.*, marked so. The first one is the code that runs.
constexpr uint64_t kFlagMercury = 0x10000000;
constexpr uint8_t kTypeFunction = 2, kOtherEntry = 0x10;
constexpr uint64_t kReservedShared = 1024;
constexpr int kFirstReservedSm = 90;
constexpr uint8_t kAbiOfCuda13 = 8;

bool is_code(const Section& section) {
    return (section.flags & kFlagExecutable) != 0 && (section.flags & kFlagMercury) == 0;
}

// N of ".nv.constantN" or ".nv.constantN.<function>"; -1: another name.
int constant_bank(std::string_view name) {
    constexpr std::string_view kPrefix = ".nv.constant";
    if (name.substr(0, kPrefix.size()) != kPrefix) return -1;
    name.remove_prefix(kPrefix.size());
    int bank = 0;
    size_t digits = 0;
    for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
        if (bank < 1000) bank = bank * 10 + (name[digits] - '0');
    if (digits == 0 || (digits < name.size() && name[digits] != '.')) return -1;
    return bank;
}

class Reader {
  public:
    Reader(const Elf& elf, const std::string& file, Cubin& cubin)
        : elf_(elf), file_(file), cubin_(cubin) {}

    Status run() {
        WW_TRY(functions, read_functions());
        (void)functions;
        for (const Section& section : elf_.sections) {
            if ((section.flags & kFlagMercury) != 0) continue;
            Kernel* kernel = section.info < owner_.size() && owner_[section.info] >= 0
                                 ? &cubin_.kernels[static_cast<size_t>(owner_[section.info])]
                                 : nullptr;
            WW_TRY(read, kernel ? read_function_section(section, *kernel) : read_section(section));
            (void)read;
        }
        for (Kernel& kernel : cubin_.kernels) finish(kernel);
        std::stable_partition(cubin_.kernels.begin(), cubin_.kernels.end(),
                              [](const Kernel& kernel) { return kernel.entry; });
        return ok();
    }

  private:
    // Functions in order of their code. owner_: of a code section, the function that its other
    // sections (.nv.info.*, .nv.shared.*, ...) describe; functions_: by symbol.
    Status read_functions() {
        std::vector<uint32_t> symbols;
        for (size_t i = 1; i < elf_.symbols.size(); ++i) {
            const Symbol& symbol = elf_.symbols[i];
            if (symbol.type == kTypeFunction && symbol.section != 0 &&
                is_code(elf_.sections[symbol.section]))
                symbols.push_back(static_cast<uint32_t>(i));
        }
        const auto is_entry = [&](uint32_t i) {
            return (elf_.symbols[i].other & kOtherEntry) != 0;
        };
        std::sort(symbols.begin(), symbols.end(), [&](uint32_t a, uint32_t b) {
            const Symbol &x = elf_.symbols[a], &y = elf_.symbols[b];
            if (x.section != y.section) return x.section < y.section;
            if (is_entry(a) != is_entry(b)) return is_entry(a);
            if (x.value != y.value) return x.value < y.value;
            return a < b;
        });
        owner_.assign(elf_.sections.size(), -1);
        functions_.assign(elf_.symbols.size(), -1);
        cubin_.kernels.reserve(symbols.size());
        for (const uint32_t i : symbols) {
            const Symbol& symbol = elf_.symbols[i];
            WW_TRY(kernel, describe(symbol, is_entry(i)));
            functions_[i] = static_cast<int64_t>(cubin_.kernels.size());
            if (owner_[symbol.section] < 0)
                owner_[symbol.section] = functions_[i];
            else
                kernel.inside = cubin_.kernels[static_cast<size_t>(owner_[symbol.section])].name;
            cubin_.kernels.push_back(std::move(kernel));
        }
        return ok();
    }

    Result<Kernel> describe(const Symbol& symbol, bool entry) const {
        const Section& section = elf_.sections[symbol.section];
        if (symbol.value > section.bytes.size() ||
            symbol.size > section.bytes.size() - symbol.value)
            return bad(file_,
                       fmt::format("damaged: function {} takes 0x{:x} bytes from byte 0x{:x} "
                                   "of section {} on, which has 0x{:x}",
                                   symbol.name, symbol.size, symbol.value, section.name,
                                   section.bytes.size()));
        Kernel kernel;
        kernel.name = symbol.name;
        kernel.entry = entry;
        kernel.section = symbol.section;
        kernel.section_offset = symbol.value;
        kernel.code_bytes = symbol.size;
        kernel.code = section.bytes.substr(static_cast<size_t>(symbol.value),
                                           static_cast<size_t>(symbol.size));
        // Up to CUDA 12 the flags of a code section hold its number of barriers; later .nv.info.
        if (elf_.abi_version < kAbiOfCuda13 && entry)
            kernel.barriers = static_cast<int>(section.flags >> 20 & 0x7f);
        return kernel;
    }

    Status read_function_section(const Section& section, Kernel& kernel) {
        if (section.type == kTypeInfo) {
            WW_TRY(attributes, read_attributes(section, file_));
            for (const Attribute& attribute : attributes) {
                WW_TRY(applied, apply_attribute(attribute, true, kernel, file_));
                (void)applied;
            }
        } else if (const int bank = constant_bank(section.name); bank >= 0) {
            kernel.constant_bytes[bank] = section.size;
        } else if (starts_with(section.name, ".nv.local.")) {
            kernel.local_bytes = section.size;
        } else if (starts_with(section.name, ".nv.shared.")) {
            // From sm_90 on nvlink (ptxas without -c runs its work too) puts the system's first KiB
            // ahead of what the program declared.
            const bool reserved = !cubin_.relocatable && cubin_.sm >= kFirstReservedSm &&
                                  section.size >= kReservedShared;
            kernel.reserved_shared_bytes = reserved ? kReservedShared : 0;
            kernel.static_shared_bytes = section.size - kernel.reserved_shared_bytes;
        }
        return ok();
    }

    Status read_section(const Section& section) {
        if (section.type == kTypeInfo) {
            WW_TRY(attributes, read_attributes(section, file_));
            for (const Attribute& attribute : attributes) {
                WW_TRY(symbol, symbol_of(attribute, file_));
                if (symbol < 0) continue;
                if (static_cast<uint64_t>(symbol) >= functions_.size())
                    return bad(file_, fmt::format("damaged: an attribute of {} (at byte 0x{:x}) "
                                                  "describes symbol {} of {}",
                                                  section.name, attribute.offset, symbol,
                                                  functions_.size()));
                const int64_t function = functions_[static_cast<size_t>(symbol)];
                if (function < 0) continue;  // a function that is defined in another file
                WW_TRY(applied,
                       apply_attribute(attribute, false,
                                       cubin_.kernels[static_cast<size_t>(function)], file_));
                (void)applied;
            }
        } else if (const int bank = constant_bank(section.name); bank >= 0) {
            cubin_.constant_bytes[bank] += section.size;
        } else if (section.name == ".nv.global" || section.name == ".nv.global.init") {
            cubin_.global_bytes += section.size;
        } else if (section.name == ".nv_debug_ptx_txt") {
            cubin_.ptx = std::string(section.bytes);
            std::replace(cubin_.ptx.begin(), cubin_.ptx.end(), '\0', '\n');
        }
        return ok();
    }

    static void finish(Kernel& kernel) {
        std::stable_sort(
            kernel.parameters.begin(), kernel.parameters.end(),
            [](const Parameter& a, const Parameter& b) { return a.ordinal < b.ordinal; });
    }

    const Elf& elf_;
    const std::string& file_;
    Cubin& cubin_;
    std::vector<int64_t> owner_, functions_;  // indices into cubin_.kernels; -1: none
};

}  // namespace

const Kernel* Cubin::find(std::string_view name) const {
    for (const Kernel& kernel : kernels)
        if (kernel.name == name) return &kernel;
    return nullptr;
}

Result<Cubin> read(std::string_view bytes, const std::string& name) {
    WW_TRY(elf, read_elf(bytes, name));
    Cubin cubin;
    cubin.relocatable = elf.type == kElfRelocatable;
    WW_TRY(origin, read_origin(elf, name, cubin));
    (void)origin;
    WW_TRY(functions, Reader(elf, name, cubin).run());
    (void)functions;
    return cubin;
}

}  // namespace ww::cubin
