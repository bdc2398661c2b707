// SPDX-License-Identifier: Apache-2.0
// How long src/sass takes for a kernel of 20,000 instructions: reading the listing and analysing
// it, without nvdisasm. Fails above one second of processor time, for usual code and for the worst
// shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "sass/analysis.hpp"

namespace {

using namespace ww::sass;

constexpr int kInstructions = 20000;
constexpr double kLimit = 1.0;  // seconds
constexpr int kSkipped = 77;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// A listing as nvdisasm -c -hex -gi -gp writes it.
class Text {
  public:
    Text()
        : out_(
              "\t.target\tsm_90a\n\t.section\t.text.k,\"ax\",@progbits\n"
              "        .type           k,@function\nk:\n.text.k:\n") {}

    void add(const std::string& instruction) {
        out_ += fmt::format(
            "        /*{:04x}*/  {:>4} {} ;{:60}/* 0x00000a00ff017b82 */\n{:90}"
            "/* 0x000fe20000000800 */\n",
            count_ * 16, "", instruction, "", "");
        ++count_;
    }
    void label(int number) { out_ += fmt::format(".L_x_{}:\n", number); }
    void line(int number) {
        out_ += fmt::format(
            "\t//## File \"include/tile.cuh\", line {} inlined at \"kernel.cu\", line {}\n"
            "\t//## File \"kernel.cu\", line {}\n"
            "\t//## File \".nv_debug_ptx_txt\", line {}\n",
            number % 700, number % 90, number % 90, number);
    }
    int count() const { return count_; }
    const std::string& text() const { return out_; }

  private:
    std::string out_;
    int count_ = 0;
};

// What an unrolled kernel has between its branches.
void add_work(Text& text, int count) {
    for (int i = 0; i < count; ++i) {
        const int at = text.count(), r = at % 200;
        if (at % 2 == 0) text.line(at);
        switch (at % 8) {
            case 0:
                text.add(fmt::format("LDG.E R{}, desc[UR6][R{}.64+0x{:x}]", r, (at / 64) % 60 * 4,
                                     at % 16 * 4));
                break;
            case 1:
                text.add(
                    fmt::format("LDS.64 R{}, [R{}+UR4+0x{:x}]", r, (at / 32) % 240, at % 32 * 8));
                break;
            case 2:
                text.add(
                    fmt::format("HMMA.16816.F32.BF16 R{0}, R{1}, R{1}, R{0}", r, (at / 8) % 200));
                break;
            case 3:
                text.add(
                    fmt::format("@!P1 STS [R{}+0x{:x}], R{}", (at / 64) % 240, at % 64 * 4, r));
                break;
            case 4:
                text.add(fmt::format("IMAD.WIDE.U32 R{}, R{}, 0x4, R{}", r, r, (at / 4) % 100));
                break;
            case 5:
                text.add(fmt::format("ISETP.GE.U32.AND P{}, PT, R{}, UR5, PT", at % 6 + 1, r));
                break;
            default:
                text.add(fmt::format("FFMA.FTZ R{}, R{}, R{}, R{}", r, (at + 1) % 200,
                                     (at + 2) % 200, r));
        }
    }
}

// Loops of a counter, nested three deep, with branches inside.
std::string usual() {
    Text text;
    for (int label = 0; text.count() < kInstructions - 160; label += 5) {
        for (int depth = 0; depth < 3; ++depth) {
            text.add(fmt::format("MOV R{}, RZ", 201 + depth));
            text.label(label + depth);
            add_work(text, 18);
        }
        text.add(fmt::format("@P2 BRA `(.L_x_{})", label + 3));
        add_work(text, 24);
        text.label(label + 3);
        add_work(text, 24);
        for (int depth = 3; depth-- > 0;) {
            text.add(fmt::format("IADD3 R{0}, R{0}, 0x1, RZ", 201 + depth));
            text.add(fmt::format("ISETP.NE.AND P0, PT, R{}, 0x40, PT", 201 + depth));
            text.add(fmt::format("@P0 BRA `(.L_x_{})", label + depth));
        }
        text.label(label + 4);
    }
    while (text.count() < kInstructions - 1) add_work(text, 1);
    text.add("EXIT");
    return text.text();
}

void end_loop(Text& text, int label) {
    text.line(text.count());
    text.add("IADD3 R0, R0, 0x1, RZ");
    text.add("ISETP.NE.AND P0, PT, R0, 0x7fffffff, PT");
    text.add(fmt::format("@P0 BRA `(.L_x_{})", label));
}

std::string loops_in_a_row() {
    Text text;
    text.add("MOV R0, RZ");
    for (int i = 0; i < kInstructions / 4; ++i) {
        text.label(i);
        text.add("NOP");
        end_loop(text, i);
    }
    text.add("EXIT");
    return text.text();
}

std::string loops_in_each_other() {
    Text text;
    text.add("MOV R0, RZ");
    for (int i = 0; i < kInstructions / 4; ++i) {
        text.label(i);
        text.add("NOP");
    }
    for (int i = kInstructions / 4; i-- > 0;) end_loop(text, i);
    text.add("EXIT");
    return text.text();
}

// Accesses at thousands of different bases, none of which is ever closed.
std::string one_block() {
    Text text;
    for (int i = 0; i < kInstructions - 1; ++i) {
        text.line(i);
        text.add(fmt::format("LDG.E.CONSTANT R{}, desc[UR6][R{}.64+UR{}+0x{:x}]", 250 + i % 4,
                             i % 120 * 2, 8 + i / 120 % 50, i % 3 * 4));
    }
    text.add("EXIT");
    return text.text();
}

// Branches that cross each other: each block has a way to one far behind it.
std::string crossing() {
    Text text;
    const int half = kInstructions / 2;
    for (int i = 0; i < half; ++i) text.add(fmt::format("@P0 BRA `(.L_x_{})", i));
    for (int i = 0; i < half; ++i) {
        text.label(i);
        text.add(i % 3 == 0 ? fmt::format("@P1 BRA `(.L_x_{})", i / 2) : "NOP");
    }
    text.add("EXIT");
    return text.text();
}

double seconds(const std::string& text, Analysis& out) {
    const std::clock_t start = std::clock();
    const auto read = read_listing(text, "k.sass");
    if (!read) {
        std::fputs(ww::format(read.error()).c_str(), stderr);
        std::exit(1);
    }
    const auto rates = rates_of(read->target);
    out = analyse(read->functions.at(0), *rates);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

int main() {
    struct {
        const char* name;
        std::string text;
    } const shapes[] = {{"usual code", usual()},
                        {"loops in a row", loops_in_a_row()},
                        {"loops in each other", loops_in_each_other()},
                        {"one block", one_block()},
                        {"crossing branches", crossing()}};
    bool slow = false;
    for (const auto& shape : shapes) {
        Analysis found;
        double best = seconds(shape.text, found);
        for (int i = 0; i < 2 && best < kLimit; ++i)
            best = std::min(best, seconds(shape.text, found));
        std::printf("%-20s %6d instructions, %5zu blocks, %4zu loops: %7.1f ms, %.2f M lines/s\n",
                    shape.name, found.total.total, found.graph.blocks.size(),
                    found.graph.loops.size(), best * 1e3,
                    static_cast<double>(std::count(shape.text.begin(), shape.text.end(), '\n')) /
                        best / 1e6);
        slow = slow || best > kLimit;
    }
    if (kSanitized) return kSkipped;
    if (slow) std::fprintf(stderr, "more than %.1f s\n", kLimit);
    return slow ? 1 : 0;
}
