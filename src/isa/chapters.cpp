// SPDX-License-Identifier: Apache-2.0
// The one list of chapters, in the manual's order.
#include "isa/isa.hpp"

namespace ww::isa {

std::span<const Chapter> chapters() {
    static const Chapter kChapters[] = {
        {"integer_arith", integer_arith_rows()},
        {"integer_bits", integer_bits_rows()},
        {"extended_precision", extended_precision_rows()},
        {"logic_shift", logic_shift_rows()},
        {"compare_select", compare_select_rows()},
        {"float_arith", float_arith_rows()},
        {"float_special", float_special_rows()},
        {"half_arith", half_arith_rows()},
        {"mixed_precision", mixed_precision_rows()},
        {"half_compare", half_compare_rows()},
        {"convert", convert_rows()},
        {"convert_packed", convert_packed_rows()},
        {"convert_pack", convert_pack_rows()},
        {"data_movement", data_movement_rows()},
        {"load_store", load_store_rows()},
        {"address", address_rows()},
        {"warp", warp_rows()},
        {"atomics", atomics_rows()},
        {"sync", sync_rows()},
        {"misc", misc_rows()},
        {"async_copy", async_copy_rows()},
        {"matrix_load", matrix_load_rows()},
        {"mma", mma_rows()},
        {"wmma", wmma_rows()},
        {"mbarrier", mbarrier_rows()},
        {"async_bulk", async_bulk_rows()},
        {"wgmma", wgmma_rows()},
        {"tcgen05", tcgen05_rows()},
        {"texture", texture_rows()},
        {"multimem", multimem_rows()},
        {"stack", stack_rows()},
        {"control", control_rows()},
    };
    return kChapters;
}

}  // namespace ww::isa
