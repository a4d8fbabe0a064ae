"""Rules for C text: function length, header guards, number formats, waiting in tests."""

import os
import re

import rooms
import tree

FUNCTION_LINES = 70
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)
LOCALE_NUMBERS = re.compile(r"\b(strtod|strtof|strtold|atof|sscanf|fscanf|vsscanf)\s*\(")
FLOAT_FORMAT = re.compile(r"%[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:l|L)?[fFeEgGaA]")
WAITING = re.compile(r"\b(sleep|usleep|nanosleep|clock_nanosleep)\s*\(")
TYPEDEF = re.compile(r"\btypedef\s+(?:struct|union|enum)\b")


def functions(text):
    """Yields (name, first line, number of lines) of each function body, from its brace to its brace."""
    bare = PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), tree.strip_strings(text))
    depth, start, name = 0, 0, None
    for m in re.finditer(r"[{}]", bare):
        if m[0] == "{":
            if depth == 0:
                head = bare[:m.start()].rstrip()
                name = _name(head) if head.endswith(")") else None
                start = tree.line_of(bare, m.start())
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0 and name:
                yield name, start, tree.line_of(bare, m.start()) - start + 1


def _name(head):
    """The name before the parameter list that `head` ends with."""
    depth = 0
    for i in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[i], 0)
        if depth == 0:
            m = re.search(r"(\w+)\s*$", head[:i])
            return m[1] if m else "?"
    return "?"


def check_functions(path, text):
    for name, line, count in functions(text):
        if count >= FUNCTION_LINES:
            yield path, line, f"function {name} has {count} lines; keep it under {FUNCTION_LINES}"


def guard_of(path):
    """base/check.h of src/ -> BASE_CHECK_H; a header of tests/ is named from tests/ on."""
    parts = path.split(os.sep)
    return re.sub(r"[^A-Z0-9]", "_", "_".join(parts[1:]).upper())


def check_guard(path, text):
    if not path.endswith(".h"):
        return
    want = guard_of(path)
    m = re.search(r"^#ifndef (\w+)\n#define (\w+)$", tree.strip_comments(text), re.M)
    if not m:
        yield path, 1, f"no header guard; begin with #ifndef {want}, #define {want}"
    elif m[1] != want or m[2] != want:
        yield path, tree.line_of(text, m.start()), f"header guard is {m[1]}, expected {want}"


def is_test(path):
    return path.endswith("_test.c") or path.startswith("tests" + os.sep)


def check_waiting(path, text):
    if not is_test(path):
        return
    for m in WAITING.finditer(tree.strip_strings(text)):
        yield path, tree.line_of(text, m.start()), f"a test calls {m[1]}; wait for an event instead"


def check_numbers(path, text):
    """The product reads and writes numbers without the locale: base/num.h, buf_double."""
    if is_test(path) or not path.startswith("src" + os.sep):
        return
    bare = tree.strip_strings(text)
    for m in LOCALE_NUMBERS.finditer(bare):
        yield path, tree.line_of(text, m.start()), f"{m[1]} depends on the locale; use base/num.h"
    for offset, literal in tree.strings(text):
        line = tree.line_of(text, offset)
        if "strftime" in text.split("\n")[line - 1]:
            continue
        m = FLOAT_FORMAT.search(literal.replace("%%", "__"))
        if m:
            yield path, line, f'"{m[0]}" depends on the locale; use buf_double, buf_fixed or num_print'


def check_typedef(path, text):
    for m in TYPEDEF.finditer(tree.strip_strings(text)):
        yield path, tree.line_of(text, m.start()), "no typedef for a struct, union or enum; name it where it is used"


ALL = [check_functions, check_guard, check_waiting, check_numbers, check_typedef]


def check_readmes(root, paths):
    """Each room that has code explains itself in one page: what comes in, what goes out, what it never does."""
    for room in rooms.USES:
        folder = os.path.join("src", room) + os.sep
        if not any(p.startswith(folder) and p.endswith(".c") for p in paths):
            continue
        readme = folder + "README.md"
        if readme not in paths:
            yield readme, 1, "missing: one page on what comes in, what goes out, what the room must never do"
            continue
        lines = tree.read(root, readme).count("\n")
        if lines > 60:
            yield readme, lines, f"{lines} lines; one page is at most 60"
