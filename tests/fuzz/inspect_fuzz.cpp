// SPDX-License-Identifier: Apache-2.0
// The text readers of src/inspect: resources.txt and asm_info.json. What is read is also judged and
// compared with itself, which must find no difference.
// links: inspect base
// seeds: tests/fuzz/inspect
#include "fuzz.hpp"
#include "seed_files.hpp"
#include "inspect/diff.hpp"
#include "inspect/gate.hpp"

namespace {

void read_resources(const std::string& text) {
    const auto read = ww::inspect::read_allowances(text, "resources.txt");
    if (!read) {
        if (read.error().empty() || read.error()[0].file != "resources.txt") __builtin_trap();
        return;
    }
    if (!ww::inspect::judge(*read, *read).ok()) __builtin_trap();
    const auto again = ww::inspect::read_allowances(ww::inspect::to_text(*read), "again");
    if (!again || ww::inspect::to_text(*again) != ww::inspect::to_text(*read)) __builtin_trap();
}

void read_document(const std::string& text) {
    const auto read = ww::inspect::read_facts(text, "asm_info.json");
    if (!read) {
        if (read.error().empty() || read.error()[0].file != "asm_info.json") __builtin_trap();
        return;
    }
    const ww::inspect::AsmDiff diff = ww::inspect::compare(*read, *read);
    for (const auto& kernel : diff.kernels)
        if (kernel.before.name == kernel.after.name && kernel.before.files == kernel.after.files && kernel.changed() &&
            kernel.before.target == kernel.after.target)
            __builtin_trap();
    (void)ww::inspect::to_text(diff);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (text.find('{') == std::string::npos)
        read_resources(text);
    else
        read_document(text);
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() { return seed_files("tests/fuzz/inspect"); }

std::vector<std::string> ww_fuzz_words() {
    return {"kernel a.sm_90a a\n", "registers 1\n", "spill_bytes 1\n", "loop 1 2\n", "null", "\"loops\": [", "\"parent\": 0", "[]", "{}", "1e400", "-1"};
}
