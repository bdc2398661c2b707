// SPDX-License-Identifier: Apache-2.0
// cubin::read on any bytes, and on good images with some bytes changed: a first byte that is small
// names an image, and each four bytes after it are a change {where, what, how}.
// links: cubin base
#include "../unit/cubin/samples.hpp"
#include "cubin/cubin.hpp"
#include "fuzz.hpp"

namespace {

const std::vector<std::string>& images() {
    static const std::vector<std::string> built = ww::cubin::test::sample_images();
    return built;
}

std::string changed(const uint8_t* data, size_t size) {
    std::string image = images()[data[0]];
    for (size_t i = 1; i + 4 <= size && !image.empty(); i += 4) {
        const size_t at = (data[i] | size_t{data[i + 1]} << 8) % image.size();
        if (data[i + 3] == 0xff)
            image.resize(at);
        else if (data[i + 3] >= 0x80)
            image[at] = static_cast<char>(image[at] + data[i + 2]);
        else
            image[at] = static_cast<char>(data[i + 2]);
    }
    return image;
}

void read(std::string_view bytes) {
    const auto cubin = ww::cubin::read(bytes, "fuzz.cubin");
    if (!cubin) {  // a failure must say why, and where
        if (cubin.error().empty() || cubin.error()[0].file != "fuzz.cubin") __builtin_trap();
        return;
    }
    for (const auto& kernel : cubin->kernels) {  // views must lie in the image
        for (const std::string_view view : {kernel.name, kernel.inside, kernel.code})
            if (!view.empty() && (view.data() < bytes.data() ||
                                  view.data() + view.size() > bytes.data() + bytes.size()))
                __builtin_trap();
        if (kernel.code.size() != kernel.code_bytes) __builtin_trap();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 0 && data[0] < images().size())
        read(changed(data, size));
    else
        read({reinterpret_cast<const char*>(data), size});
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() {
    std::vector<std::string> seeds = images();
    for (size_t i = 0; i < images().size(); ++i) {  // changes all over each image
        std::string changes(1, static_cast<char>(i));
        for (size_t at = 0; at < images()[i].size(); at += 97)
            changes += ww::cubin::test::little(at, 2) + std::string("\x01\x80", 2);
        for (size_t k = 0; k + 32 < changes.size(); k += 32)
            seeds.push_back(changes.substr(0, 1) + changes.substr(1 + k, 4 + k % 13));
    }
    return seeds;
}

std::vector<std::string> ww_fuzz_words() {
    using ww::cubin::test::little;
    return {
        "\x7f"
        "ELF",
        ".text.k",
        ".nv.info",
        ".nv.shared.k",
        ".nv.constant0.k",
        ".symtab",
        little(0, 4),
        little(~uint64_t{0}, 8),
        little(0xffffffff, 4),
        little(0x7fffffff, 4),
        little(0xffff, 2),
        little(0x70000000, 4),
        little(0xff00, 2),
        little(1, 8),
        little(0x10000000, 4),
        little(6, 8),
        std::string("\x04\x2f\x08\x00", 4)};
}
