// SPDX-License-Identifier: Apache-2.0
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>

#include "base/files.hpp"
#include "base/text.hpp"
#include "records/lock.hpp"

namespace ww::records {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFieldWidth = 11;  // fields are padded to it, so that values line up

bool is_conflict_marker(std::string_view line) {
    return line.starts_with("<<<<<<<") || line.starts_with("=======") || line.starts_with(">>>>>>>") ||
           line.starts_with("|||||||");
}

std::string_view next_word(std::string_view& rest) {
    const size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size());
    const size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
}

// What follows the padding behind the field's name: indentation of the value itself is kept.
std::string value_of(std::string_view rest, size_t field_size) {
    if (!rest.empty()) rest.remove_prefix(1);
    for (size_t used = field_size; used < kFieldWidth && rest.starts_with(' '); ++used) rest.remove_prefix(1);
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t' || rest.back() == '\r')) rest.remove_suffix(1);
    return std::string(rest);
}

std::string line_of(const std::string& key, const Field& field) {
    std::string out = fmt::format("{} {:<{}} {}", key, field.name, kFieldWidth, field.value);
    while (out.back() == ' ') out.pop_back();
    return out;
}

// A word of a file that may be anything, for a message.
std::string shown(std::string_view word) {
    std::string out;
    for (const unsigned char c : word.substr(0, 40)) out += c < ' ' || c > '~' ? '?' : static_cast<char>(c);
    return word.size() > 40 ? out + "..." : out;
}

// Nothing where the line is sound.
std::string mistake(const Schema& schema, std::string_view key, std::string_view name, std::string_view value) {
    if (!is_key(key))
        return fmt::format("'{}' is no key of a record: a line is KEY FIELD VALUE, a comment begins with #", shown(key));
    const FieldRule* rule = schema.find(name);
    if (!rule) {
        std::vector<std::string> known;
        for (const FieldRule& each : schema.fields) known.emplace_back(each.name);
        const std::string near = nearest(name, known);
        return fmt::format("a {} has no field '{}'; {}", schema.what, shown(name),
                           near.empty() ? "its fields are " + join(known, ", ") : "did you mean '" + near + "'?");
    }
    if (value.empty() && !rule->repeated) return fmt::format("the field '{}' has no value", name);
    return "";
}

}  // namespace

const FieldRule* Schema::find(std::string_view name) const {
    for (const FieldRule& rule : fields)
        if (rule.name == name) return &rule;
    return nullptr;
}

const std::string& Record::get(std::string_view field) const {
    static const std::string kNone;
    for (const Field& each : fields)
        if (each.name == field) return each.value;
    return kNone;
}

bool Record::has(std::string_view field) const {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& each) { return each.name == field; });
}

std::vector<std::string> Record::all(std::string_view field) const {
    std::vector<std::string> out;
    for (const Field& each : fields)
        if (each.name == field) out.push_back(each.value);
    return out;
}

void Record::add(std::string name, std::string_view value) {
    fields.push_back({std::move(name), one_line(value), 0});
}

void Record::add_lines(const std::string& name, std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (std::string_view line : split(text, '\n')) {
        std::string value;
        for (const char c : line) value += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        while (value.ends_with(' ')) value.pop_back();
        fields.push_back({name, value, 0});
    }
}

bool is_key(std::string_view text) {
    return !text.empty() && text.size() <= 200 && text[0] != '#' &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '/';
           });
}

std::string now() {
    const std::time_t time = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&time, &utc);
    char text[32];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
}

std::string one_line(std::string_view text) {
    std::string out(trim(text));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return out;
}

Result<File> File::read(const fs::path& path, const Schema& schema) {
    std::error_code code;
    if (!fs::exists(path, code) && !code) return parse("", path, schema);
    WW_TRY(text, read_file(path));
    return parse(text, path, schema);
}

Result<File> File::parse(std::string_view text, const fs::path& path, const Schema& schema) {
    File file;
    file.shown_ = display_path(path);
    file.schema_ = &schema;
    Diagnostics errors;
    if (text.ends_with('\n')) text.remove_suffix(1);
    int number = 0;
    for (const std::string_view line : text.empty() ? std::vector<std::string_view>{} : split(text, '\n')) {
        ++number;
        Line kept{std::string(line), ""};
        if (trim(line).empty() || trim(line)[0] == '#') {
            file.lines_.push_back(std::move(kept));
            continue;
        }
        std::string_view rest = line;
        const std::string key(next_word(rest)), name(next_word(rest));
        const std::string value = value_of(rest, name.size());
        std::string wrong = mistake(schema, key, name, value);
        if (is_conflict_marker(line)) wrong = "a conflict marker of git: keep the lines of both sides, delete the markers";
        if (!wrong.empty()) {
            errors.push_back({.file = file.shown_, .line = number, .message = wrong});
            continue;
        }
        const auto [place, is_new] = file.index_.try_emplace(key, file.records_.size());
        if (is_new) file.records_.push_back({key, number, {}});
        file.records_[place->second].fields.push_back({name, value, number});
        kept.key = key;
        file.lines_.push_back(std::move(kept));
    }
    if (!errors.empty()) return fail(std::move(errors));
    WW_TRY(sound, file.check());
    (void)sound;
    return file;
}

Status File::check() const {
    Diagnostics errors;
    for (const Record& record : records_) {
        std::map<std::string_view, int> seen;
        for (const Field& field : record.fields) {
            const auto [place, is_new] = seen.try_emplace(field.name, field.line);
            if (is_new || schema_->find(field.name)->repeated) continue;
            errors.push_back({.file = shown_, .line = field.line,
                              .message = fmt::format("{} '{}' has a second '{}' (the first is on line {}): keep one "
                                                     "of them, or give one {} another name",
                                                     schema_->what, record.key, field.name, place->second,
                                                     schema_->what)});
        }
        for (const FieldRule& rule : schema_->fields)
            if (rule.required && !seen.count(rule.name))
                errors.push_back({.file = shown_, .line = record.line,
                                  .message = fmt::format("{} '{}' has no line '{} {} ...'", schema_->what, record.key,
                                                         record.key, rule.name)});
    }
    if (!errors.empty()) return fail(std::move(errors));
    return ok();
}

const Record* File::find(std::string_view key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &records_[found->second];
}

Failure File::error(const Record& record, std::string_view field, std::string message) const {
    int line = record.line;
    for (const Field& each : record.fields)
        if (each.name == field) line = each.line;
    return fail(Diagnostic{.file = shown_, .line = line, .message = std::move(message)});
}

void File::take(const Record& record, std::vector<Line>::iterator at) {
    WW_CHECK(is_key(record.key), "a record needs a key");
    std::vector<Line> made;
    for (const Field& field : record.fields) {
        WW_CHECK(mistake(*schema_, record.key, field.name, field.value).empty(), "a record breaks its own schema");
        made.push_back({line_of(record.key, field), record.key});
    }
    lines_.insert(at, made.begin(), made.end());
}

void File::append(const Record& record) {
    if (lines_.empty())
        for (const std::string_view line : split(schema_->title, '\n')) lines_.push_back({std::string(line), ""});
    if (!lines_.back().text.empty()) lines_.push_back({"", ""});
    take(record, lines_.end());
    const auto [place, is_new] = index_.try_emplace(record.key, records_.size());
    if (is_new) {
        records_.push_back(record);
        return;
    }
    auto& fields = records_[place->second].fields;
    fields.insert(fields.end(), record.fields.begin(), record.fields.end());
}

void File::replace(const Record& record) {
    const auto of_record = [&](const Line& line) { return line.key == record.key; };
    const auto first = std::find_if(lines_.begin(), lines_.end(), of_record);
    if (first == lines_.end()) return append(record);
    const auto at = first - lines_.begin();
    lines_.erase(std::remove_if(first, lines_.end(), of_record), lines_.end());
    take(record, lines_.begin() + at);
    records_[index_.at(record.key)] = record;
}

void File::remove(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    // The blank line before a record goes with it.
    const auto first = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.key == key; });
    if (first != lines_.begin() && (first - 1)->text.empty()) lines_.erase(first - 1);
    lines_.erase(std::remove_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.key == key; }),
                 lines_.end());
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(found->second));
    index_.clear();
    for (size_t i = 0; i < records_.size(); ++i) index_[records_[i].key] = i;
}

std::string File::text() const {
    std::string out;
    for (const Line& line : lines_) out += line.text + "\n";
    return out;
}

Status update(const fs::path& path, const Schema& schema, const std::function<Status(File&)>& change) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code code;
    fs::create_directories(folder, code);
    if (code) return fail(Diagnostic{.file = folder.string(), .message = "cannot make the folder: " + code.message()});
    WW_TRY(lock, FolderLock::take(folder));
    (void)lock;
    WW_TRY(file, File::read(path, schema));
    WW_TRY(changed, change(file));
    (void)changed;
    remove_leftovers(path);
    return write_file(path, file.text());
}

Status merge_by_union(const fs::path& folder, std::string_view file) {
    const fs::path path = folder / ".gitattributes";
    WW_TRY(lock, FolderLock::take(folder));
    (void)lock;
    std::string text;
    std::error_code code;
    if (fs::exists(path, code)) {
        WW_TRY(read, read_file(path));
        text = read;
    }
    for (const std::string_view line : split(text, '\n'))
        if (const auto words = split_words(line); !words.empty() && words[0] == file) return ok();
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    remove_leftovers(path);
    return write_file(path, text + fmt::format("{} merge=union\n", file));
}

}  // namespace ww::records
