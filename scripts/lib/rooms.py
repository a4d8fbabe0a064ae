"""The rooms of src/: who may include whom, which libraries each may see, which are pure.

This is the one place that holds the rule; ARCHITECTURE.md tells the reasons. A room always sees itself.
An entry with a slash ("loop/ports.h") opens that one header and not the room around it.
"""

SIX = ["collect", "detect", "locate", "decide", "execute", "verify"]

_STAGE = ["base", "model", "stats", "expr"]

# What the shell sees of the loop: its ports, and the events and effects that go through them.
_PORTS = ["loop/ports.h", "loop/event.h"]

USES = {
    "base": [],
    "model": ["base"],
    "stats": ["base"],
    "expr": ["base", "model", "stats"],
    "promql": ["base", "model", "stats"],
    "collect": _STAGE + ["promql"],
    "detect": _STAGE,
    "locate": _STAGE,
    "decide": _STAGE,
    "execute": _STAGE,
    "verify": _STAGE,
    "loop": SIX + ["expr", "model", "base"],
    "audit": ["base", "model"],
    "config": ["base", "model", "expr", "promql"],
    "store": ["audit", *_PORTS, "model", "base"],
    "adapt": [*_PORTS, "model", "base"],
    "api": [*_PORTS, "model", "base"],
    "sim": ["loop", "audit", "store", "config", "model", "stats", "base"],
}
USES["app"] = sorted(USES)  # main and the commands tie everything together

# Headers that a room of the shell includes see no more of the core than their reader may.
HEADER_USES = {
    "loop/ports.h": ["loop/event.h", "model", "base"],
    "loop/event.h": ["model", "base"],
}

# No clock, no I/O, no randomness, no lock, no log, nothing that changes behind the caller's back.
PURE = ["base", "stats", "model", "expr", "promql"] + SIX + ["loop", "audit"]

# The one exit for broken invariants must be able to say something before it ends the process: these files of
# pure rooms may use these headers and symbols besides.
EXCEPTIONS = {
    "base/check.c": {"headers": {"unistd.h"}, "symbols": {"write", "report", "_exit"}},
}

# C headers that a pure room may include: no time.h, unistd.h, pthread.h, locale.h, ctype.h, errno.h ...
PURE_HEADERS = {
    "assert.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "uthash.h", "utlist.h",
}

# Library header prefix -> the rooms that may see it: each library stands behind one of our interfaces.
LIBRARIES = {
    "curl/": ["adapt", "app"],
    "event2/": ["adapt", "api", "app"],
    "jansson.h": ["adapt", "api", "app"],
    "openssl/": ["adapt", "api", "app"],
    "pcre2.h": ["promql"],
    "sodium.h": ["audit", "config", "decide", "loop", "store", "adapt", "api", "app"],
    "snappy-c.h": ["adapt"],
    "sqlite3.h": ["store", "sim"],  # sim: a bad disk under the store, and forged logs
    "yaml.h": ["config"],
    "zlib.h": ["adapt", "api"],
    "zstd.h": ["store"],
}

# Public names begin with the room's name, the file's name, or one of these. base and model hold nouns that everybody
# uses, so their names are those nouns; app is linked by nobody.
NAMES = {"promql": ["pq"]}
NAMES_FREE = ["base", "model", "app"]
