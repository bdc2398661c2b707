// SPDX-License-Identifier: Apache-2.0
#include "test_text.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::emulator_test {
namespace {

Result<Element> element_of(std::string_view text) {
    constexpr std::pair<std::string_view, Element> kNames[] = {
        {"u8", Element::u8},   {"u16", Element::u16}, {"u32", Element::u32}, {"s32", Element::u32},
        {"u64", Element::u64}, {"s64", Element::u64}, {"f32", Element::f32}, {"f64", Element::f64}};
    for (const auto& [name, element] : kNames)
        if (name == text) return element;
    return fail(fmt::format("unknown type '{}'", text));
}

Result<uint64_t> number(std::string_view given, Element element) {
    const std::string text(given);
    char* end = nullptr;
    uint64_t bits = 0;
    const bool is_hex = text.starts_with("0x");
    if (element == Element::f32 && !is_hex) {
        const float value = std::strtof(text.c_str(), &end);
        std::memcpy(&bits, &value, sizeof value);
    } else if (element == Element::f64 && !is_hex) {
        const double value = std::strtod(text.c_str(), &end);
        std::memcpy(&bits, &value, sizeof value);
    } else {
        bits = text.starts_with('-') ? static_cast<uint64_t>(std::strtoll(text.c_str(), &end, 0))
                                     : std::strtoull(text.c_str(), &end, 0);
    }
    if (text.empty() || *end != 0) return fail(fmt::format("'{}' is not a number", text));
    if (const uint64_t bytes = element_bytes(element); bytes < 8) bits &= (uint64_t{1} << (8 * bytes)) - 1;
    return bits;
}

// "3 4 7*30": values, 7 thirty times. "iota" and "iota*2+1": 0, 1, 2, ... by position.
Result<std::vector<uint64_t>> numbers(std::span<const std::string_view> words, Element element, uint64_t count) {
    std::vector<uint64_t> out;
    for (const std::string_view word : words) {
        if (word.starts_with("iota")) {
            uint64_t factor = 1, addend = 0;
            std::string_view rest = word.substr(4);
            if (rest.starts_with('*')) {
                const size_t plus = std::min(rest.find('+'), rest.size());
                WW_TRY(given, number(rest.substr(1, plus - 1), Element::u64));
                factor = given;
                rest = rest.substr(plus);
            }
            if (rest.starts_with('+')) {
                WW_TRY(given, number(rest.substr(1), Element::u64));
                addend = given;
            }
            while (out.size() < count) out.push_back(out.size() * factor + addend);
            continue;
        }
        const size_t star = word.find('*');
        WW_TRY(value, number(word.substr(0, star), element));
        uint64_t times = 1;
        if (star != std::string_view::npos) {
            WW_TRY(given, number(word.substr(star + 1), Element::u64));
            times = given;
        }
        out.insert(out.end(), times, value);
    }
    if (out.size() != count) return fail(fmt::format("{} values given, {} needed", out.size(), count));
    return out;
}

class HeaderReader {
  public:
    explicit HeaderReader(TextTest& test) : test_(test) {}

    // True when the line was one of the header's keys.
    Result<bool> line(std::string_view text, int number_of_line) {
        line_ = number_of_line;
        const std::vector<std::string_view> words = split_words(text);
        if (words.empty()) return false;
        const std::string_view key = words[0];
        const std::span<const std::string_view> rest(words.begin() + 1, words.end());
        const std::string_view tail = trim(text.substr(text.find(key) + key.size()));
        if (key == "grid" || key == "block" || key == "cluster") return extent(key, rest);
        if (key == "buffer") return buffer(rest);
        if (key == "arg") return argument(rest);
        if (key == "expect") return expect(rest);
        if (key == "expect-error") return test_.errors.emplace_back(tail), true;
        if (key == "expect-no-text") return test_.absent.emplace_back(tail), true;
        if (key == "expect-printf") {
            test_.checks_print = true;
            test_.printed += unescape(tail);
            return true;
        }
        if (key == "kernel") return test_.kernels.assign(rest.begin(), rest.end()), true;
        if (key == "async") return policies(rest, test_.async, parse_async_policy);
        if (key == "schedule") return policies(rest, test_.schedule, parse_schedule_policy);
        if (key == "races") {
            WW_TRY(level, parse_race_level(rest.empty() ? "strict" : rest[0]));
            test_.races = level;
            return true;
        }
        if (key == "expect-race") {
            std::vector<std::string>& parts = test_.expected_races.emplace_back();
            for (std::string_view part : split(tail, '|')) parts.emplace_back(trim(part));
            return true;
        }
        if (key == "cooperative") return test_.cooperative = true;
        if (key == "shared" || key == "budget" || key == "threads") return option(key, rest);
        return false;
    }

  private:
    static std::string unescape(std::string_view text) {
        std::string out;
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\' && i + 1 < text.size()) out += text[++i] == 'n' ? '\n' : text[i];
            else out += text[i];
        }
        return out;
    }

    template <class Policy>
    static Result<bool> policies(std::span<const std::string_view> words, std::vector<Policy>& out,
                                 Result<Policy> (*parse)(std::string_view)) {
        out.clear();
        for (const std::string_view word : words) {
            WW_TRY(policy, parse(word));
            out.push_back(policy);
        }
        if (out.empty()) return fail("a policy is missing");
        return true;
    }

    Result<bool> extent(std::string_view key, std::span<const std::string_view> words) {
        uint32_t values[3] = {1, 1, 1};
        for (size_t i = 0; i < words.size() && i < 3; ++i) {
            WW_TRY(value, number(words[i], Element::u32));
            values[i] = static_cast<uint32_t>(value);
        }
        (key == "grid" ? test_.grid : key == "block" ? test_.block : test_.cluster) = {values[0], values[1], values[2]};
        return true;
    }

    Result<bool> option(std::string_view key, std::span<const std::string_view> words) {
        std::vector<uint64_t> values;
        for (const std::string_view word : words) {
            WW_TRY(value, number(word, Element::u64));
            values.push_back(value);
        }
        if (values.empty()) return fail(fmt::format("'{}' needs a number", key));
        if (key == "threads") test_.threads.assign(values.begin(), values.end());
        else if (key == "shared") test_.dynamic_shared = static_cast<uint32_t>(values[0]);
        else test_.budget = values[0];
        return true;
    }

    // buffer NAME TYPE[COUNT] (values | uninit | released)
    Result<bool> buffer(std::span<const std::string_view> words) {
        if (words.size() < 3) return fail("buffer NAME TYPE[COUNT] VALUES");
        Buffer out{.name = std::string(words[0])};
        const size_t bracket = words[1].find('[');
        WW_TRY(element, element_of(words[1].substr(0, bracket)));
        out.element = element;
        WW_TRY(count, number(words[1].substr(bracket + 1, words[1].size() - bracket - 2), Element::u64));
        out.count = count;
        out.released = words[2] == "released";
        out.written = !out.released && words[2] != "uninit";
        if (out.written) {
            if (words[2] == "zero") {
                out.values.assign(count, 0);
            } else {
                WW_TRY(values, numbers(words.subspan(2), element, count));
                out.values = values;
            }
        }
        test_.buffers.push_back(std::move(out));
        return true;
    }

    // arg BUFFER | BUFFER+N | BUFFER-N | TYPE VALUE...
    Result<bool> argument(std::span<const std::string_view> words) {
        if (words.empty()) return fail("arg needs a buffer, or a type and its value");
        Argument out;
        const size_t sign = words[0].find_first_of("+-");
        for (const Buffer& known : test_.buffers)
            if (known.name == words[0].substr(0, sign)) out.buffer = known.name;
        if (!out.buffer.empty()) {
            if (sign != std::string_view::npos) out.offset = std::strtoll(std::string(words[0].substr(sign)).c_str(), nullptr, 0);
        } else {
            WW_TRY(element, element_of(words[0]));
            for (const std::string_view word : words.subspan(1)) {
                WW_TRY(value, number(word, element));
                const std::byte* from = reinterpret_cast<const std::byte*>(&value);
                out.bytes.insert(out.bytes.end(), from, from + element_bytes(element));
            }
        }
        test_.arguments.push_back(std::move(out));
        return true;
    }

    Result<bool> expect(std::span<const std::string_view> words) {
        if (words.empty()) return fail("expect BUFFER VALUES");
        for (const Buffer& known : test_.buffers)
            if (known.name == words[0]) {
                WW_TRY(values, numbers(words.subspan(1), known.element, known.count));
                test_.expected.push_back({known.name, values, line_});
                return true;
            }
        return fail(fmt::format("there is no buffer '{}'", words[0]));
    }

    TextTest& test_;
    int line_ = 0;
};

// "{here}" in expected texts is the line that carries the comment "// here".
void replace_marks(TextTest& test, const std::vector<std::string_view>& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
        const size_t at = lines[i].rfind("// here");
        if (at == std::string_view::npos || at == 0) continue;
        const std::string mark = fmt::format("{{{}}}", trim(lines[i].substr(at + 3)));
        const auto replace = [&](std::string& text) {
            for (size_t from; (from = text.find(mark)) != std::string::npos;)
                text.replace(from, mark.size(), std::to_string(i + 1));
        };
        for (std::string& error : test.errors) replace(error);
        for (auto& race : test.expected_races)
            for (std::string& part : race) replace(part);
    }
}

}  // namespace

uint64_t element_bytes(Element element) {
    switch (element) {
        case Element::u8: return 1;
        case Element::u16: return 2;
        case Element::u32:
        case Element::f32: return 4;
        default: return 8;
    }
}

Result<TextTest> parse_text_test(const std::filesystem::path& path, const std::string& name) {
    WW_TRY(text, read_file(path));
    TextTest test{.name = name};
    HeaderReader reader(test);
    const std::vector<std::string_view> lines = split(text, '\n');
    for (size_t i = 0; i < lines.size() && lines[i].starts_with("//"); ++i) {
        const Result<bool> read = reader.line(lines[i].substr(2), static_cast<int>(i + 1));
        if (!read)
            return fail(Diagnostic{.file = name, .line = static_cast<int>(i + 1), .message = read.error()[0].message});
    }
    replace_marks(test, lines);
    if (test.expected.empty() && test.errors.empty() && !test.checks_print && !test.races)
        return fail(Diagnostic{.file = name, .message = "the test expects nothing"});
    // On the first line, so that line numbers stay those of the file.
    test.ptx = (text.find("\n.version") == std::string::npos ? ".version 9.0 .target sm_90a .address_size 64 " : "") + text;
    return test;
}

}  // namespace ww::emulator_test
