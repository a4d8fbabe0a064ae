"""Each rule of scripts/tidy fails on a small bad example, at the right file and line."""

import unittest

from support import ScriptTest

MARK = "TO" + "DO"


class Tidy(ScriptTest):
    def check(self):
        return self.run_script("tidy", "--root", self.root)

    def finds(self, path, text, *starts):
        self.write(path, text)
        self.assert_finds(self.check(), *[f"{path}:{start}" for start in starts])

    def test_good_tree_passes(self):
        self.write("src/base/README.md", "What comes in: bytes. See [the header](sum.h).\n")
        self.write("src/base/sum.h", "/* Sum. */\n#ifndef BASE_SUM_H\n#define BASE_SUM_H\n"
                   "\nint sum(int a, int b);\n\n#endif\n")
        self.write("src/base/sum.c", '#include "base/sum.h"\n\nint sum(int a, int b)\n{\n    return a + b;\n}\n')
        self.write("Makefile", "all:\n\ttrue\n")
        self.write("tests/fuzz/corpus/x/1.txt", "tab\there \r\n")
        self.assert_clean(self.check())

    def test_long_file(self):
        self.finds("src/base/a.py", "x = 1\n" * 501, "501: 501 lines")

    def test_long_c_function(self):
        self.finds("tests/x.c", "int f(int a)\n{\n" + "    a++;\n" * 68 + "}\n", "2: function f has 70 lines")

    def test_function_of_69_lines_and_long_table_pass(self):
        self.write("tests/x.c", "int f(int a)\n{\n" + "    a++;\n" * 67 + "}\n"
                   "int t[] = {\n" + "    1,\n" * 90 + "};\n")
        self.assert_clean(self.check())

    def test_braces_in_text_do_not_count(self):
        braces = "int g(void)\n{\n    return '{' + \"{\"[0]; /* { */\n}\n#define OPEN {\n"
        self.finds("tests/x.c", braces + "int f(int a)\n{\n" + "    a++;\n" * 70 + "}\n",
                   "7: function f has 72 lines")

    def test_long_python_function(self):
        self.finds("scripts/x.py", "\n\ndef f():\n" + "    x = 1\n" * 69, "3: function f has 70 lines")

    def test_python_that_does_not_parse(self):
        self.finds("scripts/x.py", "def f(:\n", "1: does not parse")

    def test_blanks(self):
        self.finds("src/x.h.cmake", "a \n\tb\nc\r\n" + "d" * 133 + "\nend",
                   "1: blank at", "2: tab", "3: line ends with CR", "4: 133 columns", "5: no newline")

    def test_a_table_row_may_be_long(self):
        self.write("src/model/README.md", "Page.\n")
        self.finds("src/model/x.def", "x" * 240 + "\n" + "x" * 241 + "\n", "2: 241 columns; at most 240")
        self.write("src/model/x.def", "")
        self.write("tests/x.c", "/* Written by fit; do not edit. */\n" + "int x;" + " " * 150 + "int y;\n")
        self.assert_clean(self.check())

    def test_unfinished(self):
        self.finds("docs/x.md", f"a\n{MARK}: more\n", f'2: "{MARK}"')
        self.finds("docs/x.md", "this is not imple" + "mented yet\n", '1: "not imple')

    def test_stand_ins_in_code(self):
        self.finds("tests/x.c", "/* a st" + "ub */\n", '1: "st')

    def test_machine_paths(self):
        self.finds("docs/x.md", "see\n" + "/ro" + "ot/x\n", "2: \"/ro")
        self.finds("docs/x.md", f"see {self.root}/x\n", f'1: "{self.root}" is a path')

    def test_dead_link(self):
        self.finds("docs/x.md", "[a](x.md#b)\n[c](https://example.org/d)\n[e](../f.md)\n", '3: link to "../f.md"')

    def test_header_guard(self):
        self.finds("tests/support/x.h", "#ifndef X_H\n#define X_H\n#endif\n",
                   "1: header guard is X_H, expected SUPPORT_X_H")
        self.finds("tests/support/x.h", "int x;\n", "1: no header guard")

    def test_room_without_page(self):
        self.write("src/base/a.c", "int a;\n")
        self.assert_finds(self.check(), "src/base/README.md:1: missing")
        self.write("src/base/README.md", "line\n" * 61)
        self.assert_finds(self.check(), "src/base/README.md:61: 61 lines")

    def test_waiting(self):
        self.finds("tests/x_test.c", "void f(void)\n{\n    us" + "leep (5);\n}\n", "3: a test calls usleep")
        quoted = '/* sleep(1) */ const char *s = "sleep(1)";\n'
        self.finds("tests/x_test.c", quoted + "void g(void) { asleep(); sleep(1); }\n",
                   "2: a test calls sleep")

    def test_waiting_in_python(self):
        self.finds("tests/x.py", "import time\ntime.sl" + "eep(1)\n", "2: a test calls time.sleep")

    def test_numbers_by_locale(self):
        self.write("src/base/README.md", "Page.\n")
        self.finds("src/base/a.c", "/* strtod( */\nvoid f(char *s)\n{\n    strtod(s, 0);\n    p(\"x %5.2f\", 1.0);\n"
                   "    p(\"100%% fine, 5 % free, %d\", 1);\n}\n", "4: strtod depends", '5: "%5.2f" depends')

    def test_typedef(self):
        self.finds("tests/x.c", "typedef struct a { int b; } a;\n", "1: no typedef")

    def test_wrong_bytes_and_large_files(self):
        with open(self.root + "/x.md", "wb") as f:
            f.write(b"\xff\xfe\n")
        self.assert_finds(self.check(), "x.md:1: not UTF-8")
        self.write("x.md", "a\n")
        self.write("y.bin", "a" * ((1 << 20) + 1))
        self.assert_finds(self.check(), "y.bin:1: over")


if __name__ == "__main__":
    unittest.main()
