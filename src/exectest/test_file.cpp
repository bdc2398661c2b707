// SPDX-License-Identifier: Apache-2.0
// Reads the header of an instruction test; every mistake is a diagnostic with its line.
#include "exectest/test_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"

namespace ww::exectest {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kGenerators = {
    "mixed", "bits", "edge", "normal", "spread", "same_exponent", "integers", "halfway",
    "subnormal", "finite", "zero", "lane", "index", "near", "listed"};
const std::vector<std::string> kKeys = {"target", "ptx",    "threads", "trials", "cluster",
                                        "dynamic", "nan",    "in",     "out",
                                        "inout",  "shared", "global",  "values", "expect", "fault"};
constexpr uint32_t kMaxScratchBytes = 1 << 20;
constexpr uint32_t kMaxLanes = 1 << 16;

bool is_identifier(std::string_view text) {
    if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
}

template <class Number>
bool read_number(std::string_view text, Number& value, int base = 10) {
    if (base == 16 && text.substr(0, 2) == "0x") text.remove_prefix(2);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool read_double(std::string_view text, double& value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

class Reader {
  public:
    Reader(TestFile& test, const std::string& text) : test_(test), text_(text) {}
    Status read();

  private:
    Failure wrong(const std::string& message) const {
        Diagnostic diagnostic;
        diagnostic.file = test_.path.string();
        diagnostic.line = line_;
        diagnostic.message = message;
        diagnostic.source_line = std::string(current_);
        return fail(diagnostic);
    }
    Status header_line(std::string_view comment);
    Status option(std::string_view key, std::span<const std::string_view> words);
    Status extent(std::string_view key, std::string_view text, Extent& extent);
    Status operands(Role role, std::string_view list);
    Status operand(Role role, std::string_view text);
    Status type_and_count(std::string_view text, Field& field);
    Status generator(std::span<const std::string_view> words, Field& field);
    Status listing(std::string_view key, std::span<const std::string_view> words);
    Status finish();
    Field* find(std::string_view name);

    TestFile& test_;
    const std::string& text_;
    std::string_view current_;
    int line_ = 0;
    bool described_ = false;
};

Field* Reader::find(std::string_view name) {
    for (Field& field : test_.fields)
        if (field.name == name) return &field;
    return nullptr;
}

Status Reader::read() {
    enum class Part { header, module, body } part = Part::header;
    std::string_view rest = text_;
    while (!rest.empty()) {
        size_t end = rest.find('\n');
        current_ = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        ++line_;
        std::string_view line = trim(current_);
        bool comment = line.substr(0, 2) == "//";
        if (comment && trim(line.substr(2)) == "module" && part == Part::header) {
            part = Part::module;
            test_.module_line = line_ + 1;
        } else if (comment && trim(line.substr(2)) == "body" && part == Part::module) {
            part = Part::body;
            test_.body_line = line_ + 1;
        } else if (part == Part::header && comment) {
            WW_TRY(read, header_line(trim(line.substr(2))));
            (void)read;
        } else if (part == Part::header && line.empty()) {
            continue;
        } else {
            if (part == Part::header) {
                part = Part::body;
                test_.body_line = line_;
            }
            std::string& text = part == Part::module ? test_.module_text : test_.body;
            text.append(current_);
            text.push_back('\n');
        }
    }
    return finish();
}

Status Reader::header_line(std::string_view comment) {
    if (comment.empty()) return ok();
    size_t space = comment.find(' ');
    std::string_view key = comment.substr(0, space);
    std::string_view rest = space == std::string_view::npos ? "" : trim(comment.substr(space));
    bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    if (comment.substr(0, 4) == "SPDX" || comment.substr(0, 8) == "Made by ") return ok();
    // The first line is prose whatever it starts with, and so are those up to the first key.
    if (test_.description.empty() || (!known && !described_)) {
        if (!test_.description.empty()) test_.description += ' ';
        test_.description += comment;
        return ok();
    }
    if (!known) return wrong(fmt::format("unknown key '{}'; the keys are {}", key, join(kKeys, ", ")));
    described_ = true;
    if (key == "in") return operands(Role::in, rest);
    if (key == "out") return operands(Role::out, rest);
    if (key == "inout") return operands(Role::inout, rest);
    if (key == "shared") return operands(Role::shared, rest);
    if (key == "global") return operands(Role::global, rest);
    if (key == "fault") {
        if (rest.empty()) return wrong("'fault' takes a part of the error's text");
        test_.fault = rest;
        return ok();
    }
    std::vector<std::string_view> words = split_words(rest);
    if (key == "values" || key == "expect") return listing(key, words);
    return option(key, words);
}

Status Reader::option(std::string_view key, std::span<const std::string_view> words) {
    if (words.size() != 1) return wrong(fmt::format("'{}' takes one value", key));
    std::string_view value = words[0];
    if (key == "target") {
        const Result<Target> target = parse_target(value);
        if (!target) return wrong(target.error().front().message);
        test_.target = value;
    } else if (key == "ptx") {
        test_.version = value;
    } else if (key == "threads") {
        return extent(key, value, test_.threads);
    } else if (key == "trials") {
        return extent(key, value, test_.trials);
    } else if (key == "cluster") {
        return extent(key, value, test_.cluster);
    } else if (key == "nan") {
        if (value != "any") return wrong("'nan' takes the value any");
        test_.any_nan = true;
    } else if (key == "dynamic") {
        if (!read_number(value, test_.dynamic_shared_bytes)) return wrong("'dynamic' takes bytes");
    }
    return ok();
}

Status Reader::extent(std::string_view key, std::string_view text, Extent& extent) {
    uint32_t* parts[] = {&extent.x, &extent.y, &extent.z};
    std::vector<std::string_view> words = split(text, 'x');
    extent = Extent{};
    bool good = words.size() <= 3;
    for (size_t i = 0; good && i < words.size(); ++i)
        good = read_number(words[i], *parts[i]) && *parts[i] >= 1 && *parts[i] <= 4096;
    if (!good) return wrong(fmt::format("'{}' takes sizes such as 32 or 8x4x1", key));
    return ok();
}

Status Reader::operands(Role role, std::string_view list) {
    for (std::string_view item : split(list, ',')) {
        WW_TRY(read, operand(role, trim(item)));
        (void)read;
    }
    return ok();
}

Status Reader::operand(Role role, std::string_view text) {
    std::vector<std::string_view> words = split_words(text);
    if (words.size() < 2) return wrong("an operand is written 'name type' or 'name type generator'");
    Field field;
    field.role = role;
    field.name = words[0];
    field.line = line_;
    if (!is_identifier(words[0])) return wrong(fmt::format("'{}' is no name", words[0]));
    if (find(words[0])) return wrong(fmt::format("'{}' is declared twice", words[0]));
    WW_TRY(typed, type_and_count(words[1], field));
    (void)typed;
    if (field.is_scratch()) field.generator.name = "zero";
    if (words.size() > 2) {
        if (role == Role::out) return wrong("an output has no generator");
        WW_TRY(made, generator(std::span(words).subspan(2), field));
        (void)made;
    }
    test_.fields.push_back(std::move(field));
    return ok();
}

Status Reader::type_and_count(std::string_view text, Field& field) {
    if (size_t open = text.find('['); open != std::string_view::npos) {
        field.is_vector = true;
        if (text.back() != ']' ||
            !read_number(text.substr(open + 1, text.size() - open - 2), field.count) ||
            field.count == 0 || field.count > kMaxScratchBytes)
            return wrong(fmt::format("'{}': an array is written type[count]", text));
        text = text.substr(0, open);
    }
    std::optional<Type> type = find_type(text);
    if (!type)
        return wrong(fmt::format("no type '{}'; types are {}, or packed ones such as f16x2", text,
                                 type_names()));
    field.type = *type;
    if (field.is_scratch() && (field.bytes() % 16 || field.bytes() > kMaxScratchBytes))
        return wrong("a scratch array is a multiple of 16 bytes, at most 1 MiB");
    if (!field.is_scratch() && field.count > 128) return wrong("at most 128 registers an operand");
    return ok();
}

Status Reader::generator(std::span<const std::string_view> words, Field& field) {
    Generator& made = field.generator;
    std::string_view word = words[0];
    if (size_t dots = word.find(".."); dots != std::string_view::npos && words.size() == 1) {
        made.name = "range";
        if (!read_double(word.substr(0, dots), made.first) ||
            !read_double(word.substr(dots + 2), made.last) || made.first > made.last)
            return wrong(fmt::format("'{}': a range is written first..last", word));
        return ok();
    }
    made.name = word;
    if (std::find(kGenerators.begin(), kGenerators.end(), made.name) == kGenerators.end())
        return wrong(fmt::format("no generator '{}'; they are first..last, {}", word,
                                 join(kGenerators, ", ")));
    if (made.name == "near") {
        const Field* other = words.size() == 2 ? find(words[1]) : nullptr;
        if (!other || !other->is_input() || other->type.name != field.type.name)
            return wrong("'near' takes the name of an earlier input of the same type");
        made.other = words[1];
    } else if (words.size() != 1) {
        return wrong(fmt::format("'{}' takes nothing after it", word));
    }
    return ok();
}

Status Reader::listing(std::string_view key, std::span<const std::string_view> words) {
    Field* field = words.empty() ? nullptr : find(words[0]);
    if (!field) return wrong(fmt::format("'{}' starts with the name of an operand", key));
    bool values = key == "values";
    if (values ? !field->is_input() : !field->is_output())
        return wrong(fmt::format("'{}' is not an {}put", field->name, values ? "in" : "out"));
    if (values) field->generator.name = "listed";
    std::vector<uint64_t>& list = values ? field->generator.listed : field->expect;
    for (std::string_view word : words.subspan(1)) {
        uint64_t value = 0;
        if (!read_number(word, value, 16))
            return wrong(fmt::format("'{}' is no hexadecimal number of 64 bits", word));
        list.push_back(value);
    }
    return ok();
}

Status Reader::finish() {
    current_ = {};
    line_ = std::max(test_.body_line, 1);
    if (trim(test_.body).empty()) return wrong("the test has no instructions");
    uint64_t lanes = uint64_t{test_.threads.count()} * test_.trials.count();
    if (test_.threads.count() > 1024 || lanes > kMaxLanes)
        return wrong("at most 1024 threads, and 65536 over all trials");
    bool any_output = false;
    for (const Field& field : test_.fields) {
        line_ = field.line;
        any_output |= field.is_output();
        size_t all = field.count * (field.is_scratch() ? test_.trials.count() : lanes);
        // A list holds one value a register; a register of 128 bits takes two.
        if (field.type.bits() == 128) all *= 2;
        for (size_t listed : {field.generator.listed.size(), field.expect.size()})
            if (listed && all % listed)
                return wrong(fmt::format("'{}': {} values do not divide the {} of all threads",
                                         field.name, listed, all));
        if (field.generator.name == "listed" && field.generator.listed.empty())
            return wrong(fmt::format("'{}' needs a line 'values {} HEX ...'", field.name, field.name));
    }
    if (!any_output && test_.fault.empty()) return wrong("the test has no output");
    return ok();
}

}  // namespace

bool TestFile::has_expect() const {
    return std::all_of(fields.begin(), fields.end(), [](const Field& field) {
        return !field.is_output() || !field.expect.empty();
    });
}

Result<TestFile> parse_test(const std::string& name, const std::string& text,
                            const fs::path& path) {
    TestFile test;
    test.name = name;
    test.path = path;
    WW_TRY(read, Reader(test, text).read());
    (void)read;
    return test;
}

Result<std::vector<TestFile>> load_tests(const fs::path& folder, std::string_view pattern) {
    std::error_code error;
    fs::recursive_directory_iterator walk(folder, error);
    if (error) return fail(fmt::format("no instruction tests at {}: {}", folder.string(), error.message()));
    std::vector<fs::path> paths;
    for (const fs::directory_entry& entry : walk)
        if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<TestFile> tests;
    Diagnostics errors;
    for (const fs::path& path : paths) {
        std::string name = path.lexically_relative(folder).replace_extension().generic_string();
        if (!pattern.empty() && !glob_match(pattern, name)) continue;
        WW_TRY(text, read_file(path));
        Result<TestFile> test = parse_test(name, text, path);
        if (test) tests.push_back(std::move(*test));
        else errors.insert(errors.end(), test.error().begin(), test.error().end());
    }
    if (!errors.empty()) return fail(errors);
    return tests;
}

}  // namespace ww::exectest
