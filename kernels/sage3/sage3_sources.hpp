// SPDX-License-Identifier: Apache-2.0
// The kernels' sources as part of the library; cmake/embed_kernels.cmake makes the definition.
#pragma once
#include <string_view>

namespace ww::sage3 {

// name: of a step's source, "sage3_attention.cu". Empty: there is none of that name.
std::string_view embedded_source(std::string_view name);

}  // namespace ww::sage3
