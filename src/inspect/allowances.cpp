// SPDX-License-Identifier: Apache-2.0
// resources.txt: read, written, and made from a build.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "inspect/gate.hpp"

namespace ww::inspect {
namespace {

constexpr std::string_view kMadeWith = "# Made with ";

// Lines of one kernel, in order: registers, spill_bytes, loop...
class FileReader {
  public:
    explicit FileReader(const std::string& file) : file_(file) {}

    Result<Allowances> read(const std::string& text) {
        for (const std::string_view whole : split(text, '\n')) {
            ++line_;
            if (whole.starts_with(kMadeWith)) out_.made_with = trim(whole.substr(kMadeWith.size()));
            const std::string_view line = trim(whole.substr(0, whole.find('#')));
            if (line.empty()) continue;
            WW_TRY(taken, take(split_words(line), line));
            (void)taken;
        }
        WW_TRY(ended, end_kernel());
        (void)ended;
        return std::move(out_);
    }

  private:
    Status take(const std::vector<std::string_view>& words, std::string_view line) {
        if (words[0] == "kernel" && words.size() == 3) return begin_kernel(fmt::format("{} {}", words[1], words[2]));
        if (!kernel_) return mistake(line, "expected 'kernel FILES NAME'");
        if (words[0] == "registers" && words.size() == 2) return number(words[1], kernel_->registers, seen_registers_);
        if (words[0] == "spill_bytes" && words.size() == 2) return number(words[1], kernel_->spill_bytes, seen_spills_);
        if (words[0] == "main_loop" && words.size() == 3) {
            if (kernel_->main_loop) return mistake(line, "this stands here twice");
            Allowance::MainLoop main;
            WW_TRY(pair, numbers(words, main.instructions, main.mufu));
            (void)pair;
            kernel_->main_loop = main;
            return ok();
        }
        if (words[0] == "loop" && words.size() == 3) {
            int64_t depth = 0;
            Allowance::Loop loop;
            WW_TRY(pair, numbers(words, depth, loop.instructions));
            (void)pair;
            if (depth < 1 || depth > 1000) return mistake(line, "a loop's depth is 1 or more");
            loop.depth = static_cast<int>(depth);
            kernel_->loops.push_back(loop);
            return ok();
        }
        return mistake(line, "expected 'registers N', 'spill_bytes N', 'main_loop INSTRUCTIONS MUFU', 'loop DEPTH INSTRUCTIONS' or "
                             "'kernel FILES NAME'");
    }

    Status begin_kernel(const std::string& name) {
        WW_TRY(ended, end_kernel());
        (void)ended;
        const auto [place, fresh] = out_.kernels.try_emplace(name);
        if (!fresh) return mistake(name, fmt::format("this kernel stands in line {} already", place->second.line));
        kernel_ = &place->second;
        kernel_->line = line_;
        seen_registers_ = seen_spills_ = false;
        return ok();
    }

    Status end_kernel() const {
        if (kernel_ && (!seen_registers_ || !seen_spills_))
            return fail(Diagnostic{.file = file_, .line = kernel_->line,
                                   .message = "this kernel needs a line 'registers N' and a line 'spill_bytes N'"});
        return ok();
    }

    Status number(std::string_view word, int64_t& value, bool& seen) {
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size() || value < 0)
            return mistake(word, "expected a number, 0 or more");
        if (seen) return mistake(word, "this stands here twice");
        seen = true;
        return ok();
    }

    Status numbers(const std::vector<std::string_view>& words, int64_t& first, int64_t& second) {
        bool fresh = false;
        WW_TRY(one, number(words[1], first, fresh));
        (void)one;
        fresh = false;
        return number(words[2], second, fresh);
    }

    Status mistake(std::string_view line, const std::string& message) const {
        return fail(Diagnostic{.file = file_, .line = line_, .message = message, .source_line = std::string(line)});
    }

    std::string file_;
    int line_ = 0;
    Allowances out_;
    Allowance* kernel_ = nullptr;
    bool seen_registers_ = false, seen_spills_ = false;
};

}  // namespace

Result<Allowances> read_allowances(const std::string& text, const std::string& file) {
    return FileReader(file).read(text);
}

std::string to_text(const Allowances& allowances) {
    const bool tensor = std::any_of(allowances.kernels.begin(), allowances.kernels.end(),
                                    [](const auto& each) { return each.second.main_loop.has_value(); });
    std::string out =
        "# What the compiler may use for each kernel of this port; `warpwright asm gate` fails when it\n"
        "# uses more. `warpwright asm gate PORT --record` writes this file. loop DEPTH INSTRUCTIONS: outer\n"
        "# loops first, the instructions of inner ones counted too.\n";
    if (tensor) out += "# main_loop INSTRUCTIONS MUFU: of the main loop, inner ones not counted, for 64 tensor instructions.\n";
    out += fmt::format("{}{}\n", kMadeWith, allowances.made_with);
    for (const auto& [name, kernel] : allowances.kernels) {
        out += fmt::format("\nkernel {}\n  registers {}\n  spill_bytes {}\n", name, kernel.registers, kernel.spill_bytes);
        if (kernel.main_loop) out += fmt::format("  main_loop {} {}\n", kernel.main_loop->instructions, kernel.main_loop->mufu);
        for (const Allowance::Loop& loop : kernel.loops)
            out += fmt::format("  loop {} {}\n", loop.depth, loop.instructions);
    }
    return out;
}

Result<Allowances> used_by(const AsmInfo& info) {
    Allowances out;
    out.made_with = fmt::format("nvrtc {}, ptxas {}", info.nvrtc_version, info.ptxas_version);
    for (const KernelInfo& kernel : info.kernels) {
        const std::string& source = kernel.image->source;
        if (!kernel.analysis)
            return fail(Diagnostic{.file = source, .message = fmt::format("{} has no listing, so its loops cannot be counted: {}",
                                                                          kernel.name, kernel.image->sass_missing)});
        if (!kernel.ptxas)
            return fail(Diagnostic{.file = source,
                                   .message = fmt::format("{} is given as a cubin: ptxas did not say what it spills", kernel.name)});
        Allowance& used = out.kernels[fmt::format("{}.{} {}", kernel.image->stem, kernel.target, kernel.name)];
        used.registers = kernel.resources.registers;
        used.spill_bytes = static_cast<int64_t>(kernel.ptxas->spill_store_bytes + kernel.ptxas->spill_load_bytes);
        if (const auto main = sass::main_loop_of(*kernel.analysis))
            used.main_loop = {static_cast<int64_t>(std::ceil(main->instructions)), static_cast<int64_t>(std::ceil(main->mufu))};
        for (size_t i = 0; i < kernel.analysis->loops.size(); ++i)
            used.loops.push_back({kernel.analysis->graph.loops[i].depth, kernel.analysis->loops[i].all.total});
    }
    return out;
}

}  // namespace ww::inspect
