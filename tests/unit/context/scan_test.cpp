// SPDX-License-Identifier: Apache-2.0
// What is read of a source by its form, and licences.
#include "context/scan.hpp"

#include <gtest/gtest.h>

#include "context/licence.hpp"

namespace ww::context {
namespace {

std::vector<std::string> texts(const std::vector<Mention>& mentions) {
    std::vector<std::string> out;
    for (const Mention& each : mentions) out.push_back(each.text);
    return out;
}

TEST(CppScan, KernelWithAllItsParts) {
    const FileScan file = scan_cpp(R"(// Copyright someone
// Copies rows by bulk copies. More text.
#include "wrap.cuh"
namespace a::b {
template <class T, int N>
__global__ void __launch_bounds__(128, 2) copy(const T* from) {
    extern __shared__ T raw[];
    __shared__ alignas(16) float sums[N];
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra D; cp.async.bulk.shared::cluster.global [%0], [%1];\n D: }" :: "r"(x));
    helper<N>(raw);
    if (x) { other(1); }
}
}
void host() { a::b::copy<float, 4><<<dim3(1, 2), 128, sizeof(float) * 4, stream>>>(p); }
)");
    ASSERT_EQ(file.functions.size(), 2u);
    const Function& kernel = file.functions[0];
    EXPECT_TRUE(kernel.kernel);
    EXPECT_EQ(kernel.qualified, "a::b::copy");
    EXPECT_EQ(kernel.first, 5);
    EXPECT_EQ(kernel.last, 13);
    EXPECT_EQ(kernel.parameters, "class T, int N");
    EXPECT_EQ(kernel.launch_bounds, "128, 2");
    EXPECT_EQ(texts(kernel.shared),
              (std::vector<std::string>{"extern __shared__ T raw[]", "__shared__ alignas(16) float sums[N]"}));
    EXPECT_EQ(texts(kernel.instructions),
              (std::vector<std::string>{"mbarrier.try_wait.parity.shared::cta.b64", "cp.async.bulk.shared::cluster.global"}));
    EXPECT_EQ(kernel.calls, (std::vector<std::string>{"helper", "other"}));
    ASSERT_EQ(file.launches.size(), 1u);
    EXPECT_EQ(file.launches[0].kernel, "a::b::copy");
    EXPECT_EQ(file.launches[0].how, "dim3(1, 2), 128, sizeof(float) * 4, stream");
    EXPECT_EQ(file.launches[0].inside, "host");
    EXPECT_EQ(file.about, "Copies rows by bulk copies.");
    EXPECT_EQ(file.includes, std::vector<std::string>{"wrap.cuh"});
}

TEST(CppScan, BracesAndWordsInStringsAndCommentsDoNotCount) {
    const FileScan file = scan_cpp("/* void no() { */ const char* s = \"} __global__ void no() {\";\n"
                                   "char c = '{'; auto r = R\"(} { asm)\";\nextern \"C\" __global__ void yes() { }\n");
    ASSERT_EQ(file.functions.size(), 1u);
    EXPECT_EQ(file.functions[0].name, "yes");
    EXPECT_EQ(file.functions[0].first, 3);
}

TEST(CppScan, BothBranchesOfAnIfMayOpenTheFunction) {
    const FileScan file = scan_cpp("#if A\nvoid f(int a) {\n#else\nvoid f(float a) {\n#endif\n  g();\n}\nvoid h() {}\n");
    ASSERT_EQ(file.functions.size(), 3u);
    EXPECT_EQ(file.functions[1].last, 7);
    EXPECT_EQ(file.functions[2].name, "h");
    EXPECT_EQ(file.functions[2].first, 8);
}

TEST(CppScan, MethodsConstructorsAndOperators) {
    const FileScan file = scan_cpp(
        "struct S : B<(1 > 0)> {\n  S(int a) : a_{a}, b_(2) { use(); }\n  int operator()(int x) const { return x; }\n"
        "  S& operator=(const S&) = default;\n};\nint S::later() noexcept { return 1; }\nstatic const int t[] = {1, f(2)};\n");
    std::vector<std::string> names;
    for (const Function& function : file.functions) names.push_back(function.qualified);
    EXPECT_EQ(names, (std::vector<std::string>{"S::S", "S::operator()", "S::later"}));
}

TEST(CppScan, MacroWithAsm) {
    const FileScan file = scan_cpp("#define MM(S) asm volatile(\"mma.sync.aligned.\" S \" {%0}\" \\\n  : \"+f\"(d))\nint x;\n");
    ASSERT_EQ(file.functions.size(), 1u);
    EXPECT_EQ(file.functions[0].name, "MM");
    EXPECT_EQ(file.functions[0].last, 2);
}

TEST(CppScan, UnbalancedInputEnds) {
    for (const char* text : {"{{{{", "}}}}", "void f( {", "\"", "'", "R\"(", "/*", "#define", "template <", "a<<<", "a<<<<<<", "asm(",
                             "__shared__", "operator", "f(<", "#if\n#if\n#else\n}"})
        (void)scan_cpp(text);
    std::string deep;
    for (int i = 0; i < 50000; ++i) deep += "f(";
    (void)scan_cpp(deep + "{");
}

TEST(PythonScan, KernelsLaunchesAndShared) {
    const FileScan file = scan_python(R"("""Row sums. More."""
import triton
@triton.jit
def kernel(x, BLOCK: tl.constexpr, n: int, W: tl.constexpr = 4):
    # tl.dot in a comment
    acc = tl.dot(a, b)
    return helper(acc)

def run(x):
    grid = lambda meta: (1,)
    kernel[grid](x, BLOCK=1)

@cute.kernel
def second(
    a: cute.Tensor,
):
    s = smem.allocate_tensor(cutlass.Float32, layout, 16)
    cute.arch.mbarrier_wait(p, 0)

class Run:
    @cute.jit
    def __call__(self):
        self.second(a).launch(grid=(1, 1, 1), block=[32, 1, 1])
)");
    ASSERT_EQ(file.functions.size(), 4u);
    EXPECT_TRUE(file.functions[0].kernel);
    EXPECT_EQ(file.functions[0].parameters, "BLOCK, W");
    EXPECT_EQ(file.functions[0].first, 3);
    EXPECT_EQ(file.functions[0].last, 7);
    EXPECT_EQ(texts(file.functions[0].instructions), std::vector<std::string>{"tl.dot"});
    EXPECT_EQ(texts(file.functions[2].shared),
              std::vector<std::string>{"smem.allocate_tensor(cutlass.Float32, layout, 16)"});
    EXPECT_EQ(file.functions[3].qualified, "Run.__call__");
    ASSERT_EQ(file.launches.size(), 2u);
    EXPECT_EQ(file.launches[0].how, "grid");
    EXPECT_EQ(file.launches[1].kernel, "self.second");
    EXPECT_EQ(file.launches[1].how, "grid=(1, 1, 1), block=[32, 1, 1]");
    EXPECT_EQ(file.about, "Row sums.");
}

TEST(PythonScan, UnbalancedInputEnds) {
    for (const char* text : {"\"\"\"", "(", ")", "'", "def", "def f(", "@", "class", "x[", "\\", "\t", "#"}) (void)scan_python(text);
}

TEST(Scan, TheFirstSentenceIsNoLicence) {
    EXPECT_EQ(first_sentence("/* Copyright X\n * Redistribution and use in source and\n * modification, are permitted provided that\n"
                             " * OF THE POSSIBILITY OF SUCH DAMAGE.\n */\n// Copies rows. More.\n"),
              "Copies rows.");
    EXPECT_EQ(first_sentence("// SPDX-License-Identifier: MIT\n"), "");
}

TEST(Licence, SpdxLinesAndTexts) {
    EXPECT_EQ(spdx_of("/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n"), "MIT OR Apache-2.0");
    EXPECT_EQ(licence_of_text("Permission is hereby granted, free of charge, to any person obtaining a copy\n ... The above "
                              "copyright notice and this permission"),
              "MIT");
    EXPECT_EQ(licence_of_text("Apache License\n   Version 2.0, January 2004"), "Apache-2.0");
    EXPECT_EQ(licence_of_text("all is mine"), "");
    EXPECT_TRUE(is_licence_file("a/LICENSE.txt"));
    EXPECT_FALSE(is_licence_file("licensed.cpp"));
}

}  // namespace
}  // namespace ww::context
