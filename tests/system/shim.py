"""The shared numbers of tests/support/kill_shim.c."""

import os
import struct

from harness import BINARY

LIBRARY = os.environ.get("KILL_SHIM_SO", os.path.join(os.path.dirname(BINARY), "tests", "system", "kill_shim.so"))
HEAD, NAME, NAMES = 64, 40, 16384
FIELDS = ("kill_at", "count", "armed", "no_metrics", "hang", "full")


class Shim:
    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.truncate(HEAD + NAMES * NAME)

    @property
    def env(self):
        # The sanitizers' runtime wants to be the first library; this one takes no memory of its own, so it may stand before.
        options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS", ""), "verify_asan_link_order=0"]))
        return {"LD_PRELOAD": LIBRARY, "KILL_SHIM": self.path, "ASAN_OPTIONS": options}

    def set(self, **fields):
        with open(self.path, "r+b") as f:
            for name, value in fields.items():
                f.seek(8 * FIELDS.index(name))
                f.write(struct.pack("=Q", int(value)))

    def get(self, name):
        with open(self.path, "rb") as f:
            return struct.unpack("=6Q", f.read(48))[FIELDS.index(name)]

    def names(self):
        n = min(self.get("count"), NAMES)
        with open(self.path, "rb") as f:
            f.seek(HEAD)
            raw = f.read(n * NAME)
        return [raw[i:i + NAME].split(b"\0")[0].decode() for i in range(0, len(raw), NAME)]
