"""check-determinism passes a program that does not depend on its compiler, and catches one that does."""

import os
import subprocess
import sys
import unittest

from support import TOP, ScriptTest

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(trimtab LANGUAGES C)
add_executable(trimtab main.c)
add_custom_target(program DEPENDS trimtab)
"""


class Determinism(ScriptTest):
    def check(self, source, *runs, built=()):
        self.write("CMakeLists.txt", CMAKE)
        self.write("main.c", source)
        done = subprocess.run([sys.executable, f"{TOP}/scripts/check-determinism", "--source", self.root, *built,
                               f"{self.root}/out", *runs], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_same_bytes_pass(self):
        code, out, err = self.check("#include <stdio.h>\nint main(int c, char **v)\n"
                                    "{ printf(\"%s %d\\n\", v[1], c); return 0; }\n", "simulate --json", "other")
        self.assertEqual((0, ""), (code, err))
        self.assertIn("simulate --json: 11 bytes", out)
        self.assertIn("the same from 4 builds", out)

    def test_a_compiler_that_shows_is_caught(self):
        code, out, _ = self.check("#include <stdio.h>\nint main(void)\n{\n    puts(\"same\");\n#ifdef __clang__\n"
                                  "    puts(\"digest 2\");\n#else\n    puts(\"digest 1\");\n#endif\n    return 0;\n}\n", "x")
        self.assertEqual(1, code)
        self.assertIn("x: line 2 differs\n  gcc -O2: digest 1\n  clang-14 -O2: digest 2", out)

    def test_what_is_built_already_counts_too(self):
        self.write("built", "#!/bin/sh\necho other\n")
        built = os.path.join(self.root, "built")
        os.chmod(built, 0o755)
        code, out, _ = self.check("#include <stdio.h>\nint main(void) { puts(\"same\"); return 0; }\n", "x",
                                  built=("--built", built))
        self.assertEqual(1, code)
        self.assertIn("x: line 1 differs\n  as built: other\n  gcc -O0: same", out)

    def test_a_level_that_shows_is_caught(self):
        code, out, _ = self.check("#include <stdio.h>\nint main(void)\n{\n#ifdef __OPTIMIZE__\n    puts(\"a\");\n#endif\n"
                                  "    puts(\"b\");\n    return 0;\n}\n", "x")
        self.assertEqual(1, code)
        self.assertIn("gcc -O0: b", out)

    def test_failure_and_silence_are_no_agreement(self):
        self.assertEqual(1, self.check("int main(void) { return 0; }\n", "x")[0])
        self.assertEqual(1, self.check("#include <stdio.h>\nint main(void) { puts(\"x\"); return 3; }\n", "x")[0])
        code, _, err = self.check("int main(void) { return }\n", "x")
        self.assertEqual(1, code)
        self.assertIn("gcc -O2: cmake --build", err)


if __name__ == "__main__":
    unittest.main()
