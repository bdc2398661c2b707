// SPDX-License-Identifier: Apache-2.0
#include "port/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.hpp"
#include "port/suggest.hpp"

namespace ww::port {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own library
constexpr std::string_view kDtypePrefix = "dtype:";

struct Entry {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<int64_t> shape;
    uint64_t begin = 0, end = 0;  // bytes behind the header
};

struct Header {
    std::vector<Entry> entries;  // in order of begin
    std::map<std::string, std::string> metadata;
    size_t data_at = 0;
};

// The error messages of one file.
struct Context {
    const std::string& file;
    Failure wrong(std::string message) const {
        return fail(Diagnostic{.file = file, .message = "safetensors: " + std::move(message)});
    }
};

std::optional<Dtype> dtype_of(std::string_view safetensors_name) {
    for (const std::string& each : dtype_names()) {
        const auto dtype = dtype_named(each);
        if (!safetensors_name.empty() && info(*dtype).safetensors == safetensors_name) return dtype;
    }
    return std::nullopt;
}

// The unsigned integer that carries a type without a name of its own in safetensors.
Dtype carrier(Dtype dtype) {
    if (!info(dtype).safetensors.empty()) return dtype;
    return info(dtype).bits == 32 ? Dtype::u32 : Dtype::u8;
}

// Depth is checked before parsing: the JSON library recurses when it destroys nested values.
bool too_deep(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > 8) return true;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return false;
}

Result<Entry> read_entry(const Context& context, const std::string& key, const json& value,
                         uint64_t data_bytes) {
    Entry entry{.name = key};
    const auto wrong = [&](const std::string& what) {
        return context.wrong(fmt::format("tensor '{}': {}", key, what));
    };
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
        !value.contains("shape") || !value["shape"].is_array() || !value.contains("data_offsets") ||
        !value["data_offsets"].is_array() || value["data_offsets"].size() != 2)
        return wrong("it needs dtype, shape and two data_offsets");
    const std::string dtype = value["dtype"];
    const auto known = dtype_of(dtype);
    if (!known) return wrong(fmt::format("unsupported dtype '{}'", dtype));
    entry.dtype = *known;
    for (const json& extent : value["shape"]) {
        if (!extent.is_number_unsigned() || extent.get<uint64_t>() > uint64_t{1} << 62)
            return wrong("an extent that is not a size");
        entry.shape.push_back(static_cast<int64_t>(extent.get<uint64_t>()));
    }
    for (const json& offset : value["data_offsets"])
        if (!offset.is_number_unsigned()) return wrong("a data offset that is not a size");
    entry.begin = value["data_offsets"][0];
    entry.end = value["data_offsets"][1];
    if (entry.begin > entry.end || entry.end > data_bytes)
        return wrong(fmt::format("data offsets {} to {} lie outside the {} bytes of data",
                                 entry.begin, entry.end, data_bytes));
    return entry;
}

// Names the type that metadata gives a carried tensor, and the shape in its elements.
Status apply_dtype(const Context& context, const Header& header, Entry& entry) {
    const auto found = header.metadata.find(std::string(kDtypePrefix) + entry.name);
    if (found == header.metadata.end()) return ok();
    const auto dtype = dtype_named(found->second);
    if (!dtype || carrier(*dtype) != entry.dtype)
        return context.wrong(
            fmt::format("tensor '{}': metadata names the type '{}', which {} "
                        "cannot carry",
                        entry.name, found->second, name(entry.dtype)));
    if (info(*dtype).bits == 4) {
        if (entry.shape.empty() || entry.shape.back() > kMaxTensorBytes)
            return context.wrong(fmt::format("tensor '{}': no axis to pack", entry.name));
        entry.shape.back() *= 2;
    }
    entry.dtype = *dtype;
    return ok();
}

Result<Header> read_header(const Context& context, std::string_view text, uint64_t data_bytes) {
    if (too_deep(text)) return context.wrong("the header nests too deep");
    const json parsed = json::parse(text, nullptr, false);
    if (parsed.is_discarded() || !parsed.is_object())
        return context.wrong("the header is not a JSON object");
    Header header;
    if (parsed.contains("__metadata__")) {
        if (!parsed["__metadata__"].is_object()) return context.wrong("__metadata__ is no object");
        for (const auto& [key, value] : parsed["__metadata__"].items()) {
            if (!value.is_string())
                return context.wrong(fmt::format("metadata '{}' is not a string", key));
            header.metadata[key] = value;
        }
    }
    for (const auto& [key, value] : parsed.items()) {
        if (key == "__metadata__") continue;
        WW_TRY(entry, read_entry(context, key, value, data_bytes));
        WW_TRY(applied, apply_dtype(context, header, entry));
        (void)applied;
        header.entries.push_back(std::move(entry));
    }
    std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    for (size_t i = 1; i < header.entries.size(); ++i) {
        const Entry &before = header.entries[i - 1], &after = header.entries[i];
        if (after.begin < before.end)
            return context.wrong(
                fmt::format("tensors '{}' and '{}' overlap", before.name, after.name));
    }
    return header;
}

Result<Header> open(const Context& context, std::string_view bytes) {
    uint64_t length = 0;
    if (bytes.size() < sizeof length) return context.wrong("a file of less than 8 bytes");
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > kMaxHeader || length > bytes.size() - sizeof length)
        return context.wrong(
            fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
    const size_t data_at = sizeof length + static_cast<size_t>(length);
    WW_TRY(header, read_header(context, bytes.substr(sizeof length, static_cast<size_t>(length)),
                               bytes.size() - data_at));
    header.data_at = data_at;
    return std::move(header);
}

Result<Tensor> read_tensor(const Context& context, const Entry& entry, std::string_view data) {
    auto layout = make_layout(entry.dtype, entry.shape);
    if (!layout)
        return context.wrong(
            fmt::format("tensor '{}': {}", entry.name, layout.error().front().message));
    if (static_cast<uint64_t>(layout->bytes) != entry.end - entry.begin)
        return context.wrong(fmt::format("tensor '{}': {} takes {} bytes, the file gives {}",
                                         entry.name, layout->text(), layout->bytes,
                                         entry.end - entry.begin));
    WW_TRY(tensor, Tensor::zeros(entry.name, std::move(*layout)));
    std::memcpy(tensor.bytes.data(), data.data() + entry.begin, tensor.bytes.size());
    return std::move(tensor);
}

}  // namespace

const Tensor* SafetensorsFile::find(std::string_view name) const {
    for (const Tensor& tensor : tensors)
        if (tensor.name == name) return &tensor;
    return nullptr;
}

Result<SafetensorsFile> parse_safetensors(std::string_view bytes, const std::string& name) {
    const Context context{name};
    WW_TRY(header, open(context, bytes));
    SafetensorsFile file{.metadata = std::move(header.metadata)};
    for (const Entry& entry : header.entries) {
        WW_TRY(tensor, read_tensor(context, entry, bytes.substr(header.data_at)));
        file.tensors.push_back(std::move(tensor));
    }
    return file;
}

Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path) {
    WW_TRY(bytes, read_file(path));
    return parse_safetensors(bytes, path.string());
}

Result<Tensor> read_safetensor(const std::filesystem::path& path, std::string_view tensor) {
    WW_TRY(bytes, read_file(path));
    const std::string file = path.string();
    const Context context{file};
    WW_TRY(header, open(context, bytes));
    std::vector<std::string> names;
    for (const Entry& entry : header.entries) {
        if (entry.name == tensor)
            return read_tensor(context, entry, std::string_view(bytes).substr(header.data_at));
        names.push_back(entry.name);
    }
    return context.wrong(fmt::format("no tensor '{}'{}", shown(tensor), suggestion(tensor, names)));
}

Result<std::string> format_safetensors(const SafetensorsFile& file) {
    json header = json::object();
    json metadata = json::object();
    for (const auto& [key, value] : file.metadata) metadata[key] = value;
    uint64_t at = 0;
    std::string data;
    for (const Tensor& tensor : file.tensors) {
        const Dtype dtype = tensor.layout.dtype;
        const Dtype carried = carrier(dtype);
        std::vector<int64_t> shape = tensor.layout.shape;
        if (info(dtype).bits == 4) {
            if (shape.empty() || shape.back() % 2 != 0)
                return fail(
                    fmt::format("safetensors: tensor '{}' is {}: two elements a byte need "
                                "an even last axis",
                                tensor.name, tensor.layout.text()));
            shape.back() /= 2;
        }
        if (carried != dtype)
            metadata[std::string(kDtypePrefix) + tensor.name] = std::string(name(dtype));
        WW_TRY(dense, row_major(tensor));
        data.append(reinterpret_cast<const char*>(dense.bytes.data()), dense.bytes.size());
        header[tensor.name] = {{"dtype", std::string(info(carried).safetensors)},
                               {"shape", shape},
                               {"data_offsets", {at, at + dense.bytes.size()}}};
        at += dense.bytes.size();
    }
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::string text = header.dump(-1, ' ', true, json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::string out(reinterpret_cast<const char*>(&length), sizeof length);
    return out + text + data;
}

Status write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
    WW_TRY(bytes, format_safetensors(file));
    return write_file(path, bytes);
}

}  // namespace ww::port
