"""The kill switch while something else is broken: from the moment it is thrown no write begins, whatever hangs or is full."""

import json
import os
import signal
import subprocess
import time
import unittest

import audit_log
import harness
from harness import SystemTest

NO_LATER = 0.1             # seconds from the halt to the last write that may still begin


class Stopping(SystemTest):
    def begin(self, shim=None):
        self.path = self.config()
        self.seed(self.path)
        d = self.start(self.path, env=shim.env if shim else None)
        self.target.wait("scrape", after=40)
        return d

    def by_signal(self, d):
        d.process.send_signal(signal.SIGUSR1)

    def by_file(self, d):
        with open(os.path.join(d.data, "halt"), "w", encoding="ascii"):
            pass

    def by_api(self, d):
        status, text = d.request("POST", "/api/v1/halt", b'{"reason":"test"}', token=True)
        self.assertEqual(200, status, text)

    def by_cli(self, d):
        subprocess.run([harness.BINARY, "halt", "--all", "--data", d.data, "--by", "li"], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)

    ways = ("by_signal", "by_file", "by_api", "by_cli")

    def worse(self):
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)

    def nothing_is_written_later(self, d, thrown):
        """Ten minutes of incident go by; without the halt a write comes after five."""
        self.target.wait("scrape", after=self.target.count("scrape") + 60, timeout=120)
        late = [t - thrown for t in self.target.knobs.began if t - thrown > NO_LATER]
        self.assertEqual([], late, d.story())


class Stop(Stopping):
    def test_at_the_moment_of_the_intent(self):
        for way in self.ways:
            with self.subTest(way):
                self.setUp()
                d = self.begin()
                self.worse()
                d.wait_line(component="audit", msg="INTENT")
                thrown = time.monotonic()
                getattr(self, way)(d)
                self.nothing_is_written_later(d, thrown)
                d.wait_metric('trimtab_service_halted{service="embed"}', lambda v: v == 1)
                self.assertEqual(0, d.end())
                writes = len(self.target.knobs.log)
                self.assertLessEqual(writes, 1)
                records = [json.loads(b) for b in audit_log.prove(d.data)]
                kinds = [r["kind"] for r in records]
                self.assertIn("HALT", kinds)
                if writes == 0:
                    self.assertNotIn("APPLIED", kinds)
                self.tearDown()

    def test_while_the_target_hangs(self):
        for way in self.ways:
            with self.subTest(way):
                self.setUp()
                d = self.begin()
                self.worse()
                d.wait_line(component="audit", msg="INCIDENT")
                self.target.knobs.open_gate.clear()
                self.target.wait("asked", after=self.target.count("asked"))
                thrown = time.monotonic()
                getattr(self, way)(d)
                d.wait_metric('trimtab_service_halted{service="embed"}', lambda v: v == 1)
                self.target.knobs.open_gate.set()
                self.nothing_is_written_later(d, thrown)
                self.assertEqual([], self.target.knobs.log)
                self.assertEqual(0, d.end())
                self.tearDown()

    def test_what_was_answered_is_kept(self):
        """Once a person has been told that it is halted, or lifted, a death right after changes nothing about it."""
        d = self.begin()
        for _ in range(4):
            for verb, halted in (("halt", 1), ("resume", 0)):
                status, text = d.request("POST", "/api/v1/services/embed/" + verb, b'{"by":"li"}', token=True)
                self.assertEqual(200, status, text)
                d.process.kill()
                d.process.wait()
                d = self.start(self.path)
                d.wait_metric('trimtab_service_halted{service="embed"}', lambda v, want=halted: v == want, timeout=10)
        self.assertEqual(0, d.end())

    def test_while_the_configuration_is_broken(self):
        for way in self.ways:
            with self.subTest(way):
                self.setUp()
                d = self.begin()
                with open(self.path, "w", encoding="utf-8") as f:
                    f.write("services: [\n")
                d.process.send_signal(signal.SIGHUP)
                d.wait_line(msg="the new configuration is not taken; the old one stays in force")
                self.worse()
                d.wait_line(component="audit", msg="INCIDENT")
                thrown = time.monotonic()
                getattr(self, way)(d)
                d.wait_line(component="audit", msg="HALT")
                self.nothing_is_written_later(d, thrown)
                self.assertEqual([], self.target.knobs.log)
                self.assertEqual(0, d.end())
                self.tearDown()


if __name__ == "__main__":
    unittest.main()
