"""The shared numbers of tests/support/fault_shim.c."""

import os
import struct

from harness import BINARY

LIBRARY = os.environ.get("FAULT_SHIM_SO", os.path.join(os.path.dirname(BINARY), "tests", "system", "fault_shim.so"))
KINDS = ("nothing", "memory", "write", "sync", "sql", "curl", "other")
FIELDS = ("kind", "site", "number", "error", "seen", "hit", "listing", "places")
FRAMES, SITES = 4, 8192
SITE = struct.Struct("=QQ%dQ32s" % FRAMES)
HEAD = 8 * len(FIELDS)


class Fault:
    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.truncate(HEAD + (SITES + 1) * SITE.size)

    @property
    def env(self):
        return {"LD_PRELOAD": LIBRARY, "FAULT_SHIM": self.path}

    def set(self, **fields):
        with open(self.path, "r+b") as f:
            for name, value in fields.items():
                f.seek(8 * FIELDS.index(name))
                f.write(struct.pack("=Q", int(value)))

    def get(self, name):
        with open(self.path, "rb") as f:
            f.seek(8 * FIELDS.index(name))
            return struct.unpack("=Q", f.read(8))[0]

    def _site(self, f, i):
        f.seek(HEAD + i * SITE.size)
        hash_, count, *rest = SITE.unpack(f.read(SITE.size))
        return {"hash": hash_, "count": count, "at": rest[:FRAMES], "what": rest[FRAMES].split(b"\0")[0].decode("utf-8", "replace")}

    def sites(self):
        """The places listed: who calls, what, how often."""
        with open(self.path, "rb") as f:
            return [s for s in (self._site(f, i) for i in range(SITES)) if s["hash"]]

    def victim(self):
        with open(self.path, "rb") as f:
            return self._site(f, SITES)
