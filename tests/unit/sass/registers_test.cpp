// SPDX-License-Identifier: Apache-2.0
// Operands: registers, numbers, addresses; and what an instruction writes, by real spellings.
#include "sass/registers.hpp"

#include <gtest/gtest.h>

#include "code.hpp"

namespace ww::sass {
namespace {

TEST(registers, of_an_operand) {
    const struct {
        std::string_view operand;
        File file;
        int index;
    } rows[] = {{"R16", File::general, 16},          {"-R3.reuse", File::general, 3},
                {"|R2|", File::general, 2},          {"-|R2|.reuse", File::general, 2},
                {"~R255", File::general, 255},       {"!P0", File::predicate, 0},
                {"PT", File::predicate, -1},         {"!UPT", File::uniform_predicate, -1},
                {"UP3", File::uniform_predicate, 3}, {"UR63", File::uniform, 63},
                {"RZ", File::general, -1},           {"-URZ", File::uniform, -1},
                {"R2.64", File::general, 2},         {"R8.reuse.H0_H0", File::general, 8}};
    for (const auto& row : rows) {
        const auto found = register_of(row.operand);
        ASSERT_TRUE(found) << row.operand;
        EXPECT_EQ(found->file, row.file) << row.operand;
        EXPECT_EQ(found->index, row.index) << row.operand;
    }
    for (const std::string_view none :
         {"", "-", "0x10", "R", "R256", "R-1", "R1x", "SRZ", "SR_TID.X", "[R2]", "desc[UR6][R2.64]",
          "c[0x0][0x210]", "B0", "PR", "SB0", "R99999999999999999999", "`(.L_x_1)", "gsb0"})
        EXPECT_FALSE(register_of(none)) << none;
}

TEST(registers, in_a_text) {
    EXPECT_EQ(registers_in("desc[UR6][R2.64+0x8]"),
              (std::vector<Register>{{File::uniform, 6}, {File::general, 2}}));
    EXPECT_EQ(registers_in("[R4+UR5+0x10]"),
              (std::vector<Register>{{File::general, 4}, {File::uniform, 5}}));
    EXPECT_TRUE(registers_in("c[0x0][0x210]").empty());
    EXPECT_EQ(registers_in("@!UP2"), (std::vector<Register>{{File::uniform_predicate, 2}}));
}

TEST(registers, numbers) {
    EXPECT_EQ(number_of("0x10"), 16);
    EXPECT_EQ(number_of("-0x4"), -4);
    EXPECT_EQ(number_of("RZ"), 0);
    EXPECT_EQ(number_of("SRZ"), 0);
    EXPECT_EQ(number_of("0x7fffffffffffffff"), INT64_MAX);
    for (const std::string_view none : {"", "-", "0x", "-0x", "16", "R1", "0x1g",
                                        "0x8000000000000000", "0x10000000000000000", "--0x1"})
        EXPECT_FALSE(number_of(none)) << none;
}

TEST(registers, addresses) {
    const struct {
        std::string_view code, base;
        int64_t offset;
    } rows[] = {{"LDG.E R0, desc[UR6][R2.64+0x8]", "desc[UR6][R2.64", 8},
                {"LDG.E R0, desc[UR6][R2.64]", "desc[UR6][R2.64", 0},
                {"STG.E desc[UR6][R2.64+-0x8], R0", "desc[UR6][R2.64", -8},
                {"LDS R0, [R4+0x10]", "[R4", 16},
                {"LDS R0, [R4+UR5+0x10]", "[R4+UR5", 16},
                {"LDS R0, [R4+UR5]", "[R4+UR5", 0},
                {"LDS R0, [0x10]", "", 16},
                {"LDG.E.64.CONSTANT R0, [R2.U32+UR4]", "[R2.U32+UR4", 0}};
    for (const auto& row : rows) {
        const Listing read = test::read_code(row.code);
        const auto found = address_of(read.functions[0].instructions[0]);
        ASSERT_TRUE(found) << row.code;
        EXPECT_EQ(found->base, row.base) << row.code;
        EXPECT_EQ(found->offset, row.offset) << row.code;
    }
    EXPECT_FALSE(address_of(test::read_code("LDC R0, c[0x0][0x210]").functions[0].instructions[0]));
}

// "R4:2 P0": two general registers from R4 on, and P0. RZ and PT are left out.
std::string written(std::string_view code) {
    const Listing read = test::read_code(code);
    std::string out;
    for (const Written& each : written_by(read.functions[0].instructions[0])) {
        if (each.first.index < 0) continue;
        constexpr std::string_view kFiles[] = {"R", "UR", "P", "UP"};
        out += fmt::format("{}{}{}", out.empty() ? "" : " ",
                           kFiles[static_cast<size_t>(each.first.file)], each.first.index);
        if (each.count != 1) out += fmt::format(":{}", each.count);
    }
    return out;
}

TEST(registers, what_is_written) {
    const struct {
        std::string_view code, written;
    } rows[] = {
        {"FADD R0, R1, R2", "R0"},
        {"LDG.E.128 R16, desc[UR6][R2.64]", "R16:4"},
        {"LDG.E.64.CONSTANT R16, desc[UR6][R2.64]", "R16:2"},
        {"LDG.E.ENL2.256 R8, R4, desc[UR6][R2.64]", "R8:4 R4:4"},
        {"LDS.U8 R16, [R2]", "R16"},
        {"LDSM.16.M88.4 R16, [R2]", "R16:4"},
        {"LDSM.16.M88 R16, [R2]", "R16"},
        {"LDC.64 R24, c[0x0][0x210]", "R24:2"},
        {"LDCU.128 UR4, c[0x0][0x210]", "UR4:4"},
        {"IMAD.WIDE.U32 R4, R5, R6, R8", "R4:2"},
        {"IMAD.HI.U32 R4, R5, R6, R8", "R4"},
        {"IADD.64 R4, R4, 0x10", "R4:2"},
        {"SHF.R.U64 R4, R5, 0x3, R6", "R4"},
        {"DFMA R4, R6, R8, R10", "R4:2"},
        {"CS2R R10, SRZ", "R10:2"},
        {"CS2R.32 R10, SR_CLOCKLO", "R10"},
        {"FFMA2 R2, R4.F32x2.HI_LO, R6.F32x2.HI_LO, R8.F32x2.HI_LO", "R2:2"},
        {"HFMA2 R2, R4, R6, R8", "R2"},
        {"LEPC R20", "R20:2"},
        // Conversions: the first type is the result's.
        {"F2F.F64.F32 R2, R4", "R2:2"},
        {"F2F.F32.F64 R2, R4", "R2"},
        {"I2F.F64 R2, R4", "R2:2"},
        {"I2F.F64.S64 R2, R4", "R2:2"},
        {"I2F.S64 R2, R4", "R2"},
        {"F2I.S64.F64.TRUNC R2, R4", "R2:2"},
        {"F2I.U64.TRUNC R2, R4", "R2:2"},
        {"F2I.F64.TRUNC R2, R4", "R2"},
        {"FRND.F64.FLOOR R2, R4", "R2:2"},
        {"MUFU.RCP64H R3, R5", "R3"},
        // Tensor results: m * n values over 32 lanes, or 128 for a warpgroup.
        {"HMMA.16816.F32.BF16 R4, R8, R12, R4", "R4:4"},
        {"HMMA.16816.F16 R4, R8, R12, R4", "R4:2"},
        {"IMMA.8816.S8.S8 R4, R8.ROW, R12.COL, R4", "R4:2"},
        {"DMMA.8x8x4 R4, R8, R12, R4", "R4:4"},
        {"DMMA.16x8x8 R4, R12, R20, R4", "R4:8"},
        {"OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R0, R4, R8, R0, R12, R13", "R0:4"},
        {"HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0", "R24:64"},
        {"HGMMA.64x128x16.F16 R24, gdesc[UR4], R24, gsb0", "R24:32"},
        {"LDTM.x32 R4, tmem[UR4]", "R4:32"},
        {"LDTM R4, tmem[UR4]", "R4"},
        {"LDTM.16dp256bit.x4 R4, tmem[UR4]", "R4:16"},
        {"LDTM.16dp128bit.x4 R4, tmem[UR4]", "R4:8"},
        {"LDTM.16dp64bit.x4 R4, tmem[UR4]", "R4:4"},
        // Predicates.
        {"ISETP.NE.AND P0, PT, R2, RZ, PT", "P0"},
        {"ISETP.NE.AND P0, P1, R2, RZ, P2", "P0 P1"},
        {"UISETP.NE.AND UP0, UPT, UR2, URZ, UPT", "UP0"},
        {"PLOP3.LUT P0, P1, P2, P3, P4, 0x80, 0x0", "P0 P1"},
        {"LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "P0"},
        {"LOP3.LUT P0, R3, R2, 0x1, RZ, 0xc0, !PT", "P0 R3"},
        {"IADD3 R4, P0, R2, R3, RZ", "R4 P0"},
        {"IADD3 R4, P0, P1, R2, R3, R5", "R4 P0 P1"},
        {"IADD3.X R4, R2, R3, RZ, P0, !PT", "R4"},
        {"UIADD3 UR4, UPT, UP1, UR4, 0x1, URZ", "UR4 UP1"},
        {"LEA R18, P3, R6, UR18, 0x1", "R18 P3"},
        {"SEL R0, R1, R2, P0", "R0"},
        {"SHFL.BFLY PT, R4, R5, 0x1, 0x1f", "R4"},
        {"VOTE.ANY R4, PT, P0", "R4"},
        {"VOTE.ANY R4, P1, P0", "R4 P1"},
        {"VOTEU.ANY UR4, UPT, PT", "UR4"},
        {"VOTE.ALL P1, P0", "P1"},
        {"VOTEU.ALL UP0, P0", "UP0"},
        {"ATOMG.E.ADD.64.STRONG.GPU PT, R4, desc[UR4][R2.64], R6", "R4:2"},
        {"R2P PR, R3, 0x5", "P0 P2"},
        {"R2P PR, R3", "P0 P1 P2 P3 P4 P5 P6"},
        {"R2P PR, R3.B1, 0x40", "P6"},
        {"UR2UP UPR, UR3, 0x3", "UP0 UP1"},
        {"P2R R3, PR, RZ, 0x7f", "R3"},
        {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R3", "P0"},
        {"BMOV.32.CLEAR R6, B0", "R6"},
        {"ELECT P6, URZ, PT", "P6"},
        // Nothing.
        {"STG.E.128 desc[UR6][R2.64], R16", ""},
        {"STS [R2], R16", ""},
        {"STTM.x32 tmem[UR4], R4", ""},
        {"RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", ""},
        {"LDGSTS.E.BYPASS.128 [R3], desc[UR4][R4.64]", ""},
        {"DEPBAR.LE SB0, 0x1", ""},
        {"BAR.SYNC.DEFER_BLOCKING 0x0", ""},
        {"BRA P1, `(k)", ""},
        {"BMOV.32 B0, R6", ""},
        {"RET.REL.NODEC R20 `(k)", ""},
        {"UTMALDG.2D [UR8], [UR4]", ""},
        {"NOP", ""},
    };
    for (const auto& row : rows) EXPECT_EQ(written(row.code), row.written) << row.code;
}

TEST(registers, a_result_has_its_registers_and_no_others) {
    const Written wide{{File::general, 4}, 4};
    EXPECT_TRUE(wide.has({File::general, 4}) && wide.has({File::general, 7}));
    EXPECT_FALSE(wide.has({File::general, 3}) || wide.has({File::general, 8}));
    EXPECT_FALSE(wide.has({File::uniform, 4}));
    EXPECT_FALSE((Written{{File::general, -1}, 4}.has({File::general, -1})));  // RZ keeps nothing
}

}  // namespace
}  // namespace ww::sass
