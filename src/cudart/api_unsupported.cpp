// SPDX-License-Identifier: Apache-2.0
// What is not supported says so, by name. Arguments are not looked at: the calling convention lets a
// function ignore those it does not know.
#include "cudart/abi.hpp"

using namespace ww::cudart;

#define WW_UNSUPPORTED(name)                                                                        \
    WW_API(name)() {                                                                                \
        return call(#name, [](Session& session) {                                                   \
            return session.complain(#name, kNotSupported, "not supported by `warpwright run`");     \
        });                                                                                         \
    }
#include "cudart/unsupported.def"
#undef WW_UNSUPPORTED
