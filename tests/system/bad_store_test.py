"""Data folders that somebody or something has damaged. Each start either works or ends with 1 and a sentence that names the
file and says what to do; never a crash, never a change made from a story that cannot be trusted."""

import os
import shutil
import sqlite3
import subprocess
import unittest

from harness import BINARY, SystemTest
from shim import Shim


class Damaged(SystemTest):
    speed = 100

    def setUp(self):
        super().setUp()
        self.path = self.config()
        self.seed(self.path)
        d = self.start(self.path)
        self.target.wait("scrape", after=3)
        self.assertEqual(0, d.end())
        self.data = d.data
        self.good = os.path.join(self.folder, "good")
        shutil.copytree(self.data, self.good)

    def file(self, name):
        return os.path.join(self.data, name)

    def write(self, name, data, at=0):
        with open(self.file(name), "r+b" if os.path.exists(self.file(name)) else "wb") as f:
            f.seek(at)
            f.write(data)

    def again(self):
        shutil.rmtree(self.data)
        shutil.copytree(self.good, self.data)

    def refused(self, *words):
        d = self.start(self.path, wait=False)
        line = d.wait_line(level="error")
        self.assertEqual(1, d.process.wait(30), d.story())
        said = d.story()
        for word in words:
            self.assertIn(word, said)
        self.assertNotIn("started", [x.get("msg") for x in d.lines])
        return line

    def starts(self):
        d = self.start(self.path)
        self.target.wait("scrape", after=self.target.count("scrape") + 3)
        return d

    def starts_or_names(self, name):
        d = self.start(self.path, wait=False)
        try:
            d.wait_line(msg="started")
        except AssertionError:
            self.assertEqual(1, d.process.wait(30), d.story())
            self.assertIn(name, d.story())
            return
        self.target.wait("scrape", after=self.target.count("scrape") + 3)
        self.assertEqual(0, d.end(), name)

    def test_audit(self):
        size = os.path.getsize(self.file("audit.db"))
        for damage in (lambda: self.write("audit.db", b"\0" * 100),
                       lambda: self.write("audit.db", b"\0" * (size - 4096), 4096),
                       lambda: os.truncate(self.file("audit.db"), 4096),
                       lambda: self.write("audit.db", os.urandom(size))):
            self.again()
            damage()
            self.refused("audit.db")

    def test_damage_that_a_start_does_not_meet(self):
        """A start looks at the edge of the tree only, so that it is quick however long the log; `audit verify` looks at all."""
        verify = [BINARY, "audit", "verify", "--data", self.data]
        self.assertEqual(0, subprocess.run(verify, check=False, stdout=subprocess.DEVNULL).returncode)
        os.truncate(self.file("audit.db"), os.path.getsize(self.file("audit.db")) - 100)
        r = subprocess.run(verify, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(1, r.returncode, r.stdout)
        self.assertIn(b"audit.db", r.stdout)

    def test_a_log_that_was_cut(self):
        """Records dropped with care, so that SQLite is content: the signed root still says how many there were."""
        db = sqlite3.connect(self.file("audit.db"))
        db.executescript("DROP TRIGGER records_remain; DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)")
        db.commit()
        db.close()
        self.refused("audit.db", "records", "restore")

    def test_keys(self):
        os.remove(self.file("audit.key"))
        self.refused("audit.key")
        self.again()
        self.write("audit.key", b"PRIVATE+KEY+trimtab/test+00000000+AAAA\n")
        self.refused("audit.key")
        self.again()
        os.chmod(self.file("audit.key"), 0o644)
        self.refused("audit.key", "600")

    def test_token(self):
        os.chmod(self.file("token"), 0o644)
        self.refused("token")
        self.again()
        os.truncate(self.file("token"), 0)
        self.refused("token")
        self.again()
        os.remove(self.file("token"))
        self.assertEqual(0, self.starts().end())
        self.assertEqual(0o600, os.stat(self.file("token")).st_mode & 0o777)

    def test_metrics(self):
        """Only measurements are in there; without them nothing untrue is done, whether it starts or says why not."""
        for damage in (lambda: self.write("metrics.db", b"\0" * 100), lambda: os.truncate(self.file("metrics.db"), 5000),
                       lambda: self.write("metrics.db", os.urandom(20000), 4096)):
            self.again()
            damage()
            self.starts_or_names("metrics.db")
        self.again()
        os.remove(self.file("metrics.db"))
        self.assertEqual(0, self.starts().end())
        self.assertEqual([], self.target.knobs.log)

    def test_leftovers(self):
        for name, data in (("checkpoint", b"nonsense"), ("checkpoint.new", b"x"), ("audit.key.new", b"x"), ("listen", b"x" * 5000),
                           ("lock", b"not a pid"), ("audit.pub", b"x"), ("audit.db-wal", b"\xff" * 5000), ("reserve", b"")):
            self.again()
            self.write(name, data)
            self.starts_or_names(name)

    def test_full_from_the_start(self):
        shim = Shim(os.path.join(self.folder, "shim"))
        shim.set(full=1)
        d = self.start(self.path, wait=False, env=shim.env)
        line = d.wait_line(level="error")
        self.assertIn("audit", line.get("error", "") + line["msg"] + line.get("text", ""))
        if d.process.poll() is None:
            d.process.terminate()
        self.assertIn(d.process.wait(30), (0, 1, -15))         # -15: told to end before it could listen to that
        self.assertEqual([], self.target.knobs.log)


if __name__ == "__main__":
    unittest.main()
