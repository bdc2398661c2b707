// SPDX-License-Identifier: Apache-2.0
// Files of records that people and git can handle: lines "KEY FIELD VALUE". Every line carries the
// key of its record, so lines may stand in any order and a merge that keeps both sides' lines is
// right. Blank lines and lines that begin with # are kept as they are. docs/records.md has it all.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::records {

struct FieldRule {
    std::string_view name;
    bool required = false;
    bool repeated = false;  // a list, one line an item; an item may be empty
};

// What a file of this kind may hold.
struct Schema {
    std::string_view what;    // "gotcha": for messages
    std::string_view title;   // the comment at the head of a new file
    std::span<const FieldRule> fields;

    const FieldRule* find(std::string_view name) const;
};

struct Field {
    std::string name, value;
    int line = 0;
};

struct Record {
    std::string key;
    int line = 0;  // of its first line
    std::vector<Field> fields;

    // "" where it has no such field.
    const std::string& get(std::string_view field) const;
    bool has(std::string_view field) const;
    std::vector<std::string> all(std::string_view field) const;
    // The value as it will be read back: one line, without blanks at its ends.
    void add(std::string name, std::string_view value);
    // A value of several lines, one field a line.
    void add_lines(const std::string& name, std::string_view text);
};

bool is_key(std::string_view text);  // letters, digits, _ - . + /; what a key may be
std::string now();  // "2026-11-30T08:12:03Z"
std::string one_line(std::string_view text);  // line breaks and tabs become spaces; trimmed

class File {
  public:
    // A file that is not there is empty. Every mistake is a diagnostic with its line, and then there
    // is no File: what cannot be read is never written over.
    static Result<File> read(const std::filesystem::path& path, const Schema& schema);
    static Result<File> parse(std::string_view text, const std::filesystem::path& path,
                              const Schema& schema);

    const std::vector<Record>& records() const { return records_; }
    const Record* find(std::string_view key) const;
    const std::string& shown_path() const { return shown_; }
    // A message about a record or one of its fields.
    Failure error(const Record& record, std::string_view field, std::string message) const;

    // Behind the last line; a key that is there already gets further lines.
    void append(const Record& record);
    // The record's lines change where its first line stands; others stay as they are.
    void replace(const Record& record);
    void remove(std::string_view key);

    std::string text() const;

  private:
    struct Line {
        std::string text;
        std::string key;  // empty: a comment or a blank line
    };
    std::string shown_;  // the path, for messages
    const Schema* schema_ = nullptr;
    std::vector<Line> lines_;
    std::vector<Record> records_;
    std::map<std::string, size_t, std::less<>> index_;

    Status check() const;
    void take(const Record& record, std::vector<Line>::iterator at);
};

// Reads, changes and writes a file under its folder's lock; the file is the old one or the new one
// at any time. The folder is made where it is missing.
Status update(const std::filesystem::path& path, const Schema& schema,
              const std::function<Status(File&)>& change);

// Has git keep the lines of both sides when it merges the file: a line in the folder's .gitattributes.
// file is relative to the folder.
Status merge_by_union(const std::filesystem::path& folder, std::string_view file);

}  // namespace ww::records
