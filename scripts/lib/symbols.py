"""Symbols of the rooms' static libraries, read with objdump."""

import os
import re
import subprocess

import rooms

# objdump -t: value, 7 flag characters, section, size, optional visibility, name
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+(?: \.(?:hidden|internal|protected))? +(\S+)$")
MEMBER = re.compile(r"^(\S+):\s+file format ")


def symbols(library):
    """Yields (source file, flags, section, name) for each symbol of a static library."""
    out = subprocess.run(["objdump", "-t", library], capture_output=True, text=True, check=True,
                         env={**os.environ, "LC_ALL": "C"}).stdout
    source = "?"
    for line in out.splitlines():
        if m := MEMBER.match(line):
            source = m[1].removesuffix(".o")
        elif m := SYMBOL.match(line):
            yield source, m[1], m[2], m[3]


def libraries(build):
    """Room -> list of its symbols, for the rooms that have a library."""
    found = {}
    for room in rooms.USES:
        path = os.path.join(build, "src", room, f"lib{room}.a")
        if os.path.exists(path):
            found[room] = list(symbols(path))
    return found


def is_defined_global(flags, section):
    return section != "*UND*" and flags[0] in "gu!"
