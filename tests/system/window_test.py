"""Freeze and maintenance windows on the real daemon: by command line, API and configuration; over a restart; on record."""

import json
import os
import subprocess
import time
import unittest

import harness
from harness import SystemTest

WINDOWS = """
freeze:
  - name: always
    author: wang
    comment: hands off
    zone: Asia/Shanghai
    time_intervals:
      - years: ["2020:2100"]
        location: Asia/Shanghai
"""


class Windows(SystemTest):
    def cli(self, *words, code=0):
        argv = [harness.BINARY, *words, "--data", os.path.join(self.folder, "data")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        self.assertEqual(code, done.returncode, "%s\n%s\n%s" % (words, done.stdout, done.stderr))
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *words):
        return json.loads(self.cli(*words, "-o", "json"))

    def until(self, what, want, timeout=60.0):
        """Asks until the answer fits: each answer of the daemon is the event waited for."""
        deadline = time.monotonic() + timeout
        value = what()
        while not want(value):
            if time.monotonic() > deadline:
                self.fail("still %s" % json.dumps(value, indent=1))
            value = what()
        return value

    def warm(self, more=""):
        config = self.config(mode="auto", more=more)
        self.seed(config)
        d = self.start(config)
        self.until(lambda: self.json("status", "embed"), lambda v: v["state"] == "watching")
        return config, d

    def worse(self):
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)

    def explained(self, reason):
        return self.until(lambda: self.json("explain", "embed"), lambda v: v["decision"]["reason"] == reason)

    def test_a_person_freezes_it_until_he_ends_it(self):
        config, d = self.warm()
        said = self.cli("freeze", "embed", "--for", "30h", "--comment", "load test", "--by", "li.wei")
        self.assertIn("Window w1 is open for embed", said)
        self.worse()
        gates = self.explained("frozen")["decision"]["gates"]
        note = [g for g in gates if g["reason"] == "frozen"][0]["note"]
        self.assertIn("freeze w1 by li.wei until ", note)
        self.assertIn("load test", note)
        self.assertIn("freeze w1 by li.wei", self.cli("explain", "embed"))
        self.assertIn("frozen: freeze w1 by li.wei", self.cli("status", "embed"))
        self.assertIn("In force: freeze w1 by li.wei until ", self.cli("incidents"))
        row = self.json("freeze", "--list")["windows"][0]
        self.assertEqual(("w1", "freeze", "person", True, ["embed"]),
                         (row["id"], row["kind"], row["source"], row["in_force"], row["services"]))
        d.end()
        d = self.start(config)                                        # it survives a restart
        self.until(lambda: self.json("status", "embed"), lambda v: v["state"] == "open")
        self.assertTrue(self.json("status", "embed")["frozen"])
        self.assertEqual(32, self.target.knobs.values["batch_max"])
        self.assertIn("Window w1 is ended", self.cli("freeze", "--end", "w1"))
        self.until(lambda: self.target.knobs.values["batch_max"], lambda v: v == 64)
        log = self.cli("audit", "export")
        self.assertIn('"kind":"FREEZE"', log)
        self.assertIn('"kind":"WINDOW-END"', log)
        self.assertIn("No window", self.cli("maintenance", "--list"))

    def test_maintenance_opens_no_incident_and_ends_by_itself(self):
        _, d = self.warm()
        self.cli("maintenance", "--all", "--for", "20m", "--comment", "new driver")
        self.worse()
        v = self.explained("maintenance")
        self.assertIsNone(v["incident"])
        self.assertTrue(v["maintenance"])
        self.assertIn("maintenance w1", v["sentence"])
        chart = d.request("GET", "/api/v1/services/embed/series?signals=latency_p99")[1]
        self.assertIn(("freeze", "MAINTENANCE"), [(m["kind"], m["record"]) for m in json.loads(chart)["data"]["marks"]])
        self.until(lambda: self.target.knobs.values["batch_max"], lambda v: v == 64, timeout=120)

    def test_a_window_of_the_configuration(self):
        self.warm(more=WINDOWS)
        self.worse()
        v = self.explained("frozen")
        self.assertIn("freeze always by wang", v["frozen_why"])
        self.assertIn("hands off", v["frozen_why"])
        self.assertIn("change the file and reload", self.cli("freeze", "--end", "always", code=1))
        self.assertIn("always", self.cli("freeze", "--list"))

    def test_what_is_wrong_is_refused(self):
        _, d = self.warm()
        self.assertIn("say its end", self.cli("freeze", "embed", code=2))
        self.assertIn("a SERVICE, or --all", self.cli("freeze", "--for", "2h", code=2))
        self.assertIn("for is a length", self.cli("freeze", "embed", "--for", "soon", code=1))
        self.assertIn("until is a time", self.cli("freeze", "embed", "--until", "soon", code=1))
        self.assertIn("no window with that id", self.cli("freeze", "--end", "w9", code=1))
        self.assertIn("did you mean 'embed'?", self.cli("freeze", "embedd", "--for", "2h", code=1))
        self.assertEqual(401, d.request("POST", "/api/v1/windows", b'{"kind":"freeze","all":true,"for":"2h"}')[0])
        self.assertEqual(401, d.request("DELETE", "/api/v1/windows/w1")[0])
        for body in (b'{"kind":"thaw","all":true,"for":"2h"}', b'{"kind":"freeze","for":"2h"}',
                     b'{"kind":"freeze","all":true,"service":"embed","for":"2h"}', b'{"kind":"freeze","all":true}',
                     b'{"kind":"freeze","all":true,"for":"2h","until":"2030-01-01"}'):
            self.assertEqual(400, d.request("POST", "/api/v1/windows", body, token=True)[0], body)


if __name__ == "__main__":
    unittest.main()
