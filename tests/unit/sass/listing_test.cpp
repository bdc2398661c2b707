// SPDX-License-Identifier: Apache-2.0
#include "sass/listing.hpp"

#include <gtest/gtest.h>

#include "sass/graph.hpp"

namespace ww::sass {
namespace {

// As nvdisasm prints sm_80: .sectioninfo follows .section.
constexpr std::string_view kLoop =
    "\t.target\tsm_80\n"
    "\t.section\t.text.k,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=8\"\n"
    "        .type           k,@function\n"
    "k:\n.text.k:\n"
    "        /*0000*/                   MOV R0, RZ ;\n"
    ".L_x_0:\n"
    "        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;\n"
    "        /*0020*/               @P0 BRA `(.L_x_0) ;\n"
    "        /*0030*/                   EXIT ;\n";

TEST(listing, sectioninfo_does_not_end_the_section) {
    const auto read = read_listing(std::string(kLoop), "k.sass");
    ASSERT_TRUE(read) << format(read.error());
    EXPECT_EQ(read->target, "sm_80");
    ASSERT_EQ(read->functions.size(), 1u);
    EXPECT_EQ(read->functions[0].instructions.size(), 4u);
    const Graph graph = graph_of(read->functions[0]);
    ASSERT_EQ(graph.loops.size(), 1u);
    EXPECT_EQ(graph.ranges(graph.loops[0]), (std::vector<std::pair<int, int>>{{1, 3}}));
}

}  // namespace
}  // namespace ww::sass
