// SPDX-License-Identifier: Apache-2.0
// The chapters of the instruction table. A new chapter is one file, one line here and one in
// chapters.cpp.
#pragma once
#include <span>
#include <string_view>

#include "isa/row.hpp"

namespace ww::isa {

struct Chapter {
    std::string_view name;
    std::span<const Row> rows;
};

std::span<const Chapter> chapters();

// One function a chapter, each in src/isa/<name>.cpp.
std::span<const Row> integer_arith_rows();
std::span<const Row> integer_bits_rows();
std::span<const Row> extended_precision_rows();
std::span<const Row> logic_shift_rows();
std::span<const Row> compare_select_rows();
std::span<const Row> float_arith_rows();
std::span<const Row> float_special_rows();
std::span<const Row> half_arith_rows();
std::span<const Row> mixed_precision_rows();
std::span<const Row> half_compare_rows();
std::span<const Row> convert_rows();
std::span<const Row> convert_packed_rows();
std::span<const Row> convert_pack_rows();
std::span<const Row> data_movement_rows();
std::span<const Row> load_store_rows();
std::span<const Row> address_rows();
std::span<const Row> warp_rows();
std::span<const Row> atomics_rows();
std::span<const Row> sync_rows();
std::span<const Row> misc_rows();
std::span<const Row> async_copy_rows();
std::span<const Row> matrix_load_rows();
std::span<const Row> mma_rows();
std::span<const Row> wmma_rows();
std::span<const Row> mbarrier_rows();
std::span<const Row> async_bulk_rows();
std::span<const Row> wgmma_rows();
std::span<const Row> tcgen05_rows();
std::span<const Row> texture_rows();
std::span<const Row> multimem_rows();
std::span<const Row> stack_rows();
std::span<const Row> control_rows();

}  // namespace ww::isa
