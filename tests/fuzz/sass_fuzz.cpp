// SPDX-License-Identifier: Apache-2.0
// read_listing and analyse on any bytes. An input that starts with '#' is code only, "# sm_90a" and
// lines: it gets section and offsets here, so that lines may come and go.
// links: sass base
// seeds: tests/fuzz/sass
#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "fuzz.hpp"
#include "seed_files.hpp"
#include "sass/analysis.hpp"

namespace {

using namespace ww::sass;

void demand(bool condition) {
    if (!condition) __builtin_trap();
}

std::string assembled(std::string_view code) {
    const size_t first = std::min(code.find('\n'), code.size());
    std::string out = "\t.target\t" + std::string(ww::trim(code.substr(1, first - 1))) +
                      "\n\t.section\t.text.k,\"ax\",@progbits\nk:\n";
    int offset = 0;
    for (const std::string_view line : ww::split(code.substr(first), '\n')) {
        const bool whole =
            line.empty() || line.front() == '/' || line.front() == '.' || line.ends_with(':');
        if (!whole) {
            char place[16];
            std::snprintf(place, sizeof place, "  /*%04x*/ ", offset);
            out += place;
            offset += 16;
        }
        out.append(line).append(whole ? "\n" : " ;\n");
    }
    return out;
}

void check_listing(const Listing& listing, const Function& function) {
    const std::string_view text = *listing.text;
    const auto inside = [&](std::string_view view) {
        demand(view.empty() || (view.data() >= text.data() &&
                                view.data() + view.size() <= text.data() + text.size()));
    };
    const int count = static_cast<int>(function.instructions.size());
    for (const Instruction& each : function.instructions) {
        for (const std::string_view view : {each.guard, each.opcode, each.operands, each.jumps})
            inside(view);
        demand(each.target < count && each.chain < static_cast<int>(function.chains.size()));
        demand(ww::sass::text(control_of(each.words)).size() == 19);
    }
    for (const Label& each : function.labels)
        demand(each.instruction >= 0 && each.instruction <= count);
}

void check_loops(const Analysis& analysis) {
    const Graph& graph = analysis.graph;
    demand(analysis.loops.size() == graph.loops.size());
    for (size_t i = 0; i < graph.loops.size(); ++i) {
        const Loop& loop = graph.loops[i];
        const LoopAnalysis& known = analysis.loops[i];
        demand(loop.parent < static_cast<int>(i) && loop.depth <= kDeepestLoop);
        demand(std::is_sorted(loop.blocks.begin(), loop.blocks.end()));
        for (const int block : loop.blocks) demand(graph.dominates(loop.header, block));
        for (const int latch : loop.latches)
            demand(std::binary_search(loop.blocks.begin(), loop.blocks.end(), latch));
        int instructions = 0;
        for (const auto& [first, end] : graph.ranges(loop)) instructions += end - first;
        demand(known.all.total == instructions && known.own.total <= instructions);
        demand(!known.trip.count || *known.trip.count > 0);
    }
}

void check(const Listing& listing, const Function& function) {
    check_listing(listing, function);
    const auto rates = rates_of(listing.target);
    const Analysis analysis = analyse(function, rates ? std::optional(*rates) : std::nullopt);
    check_loops(analysis);
    int lines = analysis.without_line.total;
    for (const auto& [line, counts] : analysis.by_line) lines += counts.total;
    demand(lines == analysis.total.total &&
           analysis.total.total == static_cast<int>(function.instructions.size()));
    for (const NarrowAccess& each : analysis.narrow)
        demand(each.instead > 0 && each.instructions.size() > 1 && each.wide_bits > each.bits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto listing =
        read_listing(input.starts_with('#') ? assembled(input) : std::string(input), "fuzz.sass");
    if (!listing) {  // a failure must say why, and where
        demand(!listing.error().empty() && listing.error()[0].file == "fuzz.sass");
        return 0;
    }
    for (const Function& each : listing->functions) check(*listing, each);
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() { return seed_files("tests/fuzz/sass"); }

std::vector<std::string> ww_fuzz_words() {
    return {"@P0 ",
            "@!UP1 ",
            "BRA `(a)\n",
            "BRA `(b)\n",
            "a:\n",
            "b:\n",
            "EXIT\n",
            "R0",
            "R255",
            "R2.64",
            "UR4",
            "RZ",
            "-",
            "0x0",
            "0x4",
            "-0x8",
            "0x7fffffffffffffff",
            "-0x7fffffffffffffff",
            "PT",
            "P0",
            ".64",
            ".128",
            ".WIDE",
            ".x128",
            ".x4294967297",
            ".F64",
            ".64x256x16",
            ".168",
            ".SP",
            "[R2",
            "]",
            "desc[UR6]",
            "`(",
            ")",
            ", ",
            ";",
            "/*0010*/",
            "/* 0x1 */",
            "(*\"BRANCH_TARGETS ",
            "\"*)",
            "IADD3 R0, R0, 0x1, RZ\n",
            "NOP\n",
            "ISETP.NE.AND P0, PT, R0, 0x8, PT\n",
            "LDS R4, [R2]\n",
            "LDS R5, [R2+0x4]\n",
            ".section\t.text.k,",
            ".type a,@function\n",
            "//## File \"k.cu\", line 9\n",
            "#"};
}
