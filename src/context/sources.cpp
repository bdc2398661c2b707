// SPDX-License-Identifier: Apache-2.0
#include "context/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files.hpp"
#include "base/text.hpp"
#include "context/fetch.hpp"
#include "records/lock.hpp"
#include "records/records.hpp"

namespace ww::context {
namespace {

namespace fs = std::filesystem;

constexpr std::array<records::FieldRule, 6> kFields{{{"for", true},
                                                     {"from", true},
                                                     {"commit", false},
                                                     {"content", false},
                                                     {"licence", false},
                                                     {"added", true}}};
constexpr records::Schema kSchema{
    .what = "source",
    .title = "# Sources of this port's context: warpwright context add, list, remove. Lines are NAME FIELD VALUE.",
    .fields = kFields};

constexpr std::string_view kIgnore =
    "# Written by warpwright context: the sources are not committed, what is known of them is.\n"
    "*\n!.gitignore\n!INDEX.md\n!sources.txt\n";

fs::path record_of(const fs::path& port) { return port / "context" / "sources.txt"; }

std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("_-./:@%+=,~").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Source source_of(const records::Record& record, const fs::path& port) {
    Source out;
    out.name = record.key;
    out.purpose = record.get("for");
    out.from = record.get("from");
    out.commit = record.get("commit");
    out.content = record.get("content");
    out.licence = record.get("licence");
    out.added = record.get("added");
    out.line = record.line;
    std::error_code code;
    out.present = fs::is_directory(port / "context" / out.name, code);
    out.get_again = fmt::format("warpwright context add {} --name {} --port {}", shell_word(out.from), shell_word(out.name),
                                shell_word(display_path(port)));
    return out;
}

records::Record record_of(const Source& source) {
    records::Record out{source.name, 0, {}};
    out.add("for", source.purpose);
    out.add("from", source.from);
    if (!source.commit.empty()) out.add("commit", source.commit);
    if (!source.content.empty()) out.add("content", source.content);
    out.add("licence", source.licence);
    out.add("added", source.added);
    return out;
}

// A folder's name from the end of a path or URL: ".../cutlass.git" is cutlass.
std::string name_from(std::string from) {
    while (from.ends_with('/')) from.pop_back();
    if (from.ends_with(".git")) from.resize(from.size() - 4);
    const size_t slash = from.find_last_of("/:");
    std::string out = slash == std::string::npos ? from : from.substr(slash + 1);
    for (char& c : out)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.' && c != '_') c = '_';
    return out;
}

bool is_name(const std::string& name) {
    return records::is_key(name) && name.find('/') == std::string::npos && name[0] != '.' && name != "INDEX.md" &&
           name != "sources.txt";
}

Result<Context> read_context(const fs::path& port, const records::File& file) {
    Context out{port, port / "context", {}};
    for (const records::Record& record : file.records()) {
        if (!is_name(record.key))
            return file.error(record, "", fmt::format("'{}' cannot be a folder of its own in context/", record.key));
        out.sources.push_back(source_of(record, port));
    }
    return out;
}

// Sorts out what is asked: a new source, or one on record that is missing.
Result<Source> wanted(const AddRequest& request, const Context& context, const std::string& name) {
    const Source* known = context.find(name);
    Source out;
    if (known && known->present)
        return fail(fmt::format("the context has a source '{}' already: remove it first (warpwright context remove {}), or "
                                "give this one another --name",
                                name, name));
    std::error_code code;
    if (!known && fs::exists(context.folder / name, code))
        return fail(fmt::format("{} is there but not on record: move it away, or give this one another --name",
                                display_path(context.folder / name)));
    if (known) out = *known;
    if (known && known->from != request.from)
        return fail(fmt::format("'{}' is on record as {}: remove that first (warpwright context remove {}), or give this one "
                                "another --name",
                                name, known->from, name));
    if (!request.purpose.empty()) out.purpose = records::one_line(request.purpose);
    if (!request.commit.empty()) out.commit = request.commit;
    if (out.purpose.empty()) return fail("say what it can be used for: --for \"...\"");
    out.name = name;
    out.from = request.from;
    out.added = records::now().substr(0, 10);
    return out;
}

}  // namespace

const Source* Context::find(std::string_view name) const {
    for (const Source& source : sources)
        if (source.name == name) return &source;
    return nullptr;
}

Result<fs::path> find_port(const fs::path& port) {
    std::error_code code;
    if (!port.empty()) {
        const fs::path folder = port.filename() == "port.toml" ? port.parent_path() : port;
        const fs::path here = folder.empty() ? fs::path(".") : folder;
        if (!fs::is_directory(here, code)) return fail(fmt::format("{} is no folder of a port", port.string()));
        return here;
    }
    const fs::path start = fs::current_path(code);
    for (fs::path at = start; !at.empty(); at = at.parent_path()) {
        if (fs::exists(at / "port.toml", code)) return at == start ? fs::path(".") : at;
        if (at == at.parent_path()) break;
    }
    return fail("no port: run this in the folder of a port (with a port.toml), or name one with --port FOLDER");
}

Result<Context> load(const fs::path& port) {
    WW_TRY(file, records::File::read(record_of(port), kSchema));
    return read_context(port, file);
}

Result<Source> add(const AddRequest& request) {
    const std::string name = request.name.empty() ? name_from(request.from) : request.name;
    if (!is_name(name)) return fail(fmt::format("'{}' cannot be the name of a source: give one with --name", name));
    WW_TRY(context, load(request.port));
    // A relative path is kept as it is seen from the port, so that it holds on another machine.
    AddRequest asked = request;
    std::error_code code;
    const bool is_path = fs::exists(request.from, code);
    if (!is_path && !looks_like_git(request.from)) {
        const Source* known = context.find(name);
        return fail(fmt::format("{}: no such path, and no git URL{}", request.from,
                                known ? "; '" + name + "' came from " + known->from + " on " + known->added : ""));
    }
    if (is_path && !looks_like_git(request.from)) asked.from = fs::canonical(request.from, code).string();
    WW_TRY(source, wanted(asked, context, name));
    const fs::path folder = context.folder;
    fs::create_directories(folder, code);
    if (code) return fail(Diagnostic{.file = folder.string(), .message = "cannot make the folder: " + code.message()});
    WW_TRY(merged, records::merge_by_union(request.port, "context/sources.txt"));
    (void)merged;
    WW_TRY(fetched, fetch(source.from, source.commit, folder));
    source.changed = !source.content.empty() && fetched.content != source.content;
    source.commit = fetched.commit;
    source.content = fetched.content;
    source.licence = fetched.licence.empty() ? "none found" : fetched.licence;
    // The record stands before the folder does: whoever is killed between the two leaves a source
    // that is known to be missing.
    const auto put = [&]() -> Status {
        WW_TRY(updated, records::update(record_of(request.port), kSchema, [&](records::File& file) -> Status {
                   WW_TRY(now, read_context(request.port, file));
                   if (const Source* other = now.find(name); other && other->present)
                       return fail(fmt::format("'{}' was added by another warpwright meanwhile", name));
                   file.replace(record_of(source));
                   return write_file(folder / ".gitignore", kIgnore);
               }));
        (void)updated;
        return place(fetched, folder / name);
    };
    if (const Status done = put(); !done) {
        (void)discard(fetched.folder).has_value();
        return done.failure();
    }
    source.present = true;
    return source;
}

Result<Source> remove(const fs::path& port, const std::string& name) {
    WW_TRY(context, load(port));
    const Source* source = context.find(name);
    if (!source) {
        std::vector<std::string> names;
        for (const Source& each : context.sources) names.push_back(each.name);
        const std::string near = nearest(name, names);
        return fail(fmt::format("the context has no source '{}'{}", name,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    WW_TRY(updated, records::update(record_of(port), kSchema, [&](records::File& file) -> Status {
               file.remove(name);
               return ok();
           }));
    (void)updated;
    WW_TRY(discarded, discard(context.folder / name));
    (void)discarded;
    return *source;
}

}  // namespace ww::context
