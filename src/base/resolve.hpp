// SPDX-License-Identifier: Apache-2.0
// A function of a library that was loaded with dlopen.
#pragma once
#include <dlfcn.h>

namespace ww {

// Sets function to the symbol; false, and null, when the library has none of that name.
template <class Function>
bool resolve(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

}  // namespace ww
