// SPDX-License-Identifier: Apache-2.0
#include "emulator/module_image.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/text.hpp"
#include "emulator/symbols.hpp"

namespace ww::emulator {

using ptx::Linkage;
using ptx::StateSpace;

namespace {

constexpr uint64_t kMaxConstantBytes = 64 * 1024;

}  // namespace

Result<std::unique_ptr<ModuleImage>> ModuleImage::load(std::string_view text, const std::string& name,
                                                       machine::GlobalMemory& global, uint32_t serial) {
    WW_TRY(module, ptx::parse(text, name));
    if (module.address_size != 64)
        return fail(Diagnostic{.file = name, .message = "only .address_size 64 is supported"});
    std::unique_ptr<ModuleImage> image(new ModuleImage(global));
    image->module_ = std::make_shared<const ptx::Module>(std::move(module));
    uint32_t number = 0;
    for (const ptx::Function& function : image->module_->functions)
        if (image->memory_.code.try_emplace(function.name, machine::code_address(serial, number)).second) ++number;
    WW_TRY(placed, image->place_variables());
    (void)placed;
    return image;
}

ModuleImage::~ModuleImage() {
    for (const auto& entry : memory_.global) (void)global_.release(entry.second);
}

Status ModuleImage::place_variables() {
    uint64_t constant_end = 0;
    std::vector<std::pair<const ptx::Variable*, uint64_t>> placed;  // where to initialise
    for (const ptx::Variable& variable : module_->variables) {
        const bool constant = variable.space == StateSpace::constant;
        if (!constant && variable.space != StateSpace::global) continue;
        if (variable.linkage == Linkage::external) continue;
        if (variable.bytes() == 0)
            return fail(at_place(*module_, variable.place, fmt::format("'{}' of type {} has no size here", variable.name, variable.type_text)));
        if (constant) {
            const uint64_t align = std::max<uint64_t>(variable.alignment(), 1);
            const uint64_t at = (constant_end + align - 1) / align * align;
            constant_end = at + variable.bytes();
            if (constant_end > kMaxConstantBytes)
                return fail(at_place(*module_, variable.place, "the .const variables need more than 64 KiB"));
            memory_.constant[variable.name] = at;
            placed.emplace_back(&variable, at);
        } else {
            WW_TRY(address, global_.allocate(variable.bytes(), {fmt::format("variable {}", variable.name)}, true));
            memory_.global[variable.name] = address;
            placed.emplace_back(&variable, address);
        }
    }
    constant_.resize(constant_end);
    for (const auto& [variable, at] : placed) {
        uint8_t* to = variable->space == StateSpace::constant ? constant_.data() + at
                                                              : global_.find(at, variable->bytes())->data;
        WW_TRY(done, initialise(*variable, to));
        (void)done;
    }
    return ok();
}

Result<uint64_t> ModuleImage::address_of(const ptx::Initial& initial, ptx::Place place) const {
    uint64_t address = 0;
    if (const auto global = memory_.global.find(initial.symbol); global != memory_.global.end()) {
        address = global->second;
    } else if (const auto bank = memory_.constant.find(initial.symbol); bank != memory_.constant.end()) {
        address = bank->second + (initial.generic ? machine::kConstantWindow : 0);
    } else if (const auto code = memory_.code.find(initial.symbol); code != memory_.code.end()) {
        const ptx::Function* function = module_->function(initial.symbol);
        if (function->entry)
            return fail(at_place(*module_, place, fmt::format("unsupported: the initialiser takes the address of the kernel '{}'", initial.symbol)));
        address = code->second;
    } else {
        return fail(at_place(*module_, place,
                             fmt::format("the initialiser takes the address of '{}', which the emulator cannot place here", initial.symbol)));
    }
    return address + static_cast<uint64_t>(initial.addend);
}

Status ModuleImage::initialise(const ptx::Variable& variable, uint8_t* to) {
    const uint64_t element = variable.element_bytes();
    std::memset(to, 0, variable.bytes());
    for (size_t i = 0; i < variable.initial.size() && (i + 1) * element <= variable.bytes(); ++i) {
        const ptx::Initial& initial = variable.initial[i];
        uint64_t bits = initial.bits;
        if (!initial.symbol.empty()) {
            WW_TRY(address, address_of(initial, variable.place));
            bits = address & initial.mask;
            for (uint64_t mask = initial.mask; mask && !(mask & 0xff); mask >>= 8) bits >>= 8;
        }
        std::memcpy(to + i * element, &bits, std::min<uint64_t>(element, 8));
    }
    return ok();
}

Result<std::shared_ptr<const Kernel>> ModuleImage::kernel(const std::string& name) {
    std::shared_ptr<const Kernel>& slot = kernels_[name];
    if (!slot) {
        const ptx::Function* function = module_->function(name);
        if (!function || !function->entry) {
            const std::vector<std::string> names = nearest_first(name, kernel_names());
            kernels_.erase(name);
            return fail(Diagnostic{.file = module_->name,
                                   .message = fmt::format("no kernel '{}'; the module has: {}", name,
                                                          names.empty() ? "none" : join(names, ", "))});
        }
        Result<std::unique_ptr<Kernel>> decoded = decode(module_, name, memory_);
        if (!decoded) {
            kernels_.erase(name);
            return decoded.failure();
        }
        slot = std::move(*decoded);
    }
    return slot;
}

std::vector<std::string> ModuleImage::kernel_names() const {
    std::vector<std::string> names;
    for (const ptx::Function& function : module_->functions)
        if (function.entry) names.push_back(function.name);
    return names;
}

Result<machine::Region> ModuleImage::variable(const std::string& name) {
    if (const auto it = memory_.global.find(name); it != memory_.global.end()) return *global_.find(it->second, 1);
    const auto it = memory_.constant.find(name);
    for (const ptx::Variable& variable : module_->variables)
        if (it != memory_.constant.end() && variable.name == name)
            return machine::Region{.size = variable.bytes(), .data = constant_.data() + it->second, .name = name};
    return fail(Diagnostic{.file = module_->name, .message = fmt::format("no variable '{}' in the module", name)});
}

machine::Region ModuleImage::constant_bank() {
    return machine::Region{.size = constant_.size(), .data = constant_.data(), .writable = false, .name = "the .const bank"};
}

}  // namespace ww::emulator
