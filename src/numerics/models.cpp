// SPDX-License-Identifier: Apache-2.0
// The table of tensor-core models: which GPU generation sums how, for which kind.
// Measured on an H200: the sm_90 rows. The others are taken from published models of the chips.
#include <fmt/format.h>

#include <algorithm>

#include "numerics/tensor_core.hpp"

namespace ww::numerics {
namespace {

enum class Family { ampere, ada, hopper, blackwell, blackwell_rtx, unknown };

Family family(int sm) {
    switch (sm) {
        case 80:
        case 86:
        case 87:
        case 88:
            return Family::ampere;
        case 89:
            return Family::ada;
        case 90:
            return Family::hopper;
        case 100:
        case 101:
        case 103:
        case 110:
            return Family::blackwell;
        case 120:
        case 121:
            return Family::blackwell_rtx;
        default:
            return Family::unknown;
    }
}

bool is_integer(Format f) {
    return f == Format::s8 || f == Format::u8 || f == Format::s4 || f == Format::u4;
}
bool is_fp8(Format f) { return f == Format::e4m3 || f == Format::e5m2; }
bool is_fp8_or_less(Format f) {
    return is_fp8(f) || f == Format::e3m2 || f == Format::e2m3 || f == Format::e2m1;
}

Failure no_model(const MmaKind& kind, std::string_view why) {
    const std::string_view unit = kind.unit == Unit::mma_sync ? "mma.sync"
                                  : kind.unit == Unit::wgmma  ? "wgmma"
                                                              : "tcgen05.mma";
    Diagnostic diagnostic;
    diagnostic.severity = Severity::unsupported;
    diagnostic.message = fmt::format("no tensor-core model for {} {}.{}.{} on sm_{}: {}", unit,
                                     info(kind.accumulator).name, info(kind.a).name,
                                     info(kind.b).name, kind.sm, why);
    return fail(std::move(diagnostic));
}

Model base_model(const MmaKind& kind) {
    Model model;
    model.a = kind.a;
    model.b = kind.b;
    model.accumulator = kind.accumulator;
    model.scale = kind.scale;
    model.scale_block = kind.scale_block;
    model.saturate = kind.saturate;
    return model;
}

Result<Model> scaled_model(const MmaKind& kind, Family arch) {
    Model model = base_model(kind);
    if (arch != Family::blackwell && arch != Family::blackwell_rtx) {
        return no_model(kind, "block scales need sm_100 or later");
    }
    if (kind.accumulator != Format::f32)
        return no_model(kind, "block-scaled kinds accumulate in f32");
    if (kind.packed_fp4) {
        const bool scale_fits =
            (kind.scale == Format::ue4m3 && kind.scale_block == 16) ||
            (kind.scale == Format::ue8m0 && (kind.scale_block == 16 || kind.scale_block == 32));
        if (kind.a != Format::e2m1 || kind.b != Format::e2m1 || !scale_fits) {
            return no_model(
                kind, "mxf4 and mxf4nvf4 take e2m1 with ue4m3 scales of 16 or ue8m0 of 16 or 32");
        }
        model.scheme = Scheme::scaled_groups;
        model.chunk = 64;
        model.fraction_bits = 35;
        return model;
    }
    if (!is_fp8_or_less(kind.a) || !is_fp8_or_less(kind.b) || kind.scale != Format::ue8m0 ||
        kind.scale_block != 32) {
        return no_model(kind, "mxf8f6f4 takes fp8, fp6 or fp4 with ue8m0 scales of 32");
    }
    model.scheme = Scheme::scaled_fused;
    model.chunk = 32;
    return model;
}

Result<Model> narrow_model(const MmaKind& kind, Family arch) {
    Model model = base_model(kind);
    model.chunk = 32;
    if (kind.accumulator != Format::f32 && kind.accumulator != Format::f16) {
        return no_model(kind, "fp8 kinds accumulate in f32 or f16");
    }
    if (arch == Family::ada || (arch == Family::hopper && kind.unit == Unit::wgmma)) {
        if (!is_fp8(kind.a) || !is_fp8(kind.b))
            return no_model(kind, "this chip has e4m3 and e5m2 only");
        model.chunk = arch == Family::ada ? 16 : 32;
        model.fraction_bits = 13;
        model.output_fraction_bits = 13;
        return model;
    }
    if (arch == Family::hopper) {
        if (!is_fp8(kind.a) || !is_fp8(kind.b))
            return no_model(kind, "this chip has e4m3 and e5m2 only");
        model.scheme = Scheme::fp8_as_f16;
        model.chunk = 16;
        return model;
    }
    if (arch == Family::blackwell && kind.unit == Unit::mma_sync) {
        return no_model(kind, "how mma.sync computes fp8 on this chip is not published");
    }
    return arch == Family::ampere ? Result<Model>(no_model(kind, "fp8 needs sm_89 or later"))
                                  : model;
}

Result<Model> wide_model(const MmaKind& kind, Family arch) {
    Model model = base_model(kind);
    const bool f16_accumulator = kind.accumulator == Format::f16 && kind.a == Format::f16;
    if (kind.accumulator != Format::f32 && !f16_accumulator) {
        return no_model(kind, "bf16 and tf32 accumulate in f32, f16 in f32 or f16");
    }
    if (kind.quad) {
        if (kind.a != Format::f16) return no_model(kind, "m8n8k4 is for f16");
        model.scheme = Scheme::quad_f16;
        model.chunk = 4;
        return model;
    }
    const int terms = kind.a == Format::tf32 ? 8 : 16;
    const bool early = arch == Family::ampere || arch == Family::ada;
    model.chunk = early ? terms / 2 : terms;
    model.fraction_bits = early ? 24 : 25;
    return model;
}

}  // namespace

Result<Model> find_model(const MmaKind& kind) {
    const Family arch = family(kind.sm);
    if (arch == Family::unknown)
        return no_model(kind, "known are sm_80 to sm_90, sm_100 to sm_121");
    if (kind.unit == Unit::wgmma && arch != Family::hopper)
        return no_model(kind, "wgmma is sm_90 only");
    if (kind.unit == Unit::tcgen05 && arch != Family::blackwell) {
        return no_model(kind, "tcgen05 is sm_100 to sm_110 only");
    }
    if (kind.scale != Format::none || kind.packed_fp4) return scaled_model(kind, arch);
    if (kind.a == Format::f64 && kind.b == Format::f64 && kind.accumulator == Format::f64) {
        Model model = base_model(kind);
        model.scheme = Scheme::f64_chain;
        model.chunk = 1;
        return model;
    }
    if (is_integer(kind.a) && is_integer(kind.b) && kind.accumulator == Format::s32 &&
        info(kind.a).bits == info(kind.b).bits) {
        Model model = base_model(kind);
        model.scheme = Scheme::integer;
        return model;
    }
    if (kind.a == Format::b1 && kind.b == Format::b1 && kind.accumulator == Format::s32) {
        Model model = base_model(kind);
        model.scheme = kind.binary_and ? Scheme::binary_and : Scheme::binary_xor;
        return model;
    }
    if (is_fp8_or_less(kind.a) && is_fp8_or_less(kind.b)) return narrow_model(kind, arch);
    const bool wide = kind.a == Format::f16 || kind.a == Format::bf16 || kind.a == Format::tf32;
    if (wide && kind.a == kind.b) return wide_model(kind, arch);
    return no_model(kind, "these operand types do not go together");
}

std::string describe(const Model& model) {
    const auto a = info(model.a).name, b = info(model.b).name, d = info(model.accumulator).name;
    switch (model.scheme) {
        case Scheme::fused:
            return fmt::format("{} x {} -> {}: fused sums of {} products, F = {}, {} result bits",
                               a, b, d, model.chunk, model.fraction_bits,
                               model.output_fraction_bits);
        case Scheme::fp8_as_f16:
            return fmt::format(
                "{} x {} -> {}: two fused f16 sums by k % 4, F = {}, then c by a nearest add", a, b,
                d, model.fraction_bits);
        case Scheme::scaled_fused:
            return fmt::format("{} x {} -> {}: fused sums of {} products scaled by {}, F = {}", a,
                               b, d, model.chunk, info(model.scale).name, model.fraction_bits);
        case Scheme::scaled_groups:
            return fmt::format(
                "{} x {} -> {}: fused sums of {} exact groups of 16 scaled by {}, F = {}", a, b, d,
                model.chunk / 16, info(model.scale).name, model.fraction_bits);
        case Scheme::integer:
            return fmt::format("{} x {} -> s32: exact, {}", a, b,
                               model.saturate ? "saturated" : "wraps");
        case Scheme::binary_xor:
            return "b1 xor popc -> s32";
        case Scheme::binary_and:
            return "b1 and popc -> s32";
        case Scheme::f64_chain:
            return "f64: a chain of fma, k ascending, nearest even";
        case Scheme::quad_f16:
            return fmt::format("f16 m8n8k4 -> {}: f32 fma in software", d);
    }
    return {};
}

int row_bytes(const Model& model, Format element, int k) {
    const int bits = info(element).bits;
    if (bits == 1) return k / 8;
    const bool packed =
        bits == 4 && (element != Format::e2m1 || model.scheme == Scheme::scaled_groups);
    return packed ? k / 2 : k * std::max(1, bits / 8);
}

}  // namespace ww::numerics
