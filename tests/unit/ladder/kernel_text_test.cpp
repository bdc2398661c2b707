// SPDX-License-Identifier: Apache-2.0
// What a kernel's text says where a statement is missing: stores into a tensor, values nobody sets,
// source lines without code.
#include "ladder/kernel_text.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "ladder/gaps.hpp"
#include "toolchain/process.hpp"

namespace ww::ladder {
namespace {

// Line 10 stores to y through a pointer that is computed; the loaded pointer on line 11 is none
// into y. FILE is the source below.
constexpr const char* kPtx = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
.reg .b64 %rd<9>; .reg .f32 %f<9>;
.loc 1 3 1
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; add.s64 %rd3, %rd2, 4;
.loc 1 4 1
ld.global.f32 %f1, [%rd1];
.loc 1 8 1
st.global.f32 [%rd3], %f1;
.loc 1 9 1
ld.global.u64 %rd4, [%rd2];
st.global.f32 [%rd4], %f2;
neg.f32 %f3, %f1;
ret;
}
.file 1 "FILE"
)";

constexpr const char* kSource = R"(// 1
kernel(x, y) {
    params
    load
    // a brace in a comment does not count {
    if (c) {
    }
    store
    lost
}
)";

class Text : public ::testing::Test {
  protected:
    Text() : folder_(toolchain::TemporaryFolder::make().value()) {
        file_ = (folder_.path() / "a.cu").string();
        EXPECT_TRUE(write_file(file_, kSource));
        std::string ptx = kPtx;
        ptx.replace(ptx.find("FILE"), 4, file_);
        auto read = KernelText::read(ptx, "k");
        EXPECT_TRUE(read) << format(read.error());
        text_.emplace(std::move(read).value());
    }
    toolchain::TemporaryFolder folder_;
    std::string file_;
    std::optional<KernelText> text_;
};

TEST_F(Text, StoresAreFoundByTheParameterOfTheirPointer) {
    EXPECT_TRUE(text_->stores_to(0).empty());
    const auto stores = text_->stores_to(1);
    ASSERT_EQ(stores.size(), 1u);
    EXPECT_EQ(stores[0].ptx_line, 11);
    ASSERT_EQ(stores[0].source.size(), 1u);
    EXPECT_EQ(stores[0].source[0].line, 8);
    EXPECT_TRUE(text_->stores_to(64).empty());
}

TEST_F(Text, ValuesAreToldFromAddresses) {
    const auto values = text_->value_definitions(11);
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(values[0].at(0).line, 4);
    EXPECT_TRUE(text_->value_definitions(99).empty());
}

TEST_F(Text, RegistersThatNothingSetsAndResultsThatNothingReads) {
    EXPECT_TRUE(text_->unset_registers(11).empty());
    EXPECT_EQ(text_->unset_registers(14), std::vector<std::string>{"%f2"});
    const auto unused = text_->unused_results(3);
    ASSERT_EQ(unused.size(), 1u);
    EXPECT_EQ(unused[0].ptx_line, 15);
    EXPECT_TRUE(text_->unused_results(0).empty());
}

TEST_F(Text, LinesWithoutCodeBetweenADefinitionAndItsStore) {
    Gaps gaps(*text_);
    gaps.between({{{file_, 3}}, {{file_, 4}}}, {{file_, 8}});
    const auto found = gaps.take();
    ASSERT_EQ(found.size(), 1u);  // 6 and 7 bound a block, 3 is not the last definition
    EXPECT_EQ(found[0].first, 5);
    EXPECT_EQ(found[0].last, 5);
}

TEST_F(Text, LinesWithoutCodeNextToAStoreEndWithItsBlock) {
    Gaps gaps(*text_);
    gaps.around({{file_, 8}});
    EXPECT_TRUE(gaps.take().empty());  // 9 has code, 7 and 10 are braces
    Gaps other(*text_);
    other.around({{file_, 4}});
    const auto found = other.take();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].first, 5);
    Gaps nowhere(*text_);
    nowhere.around({{file_ + ".gone", 4}});
    EXPECT_TRUE(nowhere.take().empty());
}

TEST(KernelText, OtherTextIsRefused) {
    EXPECT_FALSE(KernelText::read("// only a name", "k"));
    EXPECT_FALSE(KernelText::read(kPtx, "other"));
}

}  // namespace
}  // namespace ww::ladder
