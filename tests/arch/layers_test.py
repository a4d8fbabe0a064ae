"""check-layers finds each way of breaking the include rule, and accepts what is allowed."""

import unittest

from support import ScriptTest


class Layers(ScriptTest):
    def setUp(self):
        super().setUp()
        for header in ["base/buf.h", "model/knob.h", "expr/expr.h", "locate/locate.h", "loop/ports.h", "loop/event.h",
                       "loop/loop.h"]:
            self.write("src/" + header, "")

    def check(self):
        return self.run_script("check-layers", "--root", self.root)

    def test_allowed_includes_pass(self):
        self.write("src/locate/locate.c", '#include "locate/locate.h"\n#include "expr/expr.h"\n#include <string.h>\n')
        self.write("src/locate/locate_test.c", '#include "locate/locate.h"\n#include "support/test.h"\n')
        self.write("src/loop/ports.h", '#include "loop/event.h"\n#include "model/knob.h"\n')
        self.write("src/adapt/http.c", '#include "loop/ports.h"\n#include "loop/event.h"\n'
                   '#include <curl/curl.h>\n#include <time.h>\n')
        self.write("src/app/main.c", '#include "loop/loop.h"\n')
        self.assert_clean(self.check())

    def test_stage_may_not_see_another_stage(self):
        self.write("src/detect/detect.c", '#include "base/buf.h"\n\n#include "locate/locate.h"\n')
        self.assert_finds(self.check(),
                          'src/detect/detect.c:3: "locate/locate.h": detect/detect.c may include only base')

    def test_base_may_not_look_up(self):
        self.write("src/base/buf.c", '#include "model/knob.h"\n')
        self.assert_finds(self.check(), "src/base/buf.c:1: ")

    def test_shell_sees_the_ports_and_not_the_loop(self):
        self.write("src/api/routes.c", '#include "loop/ports.h"\n#include "loop/loop.h"\n')
        self.assert_finds(self.check(), 'src/api/routes.c:2: "loop/loop.h"')

    def test_ports_open_no_back_door(self):
        self.write("src/loop/ports.h", '#include "model/knob.h"\n#include "expr/expr.h"\n')
        self.assert_finds(self.check(), "src/loop/ports.h:2: ")

    def test_clock_header_in_a_pure_room(self):
        self.write("src/model/knob.c", "#include <stdint.h>\n#include <time.h>\n")
        self.assert_finds(self.check(), "src/model/knob.c:2: <time.h>: model is pure")

    def test_library_outside_its_room(self):
        self.write("src/api/routes.c", "#include <sqlite3.h>\n")
        self.assert_finds(self.check(), "src/api/routes.c:1: <sqlite3.h>: this library belongs to store")

    def test_unknown_room_missing_header_and_bare_name(self):
        self.write("src/extra/x.c", "")
        self.write("src/expr/lex.c", '#include "lex.h"\n#include "base/none.h"\n')
        self.assert_finds(self.check(), "src/extra/x.c:1: no room", 'src/expr/lex.c:1: "lex.h": write',
                          'src/expr/lex.c:2: "base/none.h": no such header')

    def test_comment_is_no_include(self):
        self.write("src/base/buf.c", '/*\n#include "model/knob.h"\n*/\n')
        self.assert_clean(self.check())


if __name__ == "__main__":
    unittest.main()
