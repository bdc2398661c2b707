// SPDX-License-Identifier: Apache-2.0
// What one source file has: functions with their lines, kernels, launches, shared memory, and the
// tensor-core and asynchronous instructions that it writes. Read from the text by its form alone:
// no preprocessing, no types, no overload resolution. C++ and CUDA C++ in cpp_scan.cpp, Python
// (Triton, CuTeDSL) in python_scan.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "context/language.hpp"

namespace ww::context {

// Something with its place in the file.
struct Mention {
    std::string text;
    int line = 0;
    bool operator==(const Mention&) const = default;
};

struct Function {
    std::string name;       // "load"
    std::string qualified;  // "cute::SM90_TMA_LOAD::load"; Python: "Class.method"
    int first = 0, last = 0;  // lines, template<> and decorators included
    bool kernel = false;
    bool method = false;      // defined within a class
    bool entry = false;       // a host entry: main, a @cute.jit function, a function for Python
    std::string parameters;   // template parameters, or Python's constexpr ones, as written
    std::string launch_bounds;
    std::vector<Mention> shared;        // declarations of shared memory
    std::vector<Mention> instructions;  // tensor-core and asynchronous ones
    // Names called in it: "Class::load" where that is written, ".load" of an object.
    std::vector<std::string> calls;
};

struct Launch {
    std::string kernel;
    std::string how;  // "grid, block, shared bytes" as written
    int line = 0;
    std::string inside;  // the function that launches; empty: none
};

struct FileScan {
    Language language = Language::other;
    int lines = 0;
    std::vector<Function> functions;  // in the order of their first lines
    std::vector<Launch> launches;
    std::vector<Mention> shared_types;  // of structs named ...SharedStorage, and @cute.struct
    std::vector<std::string> includes;  // as written, without quotes
    std::string about;                  // first sentence of its leading comment or docstring
};

FileScan scan(std::string_view text, Language language);

// The innermost function whose lines hold the line; null: none.
const Function* function_at(const FileScan& file, int line);

// The mnemonic when the text begins with a tensor-core or asynchronous PTX instruction, else "".
std::string tensor_or_async(std::string_view instruction);
// Those of a whole asm text, in order, each once.
std::vector<std::string> instructions_in(std::string_view assembly);
// "one two  three" -> "one two three", at most limit bytes.
std::string squeeze(std::string_view text, size_t limit);
// The first sentence of a comment's text that says something: no licence, no copyright.
std::string first_sentence(std::string_view comment);

FileScan scan_cpp(std::string_view text);
FileScan scan_python(std::string_view text);

}  // namespace ww::context
