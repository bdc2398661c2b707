// SPDX-License-Identifier: Apache-2.0
// The example port.toml read, and questions to it answered.
#include "port/port.hpp"

#include <cstring>

#include "port/reader.hpp"
#include "port_text.hpp"

namespace ww::port {
namespace {

Port example() {
    return must(parse_port(must(read_file(tests_folder() / "example.toml")), "example.toml"));
}

TEST(port, order_and_roles) {
    const Port port = example();
    ASSERT_EQ(port.stages.size(), 2u);
    EXPECT_EQ(port.stages[0].name, "quantize");
    EXPECT_EQ(port.axes.front().name, "B");
    EXPECT_EQ(port.implementations[2].name, "candidate");
    EXPECT_TRUE(port.implementations[2].is_candidate());
    EXPECT_FALSE(port.implementation("float64")->is_candidate());
    EXPECT_EQ(port.tensor("group_max")->stage, "quantize");
    EXPECT_EQ(port.tensor("codes")->role, Role::intermediate);
    EXPECT_EQ(port.tensor("y")->tolerance.mode, Tolerance::Mode::relative_to);
    EXPECT_EQ(port.tensor("y")->tolerance.factor, 1.5);
    EXPECT_EQ(port.tensor("nothing"), nullptr);
}

TEST(port, sizes_in_a_case) {
    const Port port = example();
    const Scope scope = must(scope_of(port, *port.find_case("held")));
    EXPECT_EQ(scope.integers.at("rows"), 14);
    EXPECT_EQ(scope.integers.at("clamp"), 0);
    EXPECT_EQ(scope.reals.at("gain"), 0.5);
    EXPECT_EQ(must(layout_of(*port.tensor("codes"), scope)).bytes, 2 * 7 * 128 / 2);
    EXPECT_EQ(must(layout_of(*port.tensor("scales"), scope)).strides,
              (std::vector<int64_t>{56, 8, 1}));
    EXPECT_EQ(must(layout_of(*port.tensor("y"), scope, Dtype::f64)).text(), "f64 [2, 7, 128]");
    EXPECT_EQ(must(tile_of(*port.tensor("y"), scope)), (std::vector<int64_t>{1, 1, 64}));
    EXPECT_EQ(must(port.find_case("held")->flops->eval(scope)), 1000);
    EXPECT_EQ(must(port.find_case("small")->flops->eval(must(scope_of(port, port.cases[0])))),
              4 * 3 * 64);
}

TEST(port, launch) {
    const Port port = example();
    const Scope scope = must(scope_of(port, *port.find_case("small")));
    const StageImpl& quantize = port.implementation("candidate")->stages.at("quantize");
    const auto& kernel = std::get<KernelImpl>(quantize.value);
    const LaunchSize size = must(launch_size(kernel, scope));
    EXPECT_EQ(size.grid, (std::array<uint32_t, 3>{3, 4, 1}));
    EXPECT_EQ(size.block, (std::array<uint32_t, 3>{32, 1, 1}));
    EXPECT_EQ(size.shared_bytes, 128u);
    using Pair = std::pair<std::string, std::string>;
    EXPECT_EQ(must(defines_of(kernel, scope)),
              (std::vector<Pair>{{"GROUP", "16"}, {"D", "64"}, {"SCALE_TYPE", "unsigned char"}}));
    ASSERT_EQ(kernel.args.size(), 6u);
    const auto stride = must(scalar_bytes(std::get<ScalarArg>(kernel.args[5].value), scope));
    ASSERT_EQ(stride.size(), 4u);
    EXPECT_EQ(std::to_integer<int>(stride[0]), 4);
    EXPECT_EQ(std::get<TensorArg>(kernel.tap_args.at(0).value).tensor, "group_max");

    const StageImpl& dequantize = port.implementation("candidate")->stages.at("dequantize");
    const auto& second = std::get<KernelImpl>(dequantize.value);
    const auto& map = std::get<TensorMapArg>(second.args[0].value);
    EXPECT_EQ(map.l2_promotion, 2u);
    EXPECT_EQ(map.data_type, "u8");
    const auto gain = must(scalar_bytes(std::get<ScalarArg>(second.args[3].value), scope));
    float value = 0;
    ASSERT_EQ(gain.size(), sizeof value);
    std::memcpy(&value, gain.data(), sizeof value);
    EXPECT_EQ(value, 0.125f);
    EXPECT_EQ(must(unmet(dequantize, scope)), std::nullopt);
    const Scope odd = must(scope_of(port, *port.find_case("not_for_the_candidate")));
    EXPECT_EQ(must(unmet(dequantize, odd)), "groups % 4 == 0");
}

TEST(port, inputs) {
    const Port port = example();
    const Case& small = *port.find_case("small");
    const Scope scope = must(scope_of(port, small));
    const Tensor x = must(make_input(port, small, *port.tensor("x"), scope));
    EXPECT_EQ(x.layout.text(), "bf16 [1, 3, 64]");
    EXPECT_NE(x.bytes, must(make_input(port, small, *port.tensor("x"), scope, 1)).bytes);
}

TEST(port, tolerances_of_a_case) {
    const Port port = example();
    const TensorSpec& y = *port.tensor("y");
    EXPECT_EQ(tolerance_of(*port.find_case("held"), y).mode, Tolerance::Mode::exact);
    EXPECT_EQ(tolerance_of(*port.find_case("small"), y).floor_ulp, 2);
}

TEST(port, example_of_the_manual) {
    const std::string manual =
        must(read_file(std::filesystem::path(WW_SOURCE_DIR) / "docs" / "port_toml.md"));
    const size_t begin = manual.find("```toml\n") + 8;
    const Port port = must(parse_port(
        std::string_view(manual).substr(begin, manual.find("```\n", begin) - begin), "manual"));
    EXPECT_EQ(port.cases.size(), 2u);
}

TEST(port, files_must_exist) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "ww_port_files";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    EXPECT_EQ(error_of(load_port(folder)), "cannot read: No such file or directory");
    must(write_file(folder / "port.toml", must(read_file(tests_folder() / "example.toml"))));
    const auto missing = load_port(folder);
    EXPECT_EQ(error_of(missing),
              "'source' of stage 'quantize' of implementation 'candidate': there "
              "is no file 'fp4_rows.cu' beside the port.toml");
    EXPECT_EQ(missing.error().size(), 2u);
    must(write_file(folder / "fp4_rows.cu", "// only looked for"));
    const Port port = must(load_port(folder));
    EXPECT_TRUE(port.folder.is_absolute());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ww::port
