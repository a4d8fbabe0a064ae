"""check-purity and check-names find what is wrong in libraries compiled here."""

import os
import subprocess
import unittest

from support import ScriptTest

PURE = """
#include <math.h>
#include <stdio.h>
#include <string.h>
int base_one(void);
static const char *const names[] = {"a", "b"};
int stats_x(char *b, double v);
int stats_x(char *b, double v)
{
    return snprintf(b, 9, "%s", names[strlen(b) % 2]) + base_one() + (v > sqrt(v + b[0]));
}
"""

CLOCK_AND_SORT = """
#include <stdlib.h>
#include <time.h>
long detect_now(void *p, int (*f)(const void *, const void *));
long detect_now(void *p, int (*f)(const void *, const void *))
{
    qsort(p, 2, 8, f);
    return time(0);
}
"""

KEYS = """
int crypto_sign_keypair(void);
int crypto_hash_sha256(void);
int randombytes_buf(void);
int audit_x(void);
int audit_x(void) { return crypto_sign_keypair() + crypto_hash_sha256() + randombytes_buf(); }
"""

SPEAKING = """
long write(int fd, const void *bytes, unsigned long size);
static void (*report)(void);
void check_set(void (*handler)(void));
void check_set(void (*handler)(void)) { report = handler; }
int check_say(void);
int check_say(void)
{
    if (report) report();
    return (int)write(2, "x", 1);
}
"""


def function(name, result="1", before=""):
    return f"{before}int {name}(void);\nint {name}(void) {{ return {result}; }}\n"


def user(*names):
    """A room that calls these."""
    return function("app_run", " + ".join(f"{n}()" for n in names), "".join(f"int {n}(void);\n" for n in names))


class LibraryTest(ScriptTest):
    """Compiles small libraries where a build folder would have them."""

    def library(self, room, source, name="part.c"):
        folder = os.path.join(self.root, "src", room)
        self.write(f"src/{room}/{name}", source)
        flags = ["-std=c17", "-O2", "-fPIC", "-fvisibility=hidden"]
        for command in [[os.environ.get("CC", "cc"), *flags, "-c", name, "-o", name + ".o"],
                        ["ar", "rcs", f"lib{room}.a", name + ".o"]]:
            subprocess.run(command, cwd=folder, check=True)


class Purity(LibraryTest):
    def check(self):
        return self.run_script("check-purity", self.root)

    def test_pure_code_passes(self):
        self.library("base", function("base_one"))
        self.library("stats", PURE)
        self.assert_clean(self.check())

    def test_clock_and_sort(self):
        self.library("detect", CLOCK_AND_SORT)
        self.assert_finds(self.check(), "src/detect/part.c:1: uses qsort", "src/detect/part.c:1: uses time,")

    def test_random_keys_but_not_hashes(self):
        self.library("audit", KEYS)
        self.assert_finds(self.check(), "src/audit/part.c:1: uses crypto_sign_keypair",
                          "src/audit/part.c:1: uses randombytes_buf")

    def test_changing_data(self):
        self.library("expr", function("expr_next", "++calls", "static int calls;\n"))
        self.assert_finds(self.check(), "src/expr/part.c:1: calls is data that can change")

    def test_symbol_of_a_room_out_of_reach(self):
        self.library("verify", function("verify_x"))
        self.library("decide", function("decide_x", "verify_x() + 1", "int verify_x(void);\n"))
        self.assert_finds(self.check(), "src/decide/part.c:1: uses verify_x of room verify")

    def test_the_failing_check_may_speak(self):
        self.library("base", SPEAKING, "check.c")
        self.assert_clean(self.check())
        self.library("model", SPEAKING)
        self.assert_finds(self.check(), "src/model/part.c:1: report is data", "src/model/part.c:1: uses write")

    def test_nothing_built_is_not_fine(self):
        self.assertEqual(1, self.check()[0])


class Names(LibraryTest):
    def check(self):
        return self.run_script("check-names", self.root)

    def test_names_of_room_and_file_pass(self):
        self.library("detect", function("detect_x") + function("slots_y") + function("inner"), "slots_day.c")
        self.library("model", function("anything"))
        self.library("promql", function("pq_eval"))
        self.library("app", user("detect_x", "slots_y", "anything", "pq_eval"))
        self.assert_clean(self.check())

    def test_names_that_do_not_tell_their_room_fail(self):
        self.library("detect", function("locate_x") + function("detectx") + function("inner"))
        self.library("app", user("locate_x", "detectx"))
        self.assert_finds(self.check(), "src/detect/part.c:1: locate_x is used by another room: begin it with detect_",
                          "src/detect/part.c:1: detectx is used by another room")

    def test_one_name_in_two_rooms_fails(self):
        self.library("detect", function("done"))
        self.library("verify", function("done"))
        self.assert_finds(self.check(), "src/verify/part.c:1: done is also defined by room detect")


if __name__ == "__main__":
    unittest.main()
