"""A real Alertmanager hears of incidents, of their end, of a person who is needed, and always of the watchdog; and what it
routes to a receiver of its own comes from there. Skipped, visibly, where Alertmanager is not installed."""

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from harness import BINARY, SystemTest  # noqa: E402

PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")

CONFIG = """route:
  receiver: hook
  group_by: ['...']
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: http://127.0.0.1:%d/
        send_resolved: true
"""


class Hook(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.changed:
            self.server.got += [(a["status"], a["labels"], a["annotations"]) for a in body["alerts"]]
            self.server.changed.notify_all()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Alertmanager(SystemTest):
    def setUp(self):
        super().setUp()
        self.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        self.hook.got, self.hook.changed = [], threading.Condition()
        threading.Thread(target=self.hook.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        path = os.path.join(self.folder, "alertmanager.yml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(CONFIG % self.hook.server_address[1])
        self.process = None
        self.argv = [PROGRAM, "--config.file=" + path, "--storage.path=" + os.path.join(self.folder, "am"),
                     "--web.listen-address=127.0.0.1:%d" % self.port, "--cluster.listen-address="]

    def tearDown(self):
        self.stop()
        self.hook.shutdown()
        self.hook.server_close()
        super().tearDown()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def begin(self):
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for("Alertmanager", lambda: self.ask("/-/ready") is not None)

    def ask(self, path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, path), timeout=10) as r:
                return r.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return None

    def wait_for(self, what, want, timeout=60):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found = want()
            if found:
                return found
            threading.Event().wait(0.1)
        raise AssertionError("%s: never" % what)

    def alert(self, name):
        """What Alertmanager holds as active now."""
        alerts = json.loads(self.ask("/api/v2/alerts?active=true") or "[]")
        return next((a for a in alerts if a["labels"]["alertname"] == name), None)

    def heard(self, status, name):
        with self.hook.changed:
            arrived = self.hook.changed.wait_for(
                lambda: any(s == status and labels["alertname"] == name for s, labels, _ in self.hook.got), 60)
        self.assertTrue(arrived, "%s %s among %s" % (status, name, [(s, x["alertname"]) for s, x, _ in self.hook.got]))

    def test_open_ended_always_and_after_it_was_away(self):
        config = self.config(more="web: {external_url: 'https://trimtab.example.com'}\nnotify:\n"
                                  "  - {name: am, type: alertmanager, url: 'http://127.0.0.1:%d/'}\n" % self.port)
        self.seed(config)
        d = self.start(config)
        d.wait_line(msg="a receiver does not take notices; they wait", receiver="am")     # it is not there yet
        self.target.wait("scrape", after=40)
        self.target.plant.set(p99=0.0468, queue=320.0, gpu=0.78)
        d.wait_line(component="audit", msg="INCIDENT")
        self.begin()
        self.wait_for("the watchdog", lambda: self.alert("TrimtabWatchdog"))
        incident = self.wait_for("the incident", lambda: self.alert("TrimtabIncident"))
        self.assertEqual({"alertname": "TrimtabIncident", "service": "embed", "incident": "1", "severity": "warning",
                          "log": "trimtab/test"}, incident["labels"])
        self.assertEqual("https://trimtab.example.com/incidents/embed/1", incident["generatorURL"])
        self.assertIn("latency_p99 46.8 ms", incident["annotations"]["description"])
        self.assertIn("embed", incident["annotations"]["summary"])
        self.heard("firing", "TrimtabIncident")
        run = subprocess.run([BINARY, "notify", "test", "am", "--data", d.data], capture_output=True, text=True)
        self.assertEqual("notify test: am (alertmanager) took the test message\n", run.stdout, run.stderr)
        self.heard("firing", "TrimtabTest")
        d.process.kill()
        d.process.wait()
        d = self.start(config)                   # what is open is known again from the log
        self.target.plant.set(p99=0.038, queue=140.0, gpu=0.65)
        d.wait_line(component="audit", msg="CLOSED", timeout=120)
        self.wait_for("its end", lambda: not self.alert("TrimtabIncident"))
        self.heard("resolved", "TrimtabIncident")
        self.assertEqual({"embed"}, {labels["service"] for _, labels, _ in self.hook.got if "service" in labels})
        self.assertIsNotNone(self.alert("TrimtabWatchdog"))
        d.wait_metric('trimtab_receiver_up{receiver="am",type="alertmanager"}', lambda v: v == 1)
        self.assertEqual(0, d.end())


if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: prometheus-alertmanager is not installed (scripts/setup test)")
        sys.exit(77)
    unittest.main()
