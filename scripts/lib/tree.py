"""Walking the source tree, and reading C text without its comments and strings."""

import os
import re

SKIP_FOLDERS = {".git", ".cache", "__pycache__", "node_modules", "dist"}


def walk(root):
    """Yields the paths, relative to root and sorted, of all files that belong to the project."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names if n not in SKIP_FOLDERS
                          and not (folder == root and re.fullmatch(r"build(-.*)?", n)))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, root)


def read(root, path):
    """The text of a file, or None when it is not UTF-8."""
    with open(os.path.join(root, path), "rb") as f:
        try:
            return f.read().decode("utf-8")
        except UnicodeDecodeError:
            return None


_C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip_comments(text):
    """C text with each comment blanked; line and column of everything else stay."""
    return _C_TOKEN.sub(lambda m: _blank(m[0]) if m[0][0] == "/" else m[0], text)


def strip_strings(text):
    """C text with comments and the inside of string and character literals blanked."""
    return _C_TOKEN.sub(lambda m: _blank(m[0]) if m[0][0] == "/" else m[0][0] + _blank(m[0][1:-1]) + m[0][-1], text)


def strings(text):
    """Yields (offset, literal) for each string literal outside comments."""
    for m in _C_TOKEN.finditer(text):
        if m[0][0] == '"':
            yield m.start(), m[0]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(problems, what):
    """Prints problems as file:line: text; returns the exit code."""
    for path, line, text in sorted(problems):
        print(f"{path}:{line}: {text}")
    if problems:
        print(f"{what}: {len(problems)} problem(s)")
        return 1
    print(f"{what}: ok")
    return 0
