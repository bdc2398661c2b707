// SPDX-License-Identifier: Apache-2.0
// Record files: what they hold, what hand edits and merges do to them.
#include "records/records.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/files.hpp"
#include "records/section.hpp"

namespace ww::records {
namespace {

namespace fs = std::filesystem;

constexpr std::array<FieldRule, 3> kFields{{{"says", true}, {"printed", false, true}, {"date", false}}};
constexpr Schema kSchema{.what = "fact", .title = "# Facts.", .fields = kFields};

class Folder {
  public:
    Folder() : path_(fs::temp_directory_path() / ("records_test_" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

Record record(const std::string& key, const std::string& says) {
    Record out{key, 0, {}};
    out.add("says", says);
    return out;
}

std::string error_of(const std::string& text) {
    const auto file = File::parse(text, "facts.txt", kSchema);
    return file ? "none" : format(file.error());
}

TEST(Records, WhatIsWrittenIsReadBack) {
    auto file = File::parse("", "facts.txt", kSchema);
    ASSERT_TRUE(file);
    Record made = record("a", "two\nlines | and a bar");
    made.add_lines("printed", "  indented\n\nlast\n");
    file->append(made);
    const auto read = File::parse(file->text(), "facts.txt", kSchema);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->records().size(), 1u);
    EXPECT_EQ(read->records()[0].get("says"), "two lines | and a bar");
    EXPECT_EQ(read->records()[0].all("printed"), (std::vector<std::string>{"  indented", "", "last"}));
    EXPECT_EQ(read->text(), file->text());
}

TEST(Records, LinesOfDifferentRecordsMayBeMixed) {
    const auto file = File::parse("a says one\nb says two\na date 1\nb date 2\n", "facts.txt", kSchema);
    ASSERT_TRUE(file);
    ASSERT_EQ(file->records().size(), 2u);
    EXPECT_EQ(file->find("b")->get("date"), "2");
}

TEST(Records, MistakesNameTheirLine) {
    EXPECT_EQ(error_of("a says one\na syas two\n"),
              "facts.txt:2: error: a fact has no field 'syas'; did you mean 'says'?\n");
    EXPECT_EQ(error_of("# x\na says\n"), "facts.txt:2: error: the field 'says' has no value\n");
    EXPECT_EQ(error_of("a date 1\n"), "facts.txt:1: error: fact 'a' has no line 'a says ...'\n");
    EXPECT_NE(error_of("a says 1\n<<<<<<< HEAD\na date 2\n").find("facts.txt:2: error: a conflict marker"), std::string::npos);
    EXPECT_NE(error_of("a says 1\na says 2\n").find("facts.txt:2: error: fact 'a' has a second 'says' (the first is on line 1)"),
              std::string::npos);
    EXPECT_NE(error_of("a* says 1\n").find("facts.txt:1: error: 'a*' is no key"), std::string::npos);
}

TEST(Records, CommentsAndOtherRecordsStayAsTheyAre) {
    auto file = File::parse("# mine\na says one\n\n# yours\nb   says     two\n", "facts.txt", kSchema);
    ASSERT_TRUE(file);
    file->replace(record("a", "three"));
    EXPECT_EQ(file->text(), "# mine\na says        three\n\n# yours\nb   says     two\n");
    file->remove("a");
    EXPECT_EQ(file->text(), "# mine\n\n# yours\nb   says     two\n");
}

TEST(Records, TwoAtOnceLoseNothing) {
    const Folder folder;
    const fs::path path = folder.path() / "facts.txt";
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 25; ++i)
                EXPECT_TRUE(update(path, kSchema, [&](File& file) -> Status {
                    file.append(record(fmt::format("k{}", t * 100 + i), "x"));
                    return ok();
                }));
        });
    for (std::thread& thread : threads) thread.join();
    const auto file = File::read(path, kSchema);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->records().size(), 100u);
}

TEST(Records, AMistakeIsNotWrittenOver) {
    const Folder folder;
    const fs::path path = folder.path() / "facts.txt";
    ASSERT_TRUE(write_file(path, "a says one\nwhat is this\n"));
    EXPECT_FALSE(update(path, kSchema, [&](File& file) -> Status {
        file.append(record("b", "x"));
        return ok();
    }));
    EXPECT_EQ(read_file(path).value(), "a says one\nwhat is this\n");
}

TEST(Records, WhatAKilledWriterLeftIsRemoved) {
    const Folder folder;
    const fs::path path = folder.path() / "facts.txt", left = folder.path() / "facts.txt.1234.0.tmp";
    ASSERT_TRUE(write_file(left, "half"));
    ASSERT_TRUE(update(path, kSchema, [&](File& file) -> Status {
        file.append(record("b", "x"));
        return ok();
    }));
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(path));
}

constexpr Section kSection{.name = "facts", .heading = "## Facts", .by = "a test"};

TEST(Section, GoesUnderItsHeadingAndStaysThere) {
    const std::string text = "# Port\n\n## Facts\n- mine\n\n## More\nx\n";
    const auto once = with_section(text, "README.md", kSection, "- made\n");
    ASSERT_TRUE(once);
    EXPECT_EQ(*once,
              "# Port\n\n## Facts\n- mine\n\n<!-- facts: made by a test; write outside of these lines -->\n- made\n<!-- /facts -->\n"
              "\n## More\nx\n");
    const auto twice = with_section(*once, "README.md", kSection, "- made\n");
    ASSERT_TRUE(twice);
    EXPECT_EQ(*twice, *once);
    EXPECT_EQ(section_of(*once, "README.md", kSection)->text, "- made\n");
}

TEST(Section, WithoutAHeadingGoesToTheEnd) {
    const auto made = with_section("# Port\n", "README.md", kSection, "x");
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, "# Port\n\n## Facts\n<!-- facts: made by a test; write outside of these lines -->\nx\n<!-- /facts -->\n");
}

TEST(Section, HalfAPairOfMarkersIsNamed) {
    const auto half = with_section("a\n<!-- facts: x -->\nb\n", "README.md", kSection, "x");
    ASSERT_FALSE(half);
    EXPECT_EQ(format(half.error()), "README.md:2: error: no '<!-- /facts -->' follows\n");
}

}  // namespace
}  // namespace ww::records
