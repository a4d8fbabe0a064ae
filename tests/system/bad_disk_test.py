"""The kill switch, and what goes on, while the disk under the audit hangs or is full."""

import json
import os
import signal
import subprocess
import time
import unittest

import audit_log
import bad_stop_test
import harness
from shim import Shim


class Disk(bad_stop_test.Stopping):
    def throw(self, way, d):
        """Whatever the API answers when no record can be made, and the command line with it: they do answer."""
        if way == "by_api":
            status, _ = d.request("POST", "/api/v1/halt", b'{"reason":"test"}', token=True)
            self.assertIn(status, (200, 503))
        elif way == "by_cli":
            done = subprocess.run([harness.BINARY, "halt", "--all", "--data", d.data, "--by", "li"], timeout=60, check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertTrue(done.returncode == 0 or done.stderr, done.returncode)
        else:
            getattr(self, way)(d)

    def halt_survives(self, d):
        """Killed before the disk came back: the next life is halted all the same."""
        d.process.kill()
        d.process.wait()
        self.assertTrue(os.path.exists(os.path.join(d.data, "halt.embed")))
        return self.start(self.path)

    def halt_is_on_record(self, d):
        d.wait_metric('trimtab_service_halted{service="embed"}', lambda v: v == 1, timeout=90)
        self.assertEqual([], self.target.knobs.log)
        self.assertEqual(0, d.end())
        self.assertIn("HALT", [json.loads(b)["kind"] for b in audit_log.prove(d.data)])

    def test_while_the_disk_hangs(self):
        """The audit file does not answer: no record of the halt can be made, and still nothing is written."""
        for way in self.ways:
            with self.subTest(way):
                self.setUp()
                shim = Shim(os.path.join(self.folder, "shim"))
                d = self.begin(shim)
                shim.set(hang=1)
                self.worse()
                d.wait_line(component="audit", msg="INCIDENT")
                self.target.wait("scrape", after=self.target.count("scrape") + 60)
                thrown = time.monotonic()
                self.throw(way, d)
                self.assertEqual(200, d.request("GET", "/-/healthy")[0])
                self.nothing_is_written_later(d, thrown)
                self.assertEqual([], self.target.knobs.log)
                d.wait_line(component="halt", msg="kept as a file until the audit can take it down")
                shim.set(hang=0)                        # the disk comes back: the halt stands, on record, and needs no file
                d.wait_line(component="halt", msg="now on record; its file is not needed any more")
                self.assertFalse(os.path.exists(os.path.join(d.data, "halt.embed")))
                self.halt_is_on_record(d)
                self.tearDown()

    def test_while_the_disk_is_full(self):
        for way in self.ways:
            with self.subTest(way):
                self.setUp()
                shim = Shim(os.path.join(self.folder, "shim"))
                d = self.begin(shim)
                shim.set(full=1)
                self.worse()
                d.wait_line(component="store", level="error")
                thrown = time.monotonic()
                self.throw(way, d)
                self.nothing_is_written_later(d, thrown)
                self.assertEqual([], self.target.knobs.log)
                d = self.halt_survives(d)
                self.halt_is_on_record(d)
                self.tearDown()

    def test_killed_after_the_answer_while_the_disk_hangs(self):
        """Whoever was told "halted" finds it halted, although the record never reached the disk."""
        shim = Shim(os.path.join(self.folder, "shim"))
        d = self.begin(shim)
        shim.set(hang=1)
        self.worse()
        d.wait_line(component="audit", msg="INCIDENT")
        status, text = d.request("POST", "/api/v1/services/embed/halt", b'{"by":"li"}', token=True)
        self.assertEqual(200, status, text)
        self.assertIn("file", text)
        d = self.halt_survives(d)
        self.halt_is_on_record(d)

    def test_a_signal_during_the_start(self):
        """Nobody listens yet: the halt and the reload wait, and do not end the process."""
        shim = Shim(os.path.join(self.folder, "shim"))
        shim.set(hang=1)
        self.path = self.config()
        d = self.start(self.path, wait=False, env=shim.env)
        deadline = time.monotonic() + 30
        while not os.path.exists(os.path.join(d.data, "audit.db")) and time.monotonic() < deadline:
            self.assertIsNone(d.process.poll())
        d.process.send_signal(signal.SIGUSR1)
        d.process.send_signal(signal.SIGHUP)
        shim.set(hang=0)
        d.wait_line(msg="started")
        d.wait_line(component="audit", msg="HALT")
        d.wait_line(msg="configuration loaded")
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    unittest.main()
