// SPDX-License-Identifier: Apache-2.0
// The opcodes by class, as the instruction set reference of "CUDA Binary Utilities" lists them for
// Turing to Blackwell; pipes by the pipeline descriptions of Nsight Compute's profiling guide.
#include "sass/opcode.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

#include "base/text.hpp"

namespace ww::sass {
namespace {

struct Group {
    Class of;
    Pipe pipe;
    Access access;
    std::string_view opcodes;
};

constexpr Group kGroups[] = {
    {Class::tensor, Pipe::tensor, Access::none,
     "HMMA IMMA QMMA OMMA DMMA BMMA HGMMA QGMMA IGMMA BGMMA UTCHMMA UTCQMMA UTCOMMA UTCIMMA UTCMMA"},
    {Class::mufu, Pipe::xu, Access::none, "MUFU"},
    {Class::fp32, Pipe::fma, Access::none,
     "FADD FMUL FFMA FADD32I FMUL32I FFMA32I FSWZADD FADD2 FMUL2 FFMA2 FHADD FHFMA"},
    {Class::fp32, Pipe::alu, Access::none, "FCHK"},
    {Class::fp64, Pipe::fp64, Access::none, "DADD DMUL DFMA DSETP DMNMX"},
    {Class::fp16, Pipe::fp16, Access::none,
     "HADD2 HMUL2 HFMA2 HADD2_32I HMUL2_32I HFMA2_32I HMNMX2 VHMNMX HSET2 HSETP2"},
    {Class::integer, Pipe::imad, Access::none, "IMAD IMUL IMUL32I IDP IDP4A"},
    {Class::integer, Pipe::alu, Access::none,
     "IADD IADD3 IADD32I IABS IMNMX ISCADD ISCADD32I LEA LOP LOP3 LOP32I SHF SHL SHR PRMT BMSK SGXT VABSDIFF "
     "VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 VHMNMX3 IADDC IADD2"},
    {Class::integer, Pipe::xu, Access::none, "POPC FLO BREV"},
    {Class::conversion, Pipe::xu, Access::none, "I2F F2I F2F I2I FRND"},
    {Class::conversion, Pipe::alu, Access::none, "F2FP I2FP F2IP I2IP"},
    {Class::predicate_select, Pipe::alu, Access::none,
     "ISETP FSETP FSET ISET PLOP3 PSETP P2R R2P SEL FSEL FMNMX FMNMX3 FCMP ICMP"},
    {Class::move, Pipe::alu, Access::none, "MOV MOV32I CS2R R2UR UR2R"},
    {Class::uniform, Pipe::uniform, Access::none,
     "UMOV UIADD3 ULOP3 ULOP UISETP ULEA USHF USHL USHR USEL UPRMT UFLO UBREV UPOPC UP2UR UR2UP UPLOP3 UPSETP USGXT "
     "UBMSK UIMAD UCLEA UIABS UIMNMX UVIMNMX UVIADD UIADD UF2F UF2I UF2IP UF2FP UI2F UI2FP UI2I UFADD UFMUL UFFMA UFSEL "
     "UFSETP UFSET UFMNMX UFRND UVIRTCOUNT USTGR UMEMSETS UREDGR UGETNEXTWORKID UCGABAR_GET UIMNMX3 UISCADD UFMNMX3"},
    {Class::special_register, Pipe::none, Access::none,
     "S2R S2UR SETLMEMBASE SETCTAID GETLMEMBASE B2R R2B LEPC LEPCU UPREFETCH CSMTEST"},
    {Class::shuffle, Pipe::none, Access::none,
     "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT R2P_ALL"},
    {Class::shared, Pipe::shared, Access::load, "LDS"},
    {Class::shared, Pipe::shared, Access::store, "STS STAS"},
    {Class::global, Pipe::none, Access::load, "LDG LDGMC"},
    {Class::global, Pipe::none, Access::store, "STG STGMC"},
    {Class::local, Pipe::none, Access::load, "LDL"},
    {Class::local, Pipe::none, Access::store, "STL"},
    {Class::generic, Pipe::none, Access::load, "LD"},
    {Class::generic, Pipe::none, Access::store, "ST"},
    {Class::generic, Pipe::none, Access::none, "QSPC"},
    {Class::constant, Pipe::none, Access::load, "LDC LDCU ULDC"},
    {Class::matrix, Pipe::shared, Access::load, "LDSM"},
    {Class::matrix, Pipe::shared, Access::store, "STSM"},
    {Class::matrix, Pipe::none, Access::none, "MOVM"},
    {Class::async_copy, Pipe::none, Access::none, "LDGSTS LDGDEPBAR DEPBAR ARRIVES"},
    {Class::tma, Pipe::none, Access::none,
     "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH UBLKCP UBLKRED UBLKPF UTMACP"},
    {Class::tensor_memory, Pipe::none, Access::none,
     "LDTM LDT STTM STT UTCCP UTCBAR UTCSHIFT UTCATOMSWS UTCLDSWS UTCSTSWS LDTRAM"},
    {Class::atomic, Pipe::none, Access::none,
     "ATOM ATOMS ATOMG RED REDG REDS CAS CAST ATOMCAS SUATOM SURED REDAS UCAS"},
    {Class::barrier, Pipe::none, Access::none,
     "BAR BARU MEMBAR FENCE ERRBAR CCTL CCTLL CCTLT WARPSYNC ENDCOLLECTIVE WARPGROUP WARPGROUPSET UCGABAR_ARV UCGABAR_WAIT "
     "CGAERRBAR ACQBULK PREEXIT USETMAXREG SETMAXREG ACQSHMINIT USETSHMSZ BAR_SYNC NANOSLEEP YIELD GPUNOTIFY"},
    {Class::mbarrier, Pipe::none, Access::none, "SYNCS SYNCSU"},
    {Class::branch, Pipe::none, Access::none,
     "BRA BRX BRXU BRAU JMP JMX JMXU CALL RET EXIT KILL BSSY BSYNC BREAK BMOV BPT RPCMOV RTT PBK PCNT PRET "
     "SSY SYNC BRK CONT"},
    {Class::texture, Pipe::none, Access::none,
     "TEX TLD TLD4 TMML TXD TXQ SULD SUST SUQUERY PIXLD IPA AL2P ALD AST OUT ISBERD ISBEWR"},
    {Class::other, Pipe::none, Access::none, "NOP PMTRIG CCTLNOP"},
};

using Table = std::unordered_map<std::string_view, Opcode>;

const Table& table() {
    static const Table made = [] {
        Table out;
        for (const Group& group : kGroups)
            for (const std::string_view opcode : split_words(group.opcodes))
                out.emplace(opcode, Opcode{group.of, group.pipe, group.access, true});
        return out;
    }();
    return made;
}

int number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

// "16816", "64x128x16", "8x8x4".
bool read_shape(std::string_view text, TensorWork& work) {
    if (const auto parts = split(text, 'x'); parts.size() == 3) {
        work.m = number(parts[0]);
        work.n = number(parts[1]);
        work.k = number(parts[2]);
    } else if (text.starts_with("168") && text.size() > 3) {
        work.m = 16, work.n = 8, work.k = number(text.substr(3));
    } else if (text.starts_with("88") && text.size() > 2) {
        work.m = 8, work.n = 8, work.k = number(text.substr(2));
    }
    return work.m > 0 && work.n > 0 && work.k > 0;
}

// Accumulators are f32 where the opcode says so; HMMA and QMMA without it have f16 ones.
TensorType type_of(std::string_view base, std::string_view opcode) {
    const bool f32 = has_modifier(opcode, "F32"), scaled = has_modifier(opcode, "SF");
    switch (base.front()) {
        case 'D': return TensorType::f64;
        case 'B': return TensorType::bit;
        case 'I':
            return has_modifier(opcode, "S4") || has_modifier(opcode, "U4") ? TensorType::int4
                                                                             : TensorType::int8;
        case 'O': return TensorType::fp4_scaled;
        case 'Q':
            if (scaled) return TensorType::fp8_scaled;
            return f32 ? TensorType::fp8_f32 : TensorType::fp8_f16;
        default:
            if (has_modifier(opcode, "TF32")) return TensorType::tf32;
            return f32 ? TensorType::f16_f32 : TensorType::f16_f16;
    }
}

}  // namespace

std::string_view name(Class value) {
    constexpr std::array<std::string_view, kClasses> kNames{
        "tensor", "mufu", "fp32", "fp64", "fp16", "integer", "conversion", "predicate_select", "move",
        "uniform", "special_register", "shuffle", "shared", "global", "local", "generic", "constant",
        "matrix", "async_copy", "tma", "tensor_memory", "atomic", "barrier", "mbarrier", "branch",
        "texture", "other"};
    return kNames[static_cast<size_t>(value)];
}

std::string_view name(Pipe value) {
    constexpr std::array<std::string_view, kPipes> kNames{
        "none", "tensor", "mufu", "fma", "imad", "alu", "fp16", "fp64", "shared", "uniform"};
    return kNames[static_cast<size_t>(value)];
}

std::string_view name(TensorType value) {
    constexpr std::array<std::string_view, kTensorTypes> kNames{
        "f16_f16", "f16_f32", "tf32", "f64", "int8", "int4", "bit", "fp8_f16", "fp8_f32", "fp8_scaled", "fp4_scaled"};
    return kNames[static_cast<size_t>(value)];
}

std::string_view base_name(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool has_modifier(std::string_view opcode, std::string_view modifier) {
    for (size_t at = opcode.find('.'); at != std::string_view::npos;) {
        const size_t end = opcode.find('.', at + 1);
        if (opcode.substr(at + 1, end == std::string_view::npos ? end : end - at - 1) == modifier)
            return true;
        at = end;
    }
    return false;
}

Opcode classify(std::string_view opcode) {
    const std::string_view base = base_name(opcode);
    if (base == "IMAD" && has_modifier(opcode, "MOV"))
        return {Class::move, Pipe::imad, Access::none, true};
    const auto found = table().find(base);
    return found == table().end() ? Opcode{} : found->second;
}

int access_bits(std::string_view opcode) {
    if (has_modifier(opcode, "U8") || has_modifier(opcode, "S8")) return 8;
    if (has_modifier(opcode, "U16") || has_modifier(opcode, "S16")) return 16;
    if (has_modifier(opcode, "64")) return 64;
    if (has_modifier(opcode, "128")) return 128;
    if (has_modifier(opcode, "ENL2") || has_modifier(opcode, "256")) return 256;
    return 32;
}

size_t width_index(int bits) {
    return static_cast<size_t>(std::find(kWidths.begin(), kWidths.end(), bits) - kWidths.begin());
}

int shared_bytes(std::string_view opcode) {
    const std::string_view base = base_name(opcode);
    constexpr int kLanes = 32;
    if (base == "LDS" || base == "STS") return kLanes * access_bits(opcode) / 8;
    if (base != "LDSM" && base != "STSM") return 0;
    // An 8x8 matrix of 16-bit elements is 128 bytes; M88 and MT88 stand without a count for one.
    const int matrices = has_modifier(opcode, "4") ? 4 : has_modifier(opcode, "2") ? 2 : 1;
    return matrices * 128;
}

std::optional<TensorWork> tensor_work(std::string_view opcode) {
    const std::string_view base = base_name(opcode);
    if (base.starts_with("UTC") || classify(opcode).of != Class::tensor) return std::nullopt;
    TensorWork work;
    work.warpgroup = base.ends_with("GMMA");
    work.sparse = has_modifier(opcode, "SP");
    work.type = type_of(base, opcode);
    for (const std::string_view part : split(opcode, '.'))
        if (read_shape(part, work)) return work;
    return std::nullopt;
}

}  // namespace ww::sass
