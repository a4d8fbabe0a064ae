"""A throw-away source tree for the tests of the checking scripts."""

import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


class ScriptTest(unittest.TestCase):
    """Writes files below self.root and runs a script of scripts/ on them."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="trimtab-arch-")
        self.addCleanup(holder.cleanup)
        self.root = holder.name

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as f:
            f.write(text)

    def run_script(self, name, *args):
        done = subprocess.run([sys.executable, os.path.join(TOP, "scripts", name), *args],
                              capture_output=True, text=True)
        self.assertEqual("", done.stderr)
        return done.returncode, done.stdout.splitlines()

    def assert_finds(self, result, *starts):
        """Exactly these findings, each given by how its line starts, and a failing exit code."""
        code, lines = result
        self.assertEqual(1, code, lines)
        self.assertEqual(len(starts), len(lines) - 1, lines)
        for start in starts:
            self.assertTrue(any(line.startswith(start) for line in lines), (start, lines))

    def assert_clean(self, result):
        code, lines = result
        self.assertEqual(0, code, lines)
