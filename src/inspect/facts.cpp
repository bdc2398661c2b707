// SPDX-License-Identifier: Apache-2.0
// Reads asm_info.json. Every field that is missing or of another type is named by its path.
#include "inspect/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace ww::inspect {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "warpwright.asm_info/1";
constexpr int64_t kMostInstructions = int64_t{1} << 32;  // of a class: no cubin holds more

// Walks the document; the first mistake is kept, and everything after it reads as empty.
class Reader {
  public:
    explicit Reader(std::string file) : file_(std::move(file)) {}
    const std::optional<Diagnostic>& mistake() const { return mistake_; }

    void complain(const std::string& where, const std::string& what) {
        if (!mistake_) mistake_ = Diagnostic{.file = file_, .message = fmt::format("{}: {}", where, what)};
    }
    const json& member(const json& object, const char* name, const std::string& where) {
        static const json kNull;
        if (!object.is_object()) {
            complain(where, "is no object");
            return kNull;
        }
        const auto found = object.find(name);
        if (found == object.end()) {
            complain(where, fmt::format("has no \"{}\"", name));
            return kNull;
        }
        return *found;
    }
    std::string text(const json& object, const char* name, const std::string& where) {
        const json& value = member(object, name, where);
        if (value.is_string()) return value.get<std::string>();
        complain(where + "." + name, "is no text");
        return {};
    }
    int64_t integer(const json& object, const char* name, const std::string& where) {
        const json& value = member(object, name, where);
        if (value.is_number_integer()) return value.get<int64_t>();
        complain(where + "." + name, "is no integer");
        return 0;
    }
    const json& list(const json& object, const char* name, const std::string& where) {
        static const json kEmpty = json::array();
        const json& value = member(object, name, where);
        if (value.is_array()) return value;
        complain(where + "." + name, "is no list");
        return kEmpty;
    }
    std::map<std::string, int64_t> integers(const json& object, const std::string& where) {
        std::map<std::string, int64_t> out;
        if (!object.is_object()) {
            complain(where, "is no object");
            return out;
        }
        for (const auto& [name, value] : object.items())
            if (value.is_number_integer()) out[name] = value.get<int64_t>();
        return out;
    }

  private:
    std::string file_;
    std::optional<Diagnostic> mistake_;
};

std::string place_of(Reader& reader, const json& line, const std::string& where) {
    if (line.is_null()) return {};
    return fmt::format("{}:{}", std::filesystem::path(reader.text(line, "file", where)).filename().string(),
                       reader.integer(line, "line", where));
}

ClassCounts counts_of(Reader& reader, const json& object, const char* name, const std::string& where) {
    const json& counts = reader.member(object, name, where);
    const std::string here = where + "." + name;
    ClassCounts out{reader.integer(counts, "total", here), reader.integers(reader.member(counts, "classes", here), here)};
    int64_t sum = 0;
    for (const auto& [of, count] : out.classes) {
        if (count < 0 || count > kMostInstructions) reader.complain(here + ".classes." + of, "is no count of instructions");
        sum += std::clamp<int64_t>(count, 0, kMostInstructions);
    }
    if (sum != out.total) reader.complain(here + ".total", "is not the sum of its classes");
    return out;
}

int index_or_none(Reader& reader, const json& object, const char* name, const std::string& where) {
    return reader.member(object, name, where).is_null() ? -1
                                                        : static_cast<int>(reader.integer(object, name, where));
}

LoopFacts loop_of(Reader& reader, const json& loop, const std::string& where) {
    LoopFacts out;
    out.id = static_cast<int>(reader.integer(loop, "id", where));
    out.parent = index_or_none(reader, loop, "parent", where);
    out.depth = static_cast<int>(reader.integer(loop, "depth", where));
    for (const json& line : reader.list(loop, "lines", where))
        out.lines.push_back(place_of(reader, line, where + ".lines"));
    if (!out.lines.empty()) out.place = out.lines.front();
    out.all = counts_of(reader, loop, "instructions", where);
    out.own = counts_of(reader, loop, "own", where);
    if (const json& estimate = reader.member(loop, "estimate", where); !estimate.is_null()) {
        out.bound = reader.text(estimate, "bound", where + ".estimate");
        const json& cycles = reader.member(estimate, "bound_cycles", where + ".estimate");
        if (cycles.is_number())
            out.bound_cycles = cycles.get<double>();
        else
            reader.complain(where + ".estimate.bound_cycles", "is no number");
        if (!reader.member(estimate, "scheduled_cycles", where + ".estimate").is_null())
            out.scheduled_cycles = reader.integer(estimate, "scheduled_cycles", where + ".estimate");
    }
    return out;
}

LocalFacts local_of(Reader& reader, const json& access, const std::string& where) {
    return {.load = reader.text(access, "access", where) == "load",
            .bits = reader.integer(access, "bits", where),
            .loop = index_or_none(reader, access, "loop", where),
            .place = place_of(reader, reader.member(access, "line", where), where + ".line")};
}

KernelFacts kernel_of(Reader& reader, const json& kernel, const std::string& where) {
    KernelFacts out;
    out.name = reader.text(kernel, "name", where);
    out.demangled = reader.text(kernel, "demangled", where);
    out.target = reader.text(kernel, "target", where);
    out.files = reader.text(kernel, "files", where);
    out.implementation = reader.text(kernel, "implementation", where);
    out.resources = reader.integers(reader.member(kernel, "resources", where), where + ".resources");
    const auto occupancy = reader.integers(reader.member(kernel, "occupancy", where), where + ".occupancy");
    if (const auto blocks = occupancy.find("blocks"); blocks != occupancy.end()) out.blocks = blocks->second;
    if (kernel.is_object() && kernel.contains("sass_missing")) {
        out.sass_missing = reader.text(kernel, "sass_missing", where);
        return out;
    }
    out.instructions = counts_of(reader, kernel, "instructions", where);
    const json& loops = reader.list(kernel, "loops", where);
    for (size_t i = 0; i < loops.size(); ++i) {
        const std::string here = fmt::format("{}.loops[{}]", where, i);
        LoopFacts loop = loop_of(reader, loops[i], here);
        // A parent stands before its loops: a tree, whatever the file says.
        if (loop.id != static_cast<int>(i)) reader.complain(here + ".id", "is not the loop's place in the list");
        if (loop.parent < -1 || loop.parent >= static_cast<int>(i))
            reader.complain(here + ".parent", "is no loop before this one");
        out.loops.push_back(std::move(loop));
    }
    const json& local = reader.list(kernel, "local_accesses", where);
    for (size_t i = 0; i < local.size(); ++i)
        out.local.push_back(local_of(reader, local[i], fmt::format("{}.local_accesses[{}]", where, i)));
    return out;
}

}  // namespace

std::string title(const KernelFacts& kernel) { return fmt::format("{} for {}", kernel.demangled, kernel.target); }

Result<AsmFacts> read_facts(const std::string& text, const std::string& file) {
    json document;
    try {
        document = json::parse(text);
    } catch (const json::parse_error& error) {
        const size_t at = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        return fail(Diagnostic{.file = file, .line = static_cast<int>(line), .message = "no JSON document"});
    } catch (const json::exception&) {  // a number beyond double's range
        return fail(Diagnostic{.file = file, .message = "no JSON document: a number is out of range"});
    }
    Reader reader(file);
    const std::string schema = reader.text(document, "schema", "the document");
    if (!reader.mistake() && schema != kSchema)
        reader.complain("schema", fmt::format("\"{}\" is not {}; make it anew with warpwright asm --json", schema, kSchema));
    AsmFacts out;
    if (!reader.mistake()) {
        const json& toolchain = reader.member(document, "toolchain", "the document");
        for (const char* part : {"nvrtc", "ptxas", "nvdisasm"})
            if (!reader.member(toolchain, part, "toolchain").is_null())
                out.toolchain[part] = reader.text(toolchain, part, "toolchain");
        const json& kernels = reader.list(document, "kernels", "the document");
        for (size_t i = 0; i < kernels.size(); ++i)
            out.kernels.push_back(kernel_of(reader, kernels[i], fmt::format("kernels[{}]", i)));
    }
    if (reader.mistake()) return fail(*reader.mistake());
    return out;
}

}  // namespace ww::inspect
