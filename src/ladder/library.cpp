// SPDX-License-Identifier: Apache-2.0
// Looking up library stages and the values they read.
#include "ladder/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::ladder {

Status LibraryCall::require(std::initializer_list<std::string_view> input_names,
                            std::initializer_list<std::string_view> integers,
                            std::initializer_list<std::string_view> numbers) const {
    const auto refuse = [this](std::string message) {
        fits = false;
        return fail(std::move(message));
    };
    for (const std::string_view name : input_names)
        if (!inputs.count(name))
            return refuse(fmt::format("the library function reads tensor '{}'; its stage in port.toml "
                                    "has no such input", name));
    for (const std::string_view name : integers)
        if (!scope->integers.count(name))
            return refuse(fmt::format("the library function reads '{}' as an integer; port.toml has no "
                                    "such axis or integer scalar", name));
    for (const std::string_view name : numbers)
        if (!scope->reals.count(name) && !scope->integers.count(name))
            return refuse(fmt::format("the library function reads '{}'; port.toml has no such axis or "
                                    "scalar", name));
    return ok();
}

Status LibraryCall::require_elements(std::string_view name, int64_t elements) const {
    const port::Tensor* found = output(name);
    if (!found) found = tap(name);
    if (!found || found->layout.elements == elements) return ok();
    fits = false;
    return fail(fmt::format("the library function makes {} elements of '{}'; port.toml says {}", elements,
                            name, found->layout.text()));
}

int64_t LibraryCall::integer(std::string_view name) const {
    const auto found = scope->integers.find(name);
    WW_CHECK(found != scope->integers.end(), std::string(name));
    return found->second;
}

double LibraryCall::real(std::string_view name) const {
    const auto found = scope->reals.find(name);
    return found != scope->reals.end() ? found->second : static_cast<double>(integer(name));
}

const port::Tensor& LibraryCall::input(std::string_view name) const {
    const auto found = inputs.find(name);
    WW_CHECK(found != inputs.end(), std::string(name));
    return *found->second;
}

port::Tensor* LibraryCall::output(std::string_view name) const {
    const auto found = outputs.find(name);
    return found == outputs.end() ? nullptr : found->second;
}

port::Tensor* LibraryCall::tap(std::string_view name) const {
    const auto found = taps.find(name);
    return found == taps.end() ? nullptr : found->second;
}

namespace {

Result<LibraryFunction> from_shared_object(const std::string& symbol,
                                           const std::filesystem::path& path) {
    // Never closed: the function must stay valid as long as the program runs.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        std::string_view why = dlerror();
        const std::string prefix = path.string() + ": ";  // the message names the file already
        if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
        return fail(fmt::format("cannot load {}: {}", display_path(path), why));
    }
    void* address = dlsym(handle, symbol.c_str());
    if (!address) return fail(fmt::format("{} has no symbol {}", display_path(path), symbol));
    return reinterpret_cast<LibraryFunction>(address);
}

}  // namespace

Result<LibraryFunction> find_library(const LibraryTable& table, const std::string& symbol,
                                     const std::filesystem::path& path) {
    if (!path.empty()) return from_shared_object(symbol, path);
    const auto found = table.find(symbol);
    if (found != table.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, function] : table) known.push_back(name);
    const std::string near = nearest(symbol, known);
    return fail("no library symbol " + symbol + " in this program" +
                (near.empty() ? "; name the shared object that has it with path = \"...\""
                              : "; did you mean " + near + "?"));
}

}  // namespace ww::ladder
