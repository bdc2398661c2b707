// SPDX-License-Identifier: Apache-2.0
// Tensor copies against plain loops: loads, stores and additions of 1 to 5 dimensions, edges, element
// strides, swizzles. Where there is a GPU, it runs the same kernels and must give the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/policy.hpp"
#include "device/device.hpp"

namespace ww::device {
namespace {

struct Case {
    const char* name;
    TensorMapTiled map;  // address is filled in
    std::vector<int32_t> at;
    uint32_t element_bytes;
};

constexpr uint32_t kU8 = 0, kU32 = 2, kF16 = 6, kF32 = 7, kBf16 = 9, kU4 = 13;

std::vector<Case> cases() {
    const auto map = [](uint32_t type, std::vector<uint64_t> sizes, std::vector<uint64_t> strides, std::vector<uint32_t> box,
                        uint32_t swizzle = 0, std::vector<uint32_t> steps = {}, uint32_t fill = 0) {
        if (steps.empty()) steps.assign(sizes.size(), 1);
        return TensorMapTiled{.data_type = type, .sizes = sizes, .strides = strides, .box = box, .element_strides = steps,
                              .swizzle = swizzle, .oob_fill = fill};
    };
    return {
        {"line", map(kU32, {100}, {}, {32}), {16}, 4},
        {"line_over_the_end", map(kU32, {100}, {}, {32}), {84}, 4},
        {"line_before_the_start", map(kU32, {100}, {}, {32}), {-7}, 4},
        {"outside", map(kU32, {100}, {}, {32}), {4000}, 4},
        {"bytes", map(kU8, {64, 40}, {64}, {48, 9}), {8, 3}, 1},
        {"halves_swizzle_128", map(kF16, {200, 30}, {416}, {64, 16}, 3), {64, 4}, 2},
        {"halves_swizzle_128_edge", map(kF16, {200, 30}, {416}, {64, 16}, 3), {150, 20}, 2},
        {"halves_swizzle_64", map(kBf16, {200, 30}, {416}, {32, 24}, 2), {-3, -2}, 2},
        {"words_swizzle_32", map(kU32, {40, 20}, {160}, {8, 20}, 1), {2, 1}, 4},
        {"swizzle_128_short_rows", map(kF16, {200, 30}, {416}, {32, 16}, 3), {0, 0}, 2},
        {"swizzle_128_last_span_partly_used", map(kF16, {200, 30}, {416}, {16, 11}, 3), {8, 2}, 2},
        {"planes", map(kF32, {20, 6, 5}, {96, 600 * 8}, {12, 4, 3}), {10, -1, 3}, 4},
        {"four", map(kF16, {24, 4, 3, 3}, {48, 208, 640}, {16, 3, 2, 2}), {9, 2, -1, 2}, 2},
        {"five", map(kU32, {8, 3, 3, 3, 3}, {32, 96, 288, 864}, {4, 2, 2, 2, 2}), {2, 1, 2, 0, 2}, 4},
        {"element_strides", map(kF32, {20, 12, 6}, {96, 1200}, {12, 7, 5}, 0, {1, 2, 3}), {4, 1, 0}, 4},
    };
}

uint64_t footprint(const Case& c) {
    uint64_t bytes = c.map.sizes[0] * c.element_bytes;
    for (size_t i = 0; i < c.map.strides.size(); ++i) bytes += (c.map.sizes[i + 1] - 1) * c.map.strides[i];
    return bytes;
}

uint32_t count_along(const Case& c, size_t i) {
    return i == 0 ? c.map.box[0] : (c.map.box[i] + c.map.element_strides[i] - 1) / c.map.element_strides[i];
}
uint64_t box_bytes(const Case& c) {
    uint64_t bytes = c.element_bytes;
    for (size_t i = 0; i < c.map.sizes.size(); ++i) bytes *= count_along(c, i);
    return bytes;
}

// Of shared memory: a swizzle exchanges 16-byte pieces within spans, and may use any of the last one.
uint64_t room(const Case& c) {
    const uint64_t span = c.map.swizzle ? uint64_t{16} << c.map.swizzle : 1;
    return (box_bytes(c) + span - 1) / span * span;
}

// Element by element: f(offset in shared memory, offset in the tensor or -1).
template <class F>
void each_element(const Case& c, F&& f) {
    const uint64_t count = box_bytes(c) / c.element_bytes;
    for (uint64_t e = 0; e < count; ++e) {
        int64_t offset = 0;
        uint64_t rest = e;
        for (size_t i = 0; i < c.map.sizes.size(); ++i) {
            const int64_t step = i == 0 ? 1 : c.map.element_strides[i];
            const int64_t index = c.at[i] + static_cast<int64_t>(rest % count_along(c, i)) * step;
            rest /= count_along(c, i);
            if (index < 0 || index >= static_cast<int64_t>(c.map.sizes[i])) offset = INT64_MIN;
            if (offset != INT64_MIN) offset += index * static_cast<int64_t>(i == 0 ? c.element_bytes : c.map.strides[i - 1]);
        }
        uint64_t shared = e * c.element_bytes;
        // Swizzle<b, 4, 3> of the byte address: bits 4.. with bits 7..
        for (uint32_t bit = 0; bit < c.map.swizzle; ++bit) shared ^= (e * c.element_bytes >> (7 + bit) & 1) << (4 + bit);
        f(shared, offset == INT64_MIN ? int64_t{-1} : offset);
    }
}

std::vector<std::byte> pattern(uint64_t bytes, uint64_t seed) {
    std::vector<std::byte> out(bytes);
    Random random(seed);
    for (std::byte& b : out) b = static_cast<std::byte>(random.next());
    return out;
}

std::string coordinates(size_t rank) {
    std::string text;
    for (size_t i = 0; i < rank; ++i) text += fmt::format("{}c{}", i ? ", " : "", i);
    return fmt::format("{{{}}}", text);
}

// Block 32. Shared memory starts with `in`, goes to `out`; between the two, one tensor operation.
std::string kernel(size_t rank, uint64_t bytes, const std::string& operation) {
    std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, "
        ".param .u64 out, .param .align 4 .b8 at[20]) {\n  .reg .b64 a, b, m, g; .reg .b32 i, t, n; .reg .b8 v; .reg .pred p, first; .reg .s32 c<5>;\n"
        "  .shared .align 1024 .b8 tile[" + std::to_string(bytes) + "]; .shared .align 8 .b64 bar;\n"
        "  ld.param.u64 a, [in]; ld.param.u64 b, [out]; mov.b64 m, map; cvta.param.u64 m, m;\n";
    for (size_t i = 0; i < rank; ++i) text += fmt::format("  ld.param.s32 c{}, [at+{}];\n", i, 4 * i);
    text += "  mov.u32 i, %tid.x; setp.eq.u32 first, i, 0; @first mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "FILL: cvt.u64.u32 g, i; add.u64 g, a, g; ld.global.b8 v, [g]; mov.u32 t, tile; add.u32 t, t, i; st.shared.b8 [t], v;\n"
        "  add.u32 i, i, 32; setp.lt.u32 p, i, " + std::to_string(bytes) + "; @p bra FILL;\n"
        "  fence.proxy.async.shared::cta; bar.sync 0; @!first bra WAIT;\n" + operation +
        "WAIT: bar.sync 0; mov.u32 i, %tid.x;\n"
        "DUMP: cvt.u64.u32 g, i; add.u64 g, b, g; mov.u32 t, tile; add.u32 t, t, i; ld.shared.b8 v, [t]; st.global.b8 [g], v;\n"
        "  add.u32 i, i, 32; setp.lt.u32 p, i, " + std::to_string(bytes) + "; @p bra DUMP;\n  ret;\n}\n";
    return text;
}

std::string load_of(size_t rank, uint64_t bytes) {
    return "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " + std::to_string(bytes) + ";\n  cp.async.bulk.tensor." +
           std::to_string(rank) + "d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [m, " + coordinates(rank) +
           "], [bar];\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 0; @!p bra AGAIN;\n";
}
std::string store_of(size_t rank, const std::string& opcode, const std::string& tail) {
    return "  " + opcode + std::to_string(rank) + "d.global.shared::cta" + tail + ".bulk_group [m, " + coordinates(rank) +
           "], [tile];\n  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
}

struct Answer {
    std::vector<std::byte> tensor, shared;
};

Result<Answer> run(Device& device, const Case& c, const std::string& ptx, const std::vector<std::byte>& tensor,
                   const std::vector<std::byte>& shared) {
    WW_TRY(at, device.allocate(tensor.size()));
    WW_TRY(in, device.allocate(shared.size()));
    WW_TRY(out, device.allocate(shared.size()));
    WW_TRY(copied, device.copy_in(at, tensor));
    (void)copied;
    WW_TRY(filled, device.copy_in(in, shared));
    (void)filled;
    TensorMapTiled tiled = c.map;
    tiled.address = at;
    WW_TRY(map, device.encode_tensor_map(tiled));
    WW_TRY(module, device.load({Image::Kind::ptx, "tensor.ptx", ptx}));
    WW_TRY(id, device.kernel(module, "k"));
    std::array<int32_t, 5> coordinates{};
    std::copy(c.at.begin(), c.at.end(), coordinates.begin());
    Argument map_argument{.bytes = std::vector<std::byte>(map.begin(), map.end()), .align = 64};
    WW_TRY(launched, device.launch(id, {.block = {32}, .arguments = {map_argument, Argument::of(in), Argument::of(out), Argument::of(coordinates)}}));
    (void)launched;
    Answer answer{std::vector<std::byte>(tensor.size()), std::vector<std::byte>(shared.size())};
    WW_TRY(got, device.copy_out(answer.tensor, at));
    (void)got;
    WW_TRY(dumped, device.copy_out(answer.shared, out));
    (void)dumped;
    return answer;
}

// On the emulator with every policy, and on a GPU if there is one: all the same.
Answer run_everywhere(const Case& c, const std::string& ptx, const std::vector<std::byte>& tensor, const std::vector<std::byte>& shared) {
    Answer first;
    for (const char* policy : {"eager", "lazy", "random:1"}) {
        const auto device = open_emulated({.threads = 1, .async = parse_async_policy(policy).value()});
        const Result<Answer> answer = run(*device, c, ptx, tensor, shared);
        EXPECT_TRUE(answer) << c.name << " " << policy << ": " << format(answer.error());
        if (!answer) return {};
        if (first.shared.empty()) first = *answer;
        EXPECT_TRUE(answer->tensor == first.tensor && answer->shared == first.shared) << c.name << " " << policy;
    }
    if (const auto gpu = open_cuda(); gpu && (*gpu)->info().sm == 90) {
        const Result<Answer> answer = run(**gpu, c, ptx, tensor, shared);
        EXPECT_TRUE(answer) << c.name << " on the GPU: " << format(answer.error());
        if (!answer) return first;
        EXPECT_TRUE(answer->tensor == first.tensor && answer->shared == first.shared) << c.name << ": the GPU differs";
    }
    return first;
}

TEST(TensorCopy, LoadsAreTheLoops) {
    for (const Case& c : cases()) {
        const std::vector<std::byte> tensor = pattern(footprint(c), 1), shared = pattern(room(c), 2);
        const Answer answer = run_everywhere(c, kernel(c.at.size(), shared.size(), load_of(c.at.size(), box_bytes(c))), tensor, shared);
        std::vector<std::byte> expected = shared;
        each_element(c, [&](uint64_t to, int64_t from) {
            std::memset(&expected[to], 0, c.element_bytes);
            if (from >= 0) std::memcpy(&expected[to], &tensor[static_cast<size_t>(from)], c.element_bytes);
        });
        EXPECT_TRUE(answer.shared == expected) << c.name;
    }
}

TEST(TensorCopy, StoresAreTheLoops) {
    for (const Case& c : cases()) {
        if (*std::min_element(c.at.begin(), c.at.end()) < 0) continue;
        std::vector<std::byte> tensor = pattern(footprint(c), 3);
        const std::vector<std::byte> shared = pattern(room(c), 4);
        const std::string ptx = kernel(c.at.size(), shared.size(), store_of(c.at.size(), "cp.async.bulk.tensor.", ""));
        const Answer answer = run_everywhere(c, ptx, tensor, shared);
        each_element(c, [&](uint64_t from, int64_t to) {
            if (to >= 0) std::memcpy(&tensor[static_cast<size_t>(to)], &shared[from], c.element_bytes);
        });
        EXPECT_TRUE(answer.tensor == tensor) << c.name;
    }
}

TEST(TensorCopy, AdditionsAreTheLoops) {
    for (const Case& c : cases()) {
        if (c.map.data_type != kU32 || *std::min_element(c.at.begin(), c.at.end()) < 0) continue;
        std::vector<std::byte> tensor = pattern(footprint(c), 5);
        const std::vector<std::byte> shared = pattern(room(c), 6);
        const std::string ptx = kernel(c.at.size(), shared.size(), store_of(c.at.size(), "cp.reduce.async.bulk.tensor.", ".add.tile"));
        const Answer answer = run_everywhere(c, ptx, tensor, shared);
        each_element(c, [&](uint64_t from, int64_t to) {
            if (to < 0) return;
            uint32_t old, added;
            std::memcpy(&old, &tensor[static_cast<size_t>(to)], 4);
            std::memcpy(&added, &shared[from], 4);
            old += added;
            std::memcpy(&tensor[static_cast<size_t>(to)], &old, 4);
        });
        EXPECT_TRUE(answer.tensor == tensor) << c.name;
    }
}

// Two numbers a byte: the same as a tensor of half as many bytes.
Case as_bytes(Case c) {
    c.map.data_type = kU8;
    c.map.sizes[0] /= 2, c.map.box[0] /= 2, c.at[0] /= 2;
    return c;
}

std::string for_consumer_blackwell(std::string ptx, bool own_block) {
    const std::string start = ".version 8.7\n.target sm_120a\n", cluster = ".shared::cluster.global";
    ptx.replace(0, ptx.find(".address_size"), start);
    if (const size_t at = ptx.find(cluster); own_block && at != std::string::npos) ptx.replace(at, cluster.size(), ".shared::cta.global");
    return ptx;
}

std::vector<Case> packed_cases() {
    const auto map = [](std::vector<uint64_t> sizes, std::vector<uint64_t> strides, std::vector<uint32_t> box, uint32_t swizzle) {
        const size_t rank = sizes.size();
        return TensorMapTiled{.data_type = kU4, .sizes = sizes, .strides = strides, .box = box,
                              .element_strides = std::vector<uint32_t>(rank, 1), .swizzle = swizzle};
    };
    return {
        {"packed", map({416, 30}, {208}, {64, 9}, 0), {32, 4}, 1},
        {"packed_swizzle_64_edge", map({416, 30}, {208}, {128, 16}, 2), {384, 20}, 1},
        {"packed_swizzle_128", map({416, 30}, {224}, {256, 16}, 3), {96, 3}, 1},
        {"packed_swizzle_64_before", map({416, 30}, {208}, {128, 16}, 2), {-34, -2}, 1},
        {"packed_planes", map({70, 6, 3}, {48, 288}, {32, 4, 2}, 0), {54, 4, 1}, 1},
    };
}

TEST(TensorCopy, PackedNumbersAreTheLoops) {
    for (const Case& c : packed_cases()) {
        const Case bytes = as_bytes(c);
        std::vector<std::byte> tensor = pattern(footprint(bytes), 1), shared = pattern(room(bytes), 2);
        const size_t rank = c.at.size();
        const auto answer_of = [&](const std::string& operation, const char* policy) {
            const auto device = open_emulated({.threads = 1, .async = parse_async_policy(policy).value()});
            return run(*device, c, for_consumer_blackwell(kernel(rank, shared.size(), operation), true), tensor, shared);
        };
        std::vector<std::byte> loaded = shared, stored = tensor;
        each_element(bytes, [&](uint64_t in_shared, int64_t in_tensor) {
            loaded[in_shared] = in_tensor < 0 ? std::byte{0} : tensor[static_cast<size_t>(in_tensor)];
            if (in_tensor >= 0) stored[static_cast<size_t>(in_tensor)] = shared[in_shared];
        });
        for (const char* policy : {"eager", "lazy", "random:1"}) {
            const Result<Answer> load = answer_of(load_of(rank, box_bytes(bytes)), policy);
            ASSERT_TRUE(load) << c.name << ": " << format(load.error());
            EXPECT_TRUE(load->shared == loaded && load->tensor == tensor) << c.name << " " << policy;
            if (*std::min_element(c.at.begin(), c.at.end()) < 0) continue;
            const Result<Answer> store = answer_of(store_of(rank, "cp.async.bulk.tensor.", ""), policy);
            ASSERT_TRUE(store) << c.name << ": " << format(store.error());
            EXPECT_TRUE(store->tensor == stored && store->shared == shared) << c.name << " " << policy;
        }
    }
}

// The instructions that make the map at shared address `s` that of the case, whatever it was.
std::string replacements(const Case& c, Address tensor) {
    constexpr int kElementType[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13};  // by CUtensorMapDataType
    const auto set = [](const std::string& field, const std::string& type, const std::string& value) {
        return "  tensormap.replace.tile." + field + ".shared::cta.b1024." + type + " [s], " + value + ";\n";
    };
    std::string text = fmt::format("  mov.u64 new, {};\n", tensor) + set("global_address", "b64", "new") +
                       set("rank", "b32", std::to_string(c.map.sizes.size() - 1)) +
                       set("elemtype", "b32", std::to_string(kElementType[c.map.data_type])) + set("interleave_layout", "b32", "0") +
                       set("swizzle_mode", "b32", std::to_string(c.map.swizzle)) + set("fill_mode", "b32", std::to_string(c.map.oob_fill));
    for (size_t i = 0; i < c.map.sizes.size(); ++i) {
        text += set("box_dim", "b32", fmt::format("{}, {}", i, c.map.box[i]));
        text += set("global_dim", "b32", fmt::format("{}, {}", i, c.map.sizes[i]));
        text += set("element_stride", "b32", fmt::format("{}, {}", i, c.map.element_strides[i]));
        if (i < c.map.strides.size())
            text += fmt::format("  mov.u64 new, {};\n", c.map.strides[i]) + set("global_stride", "b64", fmt::format("{}, new", i));
    }
    return text;
}

// A map of another tensor is copied to shared memory, changed there, published, and used.
std::string with_replaced_map(std::string ptx, const Case& c, Address tensor) {
    const std::string start = "  fence.proxy.async.shared::cta; bar.sync 0; @!first bra WAIT;\n";
    const std::string declared =
        "  .shared .align 128 .b8 changed[128]; .reg .b32 s, w<4>; .reg .b64 new, published;\n"
        "  mov.u32 s, changed; ld.param.u64 published, [in];\n";
    std::string copies;
    for (int i = 0; i < 128; i += 16)
        copies += fmt::format("  ld.v4.b32 {{w0, w1, w2, w3}}, [m+{}]; st.shared.v4.b32 [s+{}], {{w0, w1, w2, w3}};\n", i, i);
    const std::string publish =
        "  bar.warp.sync -1;\n"
        "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [published], [s], 128;\n"
        "  fence.proxy.tensormap::generic.acquire.gpu [published], 128; mov.u64 m, published;\n";
    const std::string guarded = "  @!first bra PUBLISH;\n" + copies + replacements(c, tensor) + "PUBLISH:\n";
    ptx.replace(ptx.find("8.0"), 3, "8.3");
    return ptx.insert(ptx.find(start), declared + guarded + publish);
}

TEST(TensorMapReplace, EveryFieldOfAMapOfAnotherTensor) {
    for (const Case& c : cases()) {
        if (c.map.data_type > 12) continue;
        const std::vector<std::byte> tensor = pattern(footprint(c), 1), shared = pattern(std::max<uint64_t>(room(c), 128), 2);
        std::vector<std::byte> expected = shared;
        each_element(c, [&](uint64_t to, int64_t from) {
            std::memset(&expected[to], 0, c.element_bytes);
            if (from >= 0) std::memcpy(&expected[to], &tensor[static_cast<size_t>(from)], c.element_bytes);
        });
        Case other{c.name, TensorMapTiled{.data_type = 1, .sizes = {64}, .box = {8}, .element_strides = {1}}, c.at, 2};
        const auto check = [&](Device& device, const std::string& where) {
            const Result<Address> at = device.allocate(tensor.size());
            ASSERT_TRUE(at && device.copy_in(*at, tensor)) << where;
            const std::string ptx = with_replaced_map(kernel(c.at.size(), shared.size(), load_of(c.at.size(), box_bytes(c))), c, *at);
            const Result<Answer> answer = run(device, other, ptx, pattern(256, 9), shared);
            ASSERT_TRUE(answer) << c.name << " " << where << ": " << format(answer.error());
            EXPECT_TRUE(answer->shared == expected) << c.name << " " << where;
        };
        for (const char* policy : {"eager", "lazy", "random:1"})
            check(*open_emulated({.threads = 1, .async = parse_async_policy(policy).value()}), policy);
        if (const auto gpu = open_cuda(); gpu && (*gpu)->info().sm == 90) check(**gpu, "on the GPU");
    }
}

std::string failure_of(const Case& c, const std::string& ptx, AsyncPolicy policy, uint64_t tensor_bytes) {
    const auto device = open_emulated({.threads = 1, .async = policy});
    const Result<Answer> answer = run(*device, c, ptx, pattern(tensor_bytes, 1), pattern(room(c), 2));
    return answer ? "it succeeds" : format(answer.error());
}

std::string failure(const Case& c, const std::string& operation) {
    return failure_of(c, kernel(c.at.size(), room(c), operation), {}, footprint(c));
}

// The tile is the last of shared memory, and ends where the box's bytes do.
TEST(TensorCopy, ASwizzledBoxMustHaveRoomForItsLastSpan) {
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    for (Case c : cases()) {
        if (c.map.swizzle == 0) continue;
        c.map.box = {8 * 2 / c.element_bytes, 3};  // 3 rows of 16 bytes
        c.at = {0, 0};
        for (const std::string& operation : {load_of(2, box_bytes(c)), store_of(2, "cp.async.bulk.tensor.", "")}) {
            std::string ptx = kernel(2, box_bytes(c), operation);
            const std::string bar = ".shared .align 8 .b64 bar;";
            ptx.erase(ptx.find(bar), bar.size());
            ptx.insert(ptx.find(".shared .align 1024"), bar + " ");
            const std::string text = failure_of(c, ptx, {}, footprint(c));
            EXPECT_TRUE(has(text, "out-of-bounds shared") && has(text, "cp.async.bulk.tensor.2d")) << c.name << ": " << text;
        }
    }
}

// At issue: before the warp goes on to its next instruction, a trap, under every policy.
TEST(TensorCopy, GlobalMemoryIsCheckedAtIssue) {
    for (const Case& c : cases()) {
        if (*std::min_element(c.at.begin(), c.at.end()) < 0 || footprint(c) < 512 || c.at[0] == 4000) continue;
        for (const std::string& operation : {load_of(c.at.size(), box_bytes(c)), store_of(c.at.size(), "cp.async.bulk.tensor.", "")}) {
            std::string opcode = operation;
            opcode.insert(opcode.find(';', opcode.find("cp.async.bulk.tensor")) + 1, " trap;");
            for (const char* policy : {"eager", "lazy", "random:1"}) {
                // The map says more than the allocation holds: it is all before the box's last element.
                uint64_t end = 0;
                each_element(c, [&](uint64_t, int64_t at) { end = std::max(end, static_cast<uint64_t>(at + 1)); });
                const std::string text = failure_of(c, kernel(c.at.size(), room(c), opcode), parse_async_policy(policy).value(), end - 1);
                EXPECT_NE(text.find("out-of-bounds global"), std::string::npos) << c.name << " " << policy << ": " << text;
            }
        }
    }
}

TEST(TensorCopy, MisuseIsAFault) {
    const std::vector<Case> all = cases();
    const Case& line = all[0];
    const auto expect = [&](const Case& c, const std::string& operation, const char* text) {
        EXPECT_NE(failure(c, operation).find(text), std::string::npos) << failure(c, operation);
    };
    expect(line, "  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [m, {c0, c0}];\n", "the tensor map has 1 dimensions, the instruction names 2");
    expect(line, "  add.u64 m, m, 32;\n" + load_of(1, 128), "the address of a tensor map must be a multiple of 64");
    expect(line, "  mov.u64 m, a;\n" + load_of(1, 128), "there is no tensor map at this address");
    expect(line, "  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [m, {c0}], [tile+16];\n", "must be a multiple of 128");
    expect(all[4], store_of(2, "cp.reduce.async.bulk.tensor.", ".add"), "the reduction .add does not go with the tensor map's type UINT8");
    Case interleaved = all[11];
    interleaved.map.interleave = 1;
    expect(interleaved, load_of(3, box_bytes(interleaved)), "unsupported: tensor maps with an interleaved layout");
    expect(line, load_of(1, 256), "deadlock");
}

TEST(TensorCopy, MisuseOfPackedNumbersIsAFault) {
    const Case c = packed_cases()[0];
    const uint64_t bytes = box_bytes(as_bytes(c));
    const auto expect = [&](const Case& bad, const std::string& operation, bool own_block, const char* text) {
        const std::string ptx = for_consumer_blackwell(kernel(bad.at.size(), bytes, operation), own_block);
        const std::string found = failure_of(bad, ptx, {}, footprint(as_bytes(bad)));
        EXPECT_NE(found.find(text), std::string::npos) << found;
    };
    expect(c, load_of(2, bytes), false, "on sm_120 a tensor copy to .shared::cluster does not take 16U4_ALIGN8B: name .shared::cta");
    expect(c, store_of(2, "cp.reduce.async.bulk.tensor.", ".add"), true, "the reduction .add does not go with the tensor map's type 16U4_ALIGN8B");
    Case odd = c;
    odd.at[0] = 33;
    expect(odd, load_of(2, bytes), true, "unsupported: coordinate 0 of a tensor map of 16U4_ALIGN8B is 33, within a byte");
    Case padded = c;
    padded.map.data_type = 14, padded.map.sizes[0] = 384, padded.map.strides[0] = 224, padded.map.box[0] = 128;
    expect(padded, load_of(2, bytes), true, "unsupported: tensor maps of 16U4_ALIGN16B");
    // cuTensorMapEncodeTiled refuses such a size: a kernel makes it.
    Case odd_size = c;
    odd_size.map.sizes[0] = 415;
    const auto device = open_emulated({.threads = 1});
    const Result<Address> at = device->allocate(4096);
    ASSERT_TRUE(at);
    const std::string ptx = for_consumer_blackwell(with_replaced_map(kernel(2, bytes, load_of(2, bytes)), odd_size, *at), true);
    const Result<Answer> answer = run(*device, c, ptx, pattern(footprint(as_bytes(c)), 1), pattern(bytes, 2));
    ASSERT_FALSE(answer);
    EXPECT_NE(format(answer.error()).find("the tensor map's size 0 must be a multiple of 2: its type is 16U4_ALIGN8B"), std::string::npos)
        << format(answer.error());
}

}  // namespace
}  // namespace ww::device
