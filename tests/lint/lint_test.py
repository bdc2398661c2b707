#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of lint.py reports a bad sample, and says nothing about a good one."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lint  # noqa: E402

COMPILER = "c++"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
TABLE = "ww_room(base)\nww_room(isa DEPENDS base)\nww_program(cli NAME x DEPENDS isa)\n"


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("CMakeLists.txt", TABLE)
        self.put("src/base/text.hpp", LICENCE + "#pragma once\n#include <string>\nstd::string f();\n")
        self.put("src/base/text.cpp", LICENCE + '#include "base/text.hpp"\n')
        self.put("src/isa/row.hpp", LICENCE + '#pragma once\n#include "base/text.hpp"\n')

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def messages(self, rule):
        return [f"{path}: {message}"
                for path, _, message in lint.findings(rule, lint.Tree(self.root), COMPILER)]

    def expect(self, rule, *parts):
        found = self.messages(rule)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_good_tree_has_no_findings(self):
        for rule in lint.RULES:
            self.assertEqual(self.messages(rule), [], rule)

    def test_include_up_the_list(self):
        self.put("src/base/up.cpp", LICENCE + '#include "isa/row.hpp"\n')
        self.expect("includes", "src/base/up.cpp", "base may not include isa")

    def test_include_past_the_table(self):
        self.put("src/cli/main.cpp", LICENCE + '#include "base/text.hpp"\n')
        self.expect("includes", "cli may not include base")

    def test_include_of_a_port(self):
        self.put("kernels/references.hpp", LICENCE + "#pragma once\n")
        self.put("src/cli/main.cpp", LICENCE + '#include "references.hpp"\n')
        self.expect("includes", "cli may not include kernels")
        self.put("CMakeLists.txt", TABLE.replace("DEPENDS isa)", "DEPENDS isa kernels)"))
        self.assertEqual(self.messages("includes"), [])

    def test_include_outside_src(self):
        self.put("src/isa/odd.cpp", LICENCE + '#include "../base/text.hpp"\n')
        self.expect("includes", "not a path below src/")

    def test_dependency_on_a_later_room(self):
        self.put("CMakeLists.txt", "ww_room(base DEPENDS isa)\nww_room(isa DEPENDS base)\n")
        self.expect("includes", "base depends on isa, which is not above it")

    def test_folder_that_is_no_room(self):
        self.put("src/attic/old.cpp", LICENCE)
        self.expect("includes", "src/attic is no room")

    def test_slow_library_in_a_header(self):
        self.put("src/isa/json.hpp", LICENCE + "#pragma once\n#include <nlohmann/json.hpp>\n")
        self.expect("includes", "slow to compile")

    def test_long_file(self):
        self.put("src/base/long.cpp", LICENCE + "\n" * lint.SIZE_LIMIT)
        self.expect("sizes", "src/base/long.cpp", "601 lines")
        self.put("tests/lint/size_allow.txt", "src/base/long.cpp generated table\n")
        self.assertEqual(self.messages("sizes"), [])

    def test_stale_size_exceptions(self):
        self.put("tests/lint/size_allow.txt", "src/base/text.cpp reason\n")
        self.expect("sizes", "needs no exception")
        self.put("tests/lint/size_allow.txt", "src/base/gone.cpp reason\n")
        self.expect("sizes", "does not exist")

    def test_missing_licence(self):
        self.put("src/base/bare.cpp", "int x;\n")
        self.expect("spdx", "src/base/bare.cpp")

    def test_licence_after_the_interpreter_line(self):
        self.put("tool.py", "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n")
        self.assertEqual(self.messages("spdx"), [])
        self.put("tool.py", "#!/usr/bin/env python3\nprint()\n")
        self.expect("spdx", "tool.py")

    def test_words(self):
        for number, bad in enumerate(["/wor" + "k/main", "/roo" + "t/.cache", "/tmp/buil" + "d-x",
                                      "pypi.or" + "g", "TOD" + "O"]):
            self.put("notes.md", f"see {bad} there\n")
            with self.subTest(number):
                self.expect("words", "notes.md")

    def test_header_that_needs_another(self):
        self.put("src/base/needy.hpp", LICENCE + "#pragma once\nstd::vector<int> f();\n")
        self.expect("headers", "src/base/needy.hpp", "does not compile alone")

    def test_source_that_hides_its_header(self):
        self.put("src/base/text.cpp", LICENCE + '#include <vector>\n#include "base/text.hpp"\n')
        self.expect("headers", 'first include must be "base/text.hpp"')


if __name__ == "__main__":
    if len(sys.argv) > 1:
        COMPILER = sys.argv.pop(1)
    unittest.main()
