// SPDX-License-Identifier: Apache-2.0
#include "port/safetensors.hpp"

#include "port_text.hpp"

namespace ww::port {
namespace {

std::string file_of(const std::string& header, size_t data_bytes) {
    const uint64_t length = header.size();
    std::string out(reinterpret_cast<const char*>(&length), 8);
    return out + header + std::string(data_bytes, '\1');
}

std::string refusal(const std::string& header, size_t data_bytes = 8) {
    return error_of(parse_safetensors(file_of(header, data_bytes), "f"));
}

TEST(safetensors, every_dtype_makes_the_round_trip) {
    SafetensorsFile file{.metadata = {{"stage", "s"}}};
    for (const std::string& spelled : dtype_names()) {
        Tensor t = must(Tensor::zeros(spelled, must(make_layout(*dtype_named(spelled), {3, 4}))));
        for (int64_t i = 0; i < 12; ++i) t.set(i, static_cast<double>(i % 2));
        file.tensors.push_back(std::move(t));
    }
    const SafetensorsFile back = must(parse_safetensors(must(format_safetensors(file)), "f"));
    EXPECT_EQ(back.metadata.at("stage"), "s");
    ASSERT_EQ(back.tensors.size(), file.tensors.size());
    for (const Tensor& t : file.tensors) {
        const Tensor* found = back.find(t.name);
        ASSERT_NE(found, nullptr) << t.name;
        EXPECT_EQ(found->layout.dtype, t.layout.dtype) << t.name;
        EXPECT_EQ(found->layout.shape, t.layout.shape) << t.name;
        EXPECT_EQ(found->bytes, t.bytes) << t.name;
    }
}

TEST(safetensors, strided_tensors_are_written_row_major) {
    Tensor t =
        must(Tensor::zeros("t", must(make_layout(Dtype::u8, {2, 2}, std::vector<int64_t>{1, 2}))));
    for (int64_t i = 0; i < 4; ++i) t.set(i, static_cast<double>(i));
    const auto back = must(parse_safetensors(must(format_safetensors({.tensors = {t}})), "f"));
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(back.tensors[0].get(i), static_cast<double>(i));
    EXPECT_TRUE(back.tensors[0].layout.dense);
}

TEST(safetensors, real_file) {
    const auto path = std::filesystem::path(WW_SOURCE_DIR) / "tests/data/minilm_qkv.safetensors";
    const SafetensorsFile file = must(read_safetensors(path));
    EXPECT_FALSE(file.tensors.empty());
    for (const Tensor& t : file.tensors) EXPECT_GT(t.layout.elements, 0);
}

TEST(safetensors, hostile_headers) {
    const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_EQ(refusal(good), "no error");
    EXPECT_EQ(error_of(parse_safetensors("1234567", "f")),
              "safetensors: a file of less than 8 bytes");
    EXPECT_EQ(error_of(parse_safetensors(std::string(8, '\xff'), "f")),
              "safetensors: a header of 18446744073709551615 bytes in a file of 8");
    EXPECT_EQ(refusal("[]"), "safetensors: the header is not a JSON object");
    EXPECT_EQ(refusal("{"), "safetensors: the header is not a JSON object");
    EXPECT_EQ(refusal(std::string(100000, '[')), "safetensors: the header nests too deep");
    EXPECT_EQ(refusal(R"({"a":1})"),
              "safetensors: tensor 'a': it needs dtype, shape and two data_offsets");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})"),
              "safetensors: tensor 'a': unsupported dtype 'F31'");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"),
              "safetensors: tensor 'a': an extent that is not a size");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"),
              "safetensors: tensor 'a': data offsets 8 to 0 lie outside the 8 bytes of data");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})"),
              "safetensors: tensor 'a': data offsets 0 to 9 lie outside the 8 bytes of data");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"),
              "safetensors: tensor 'a': f32 [3] takes 12 bytes, the file gives 8");
    EXPECT_EQ(
        refusal(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})"),
        "safetensors: tensor 'a': more than 2^41 elements");
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                          "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
              "safetensors: tensors 'a' and 'b' overlap");
    EXPECT_EQ(refusal(R"({"__metadata__":{"dtype:a":"e2m1"},
                          "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
              "safetensors: tensor 'a': metadata names the type 'e2m1', which f32 cannot carry");
}

}  // namespace
}  // namespace ww::port
