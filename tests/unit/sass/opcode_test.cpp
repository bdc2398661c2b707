// SPDX-License-Identifier: Apache-2.0
// Opcodes as nvdisasm spells them for sm_80, sm_90a, sm_100a and sm_120a: class, pipe, width, work.
#include "sass/opcode.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::sass {
namespace {

struct Row {
    std::string_view opcode;
    Class of;
    Pipe pipe;
};

// clang-format off
constexpr Row kRows[] = {
    {"HMMA.16816.F32.BF16", Class::tensor, Pipe::tensor},
    {"OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", Class::tensor, Pipe::tensor},
    {"HGMMA.64x128x16.F32.BF16", Class::tensor, Pipe::tensor},
    {"UTCHMMA", Class::tensor, Pipe::tensor},
    {"MUFU.RCP64H", Class::mufu, Pipe::xu},
    {"FFMA.SAT", Class::fp32, Pipe::fma},
    {"FFMA2", Class::fp32, Pipe::fma},
    {"FCHK", Class::fp32, Pipe::alu},
    {"DFMA", Class::fp64, Pipe::fp64},
    {"DSETP.MAX.AND", Class::fp64, Pipe::fp64},
    {"HFMA2.MMA", Class::fp16, Pipe::fp16},
    {"IMAD.WIDE.U32", Class::integer, Pipe::imad},
    {"IMAD.SHL.U32", Class::integer, Pipe::imad},
    {"IADD.64", Class::integer, Pipe::alu},
    {"VIADDMNMX.U32", Class::integer, Pipe::alu},
    {"LOP3.LUT", Class::integer, Pipe::alu},
    {"POPC", Class::integer, Pipe::xu},
    {"I2F.U32.RP", Class::conversion, Pipe::xu},
    {"F2F.F64.F32", Class::conversion, Pipe::xu},
    {"F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C", Class::conversion, Pipe::alu},
    {"I2FP.F32.U32", Class::conversion, Pipe::alu},
    {"ISETP.NE.U32.AND", Class::predicate_select, Pipe::alu},
    {"FMNMX3", Class::predicate_select, Pipe::alu},
    {"IMAD.MOV.U32", Class::move, Pipe::imad},
    {"IMAD.MOV", Class::move, Pipe::imad},
    {"MOV.64", Class::move, Pipe::alu},
    {"R2UR", Class::move, Pipe::alu},
    {"UIADD3.X", Class::uniform, Pipe::uniform},
    {"UISETP.NE.AND.EX", Class::uniform, Pipe::uniform},
    {"UFFMA", Class::uniform, Pipe::uniform},
    {"S2UR", Class::special_register, Pipe::none},
    {"LEPC", Class::special_register, Pipe::none},
    {"SHFL.BFLY", Class::shuffle, Pipe::none},
    {"REDUX.MIN.S32", Class::shuffle, Pipe::none},
    {"LDS.128", Class::shared, Pipe::shared},
    {"STS.U8", Class::shared, Pipe::shared},
    {"LDG.E.128.CONSTANT", Class::global, Pipe::none},
    {"STG.E.U16", Class::global, Pipe::none},
    {"LDL", Class::local, Pipe::none},
    {"LD.E.64", Class::generic, Pipe::none},
    {"LDCU.128", Class::constant, Pipe::none},
    {"ULDC.64", Class::constant, Pipe::none},
    {"LDSM.16.M88.4", Class::matrix, Pipe::shared},
    {"STSM.16.MT88.4", Class::matrix, Pipe::shared},
    {"MOVM.16.MT88", Class::matrix, Pipe::none},
    {"LDGSTS.E.BYPASS.LTC128B.128", Class::async_copy, Pipe::none},
    {"LDGDEPBAR", Class::async_copy, Pipe::none},
    {"DEPBAR.LE", Class::async_copy, Pipe::none},
    {"UTMALDG.2D", Class::tma, Pipe::none},
    {"UBLKCP.S.G", Class::tma, Pipe::none},
    {"LDTM.16dp256bit.x4", Class::tensor_memory, Pipe::none},
    {"UTCBAR", Class::tensor_memory, Pipe::none},
    {"ATOMS.MIN.S32", Class::atomic, Pipe::none},
    {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", Class::atomic, Pipe::none},
    {"BAR.SYNC.DEFER_BLOCKING", Class::barrier, Pipe::none},
    {"WARPGROUP.DEPBAR.LE", Class::barrier, Pipe::none},
    {"SYNCS.PHASECHK.TRANS64.TRYWAIT", Class::mbarrier, Pipe::none},
    {"BSYNC.RECONVERGENT", Class::branch, Pipe::none},
    {"CALL.REL.NOINC", Class::branch, Pipe::none},
    {"TEX.LL", Class::texture, Pipe::none},
    {"NOP", Class::other, Pipe::none},
};
// clang-format on

TEST(opcode, classes_and_pipes) {
    for (const Row& row : kRows) {
        const Opcode found = classify(row.opcode);
        EXPECT_TRUE(found.known) << row.opcode;
        EXPECT_EQ(name(found.of), name(row.of)) << row.opcode;
        EXPECT_EQ(name(found.pipe), name(row.pipe)) << row.opcode;
    }
}

TEST(opcode, every_class_has_a_row_and_every_name_differs) {
    for (size_t i = 0; i < kClasses; ++i) {
        const Class of = static_cast<Class>(i);
        const bool found = std::any_of(std::begin(kRows), std::end(kRows),
                                       [&](const Row& row) { return row.of == of; });
        EXPECT_TRUE(found) << name(of);
        for (size_t j = 0; j < i; ++j) EXPECT_NE(name(of), name(static_cast<Class>(j)));
    }
}

TEST(opcode, what_the_table_lacks_is_other_and_unknown) {
    for (const std::string_view opcode : {"FROBNICATE.X", "LDGX", "hmma", "", ".F32"}) {
        EXPECT_FALSE(classify(opcode).known) << opcode;
        EXPECT_EQ(name(classify(opcode).of), "other") << opcode;
    }
}

TEST(opcode, modifiers_are_whole_words) {
    EXPECT_EQ(base_name("HMMA.16816.F32"), "HMMA");
    EXPECT_EQ(base_name("EXIT"), "EXIT");
    EXPECT_TRUE(has_modifier("LDG.E.64.CONSTANT", "64"));
    EXPECT_TRUE(has_modifier("LDG.E.64", "64"));
    EXPECT_FALSE(has_modifier("ISETP.NE.S64.AND", "64"));
    EXPECT_FALSE(has_modifier("64.E", "64"));  // the opcode itself is none
    EXPECT_FALSE(has_modifier("HMMA.16816", "F32"));
}

TEST(opcode, widths) {
    struct {
        std::string_view opcode;
        int bits;
        Access access;
    } const rows[] = {{"LDG.E.U8.CONSTANT", 8, Access::load},
                      {"STG.E.U8", 8, Access::store},
                      {"LDS.S16", 16, Access::load},
                      {"LDG.E.U16.CONSTANT", 16, Access::load},
                      {"LDG.E", 32, Access::load},
                      {"STL", 32, Access::store},
                      {"LDS.64", 64, Access::load},
                      {"STG.E.64", 64, Access::store},
                      {"LDG.E.LTC128B", 32, Access::load},
                      {"STG.E.128", 128, Access::store},
                      {"LDG.E.ENL2.256.CONSTANT", 256, Access::load},
                      {"FADD", 32, Access::none},
                      {"RED.E.ADD", 32, Access::none}};
    for (const auto& row : rows) {
        EXPECT_EQ(access_bits(row.opcode), row.bits) << row.opcode;
        EXPECT_EQ(kWidths.at(width_index(row.bits)), row.bits);
        EXPECT_EQ(classify(row.opcode).access, row.access) << row.opcode;
    }
}

TEST(opcode, shared_memory_bytes_of_a_warp) {
    EXPECT_EQ(shared_bytes("LDS.U8"), 32);
    EXPECT_EQ(shared_bytes("LDS"), 128);
    EXPECT_EQ(shared_bytes("STS.64"), 256);
    EXPECT_EQ(shared_bytes("STS.128"), 512);
    EXPECT_EQ(shared_bytes("LDSM.16.M88"), 128);
    EXPECT_EQ(shared_bytes("LDSM.16.M88.2"), 256);
    EXPECT_EQ(shared_bytes("STSM.16.MT88.4"), 512);
    EXPECT_EQ(shared_bytes("LDG.E.128"), 0);
    EXPECT_EQ(shared_bytes("MOVM.16.MT88"), 0);
}

TEST(opcode, tensor_work) {
    struct {
        std::string_view opcode;
        int m, n, k;
        std::string_view type;
        bool warpgroup;
        int64_t multiply_adds;
    } const rows[] = {
        {"HMMA.16816.F32.BF16", 16, 8, 16, "f16_f32", false, 2048},
        {"HMMA.16816.F16", 16, 8, 16, "f16_f16", false, 2048},
        {"HMMA.1688.F32.TF32", 16, 8, 8, "tf32", false, 1024},
        {"HMMA.SP.16832.F32", 16, 8, 32, "f16_f32", false, 2048},
        {"DMMA.8x8x4", 8, 8, 4, "f64", false, 256},
        {"DMMA.884", 8, 8, 4, "f64", false, 256},
        {"IMMA.16832.S8.S8", 16, 8, 32, "int8", false, 4096},
        {"IMMA.16864.S4.U4.SAT", 16, 8, 64, "int4", false, 8192},
        {"BMMA.168256.XOR.POPC", 16, 8, 256, "bit", false, 32768},
        {"QMMA.16832.F32.E4M3.E4M3", 16, 8, 32, "fp8_f32", false, 4096},
        {"QMMA.16832.F16.E4M3.E5M2", 16, 8, 32, "fp8_f16", false, 4096},
        {"QMMA.SF.16832.F32.E4M3.E4M3.E8", 16, 8, 32, "fp8_scaled", false, 4096},
        {"OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", 16, 8, 64, "fp4_scaled", false, 8192},
        {"HGMMA.64x256x16.F32.BF16", 64, 256, 16, "f16_f32", true, 262144},
        {"HGMMA.SP.64x64x32.F32", 64, 64, 32, "f16_f32", true, 65536},
        {"QGMMA.64x64x32.F32.E4M3.E4M3", 64, 64, 32, "fp8_f32", true, 131072},
        {"IGMMA.64x8x32.S8.S8", 64, 8, 32, "int8", true, 16384},
    };
    for (const auto& row : rows) {
        const auto work = tensor_work(row.opcode);
        ASSERT_TRUE(work) << row.opcode;
        EXPECT_EQ(work->m, row.m) << row.opcode;
        EXPECT_EQ(work->n, row.n) << row.opcode;
        EXPECT_EQ(work->k, row.k) << row.opcode;
        EXPECT_EQ(name(work->type), row.type) << row.opcode;
        EXPECT_EQ(work->warpgroup, row.warpgroup) << row.opcode;
        EXPECT_EQ(work->multiply_adds(), row.multiply_adds) << row.opcode;
    }
}

TEST(opcode, no_work_where_the_shape_is_not_in_the_name) {
    for (const std::string_view opcode :
         {"UTCHMMA", "UTCQMMA.2CTA", "HMMA", "HMMA.F32", "HMMA.64x8", "HMMA.axbxc", "HMMA.168",
          "HMMA.99999999999x8x8", "FFMA.16816", ""})
        EXPECT_FALSE(tensor_work(opcode)) << opcode;
}

}  // namespace
}  // namespace ww::sass
